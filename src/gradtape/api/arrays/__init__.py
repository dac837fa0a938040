"""Creation, shaping, concatenation, slicing, indexing and conversion of tensors; TensorFlow's value classes."""
