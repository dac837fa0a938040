"""A graph as something that runs: planned Python over NumPy, or XLA. Uses passes, ir, state and what is below."""
