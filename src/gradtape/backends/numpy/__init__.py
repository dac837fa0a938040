"""Helpers of the NumPy backend: threads, blocks, sums, malloc. Imports `tuning` and `torch`."""
