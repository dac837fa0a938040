"""NumPy's helpers: large work on all cores, BLAS, malloc, the table of faster kernels. Uses nothing but `tuning`."""
