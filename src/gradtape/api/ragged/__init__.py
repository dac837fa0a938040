"""TensorFlow's `tf.ragged`, and what its other functions do with ragged tensors."""
