"""Graphs made by running a function, and differentiated. Uses executors, passes and ir."""
