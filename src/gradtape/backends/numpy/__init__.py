"""Helpers of the NumPy backend: threads, malloc, accelerated kernels. Imports `tuning` and `torch`."""
