"""Compiles a graph to straight-line Python over NumPy. Uses passes and ir."""
