"""PyTorch as a library of kernels for large arrays in host memory; its tensors share memory with NumPy's arrays."""
