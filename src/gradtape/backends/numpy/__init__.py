"""Helpers of the NumPy backend: threads, BLAS control, malloc, accelerated kernels. Imports `tuning` and `torch`."""
