"""Classes of TensorFlow's protocol buffer messages, and functions that take or return them."""
