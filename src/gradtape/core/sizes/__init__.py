"""Symbolic sizes: integer expressions over the open sizes of a graph, and what is known of them."""
