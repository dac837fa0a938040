"""How an op runs: who is told, how values become tensors, where in the program it happens. Uses core."""
