"""Products, decompositions, solvers, functions of matrices, and Fourier transforms."""
