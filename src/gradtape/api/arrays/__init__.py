"""Tensors made, shaped, joined, cut, indexed and converted; TensorFlow's classes of values."""
