"""Branches, loops and Python calls as nodes of a graph, with their derivatives. Uses trace and all before it."""
