"""A traced graph written with TensorFlow's ops: how each op is spelled there, and what stays open in its shapes."""
