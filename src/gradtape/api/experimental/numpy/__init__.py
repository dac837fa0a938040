"""`tf.experimental.numpy`: NumPy's names and promotion on tensors, with gradients."""
