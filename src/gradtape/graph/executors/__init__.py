"""Executors turn a graph into a program: Python source over NumPy, or XLA. Uses passes, ir, state and lower layers."""
