"""Helpers of the NumPy backend: multithreading, BLAS control, malloc, accelerated kernels. Imports `tuning`, `torch`."""
