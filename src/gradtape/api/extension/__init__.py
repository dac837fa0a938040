"""User-defined types that TensorFlow's functions accept, and dispatch of functions on them."""
