"""A graph as straight-line Python over NumPy. Uses passes and ir."""
