"""`tf.ragged`, and TensorFlow's other functions on ragged tensors."""
