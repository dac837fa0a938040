"""Matrix products, decompositions, solvers, functions of matrices, and Fourier transforms."""
