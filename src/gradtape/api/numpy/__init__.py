"""`tf.experimental.numpy`: NumPy's names and promotion on tensors, differentiable as all ops are."""
