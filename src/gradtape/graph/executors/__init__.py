"""A graph as something that runs: planned Python over NumPy, or XLA. Uses passes and ir."""
