"""PyTorch as the array library of GPUs, and as a library of kernels for large arrays in host memory."""
