"""`tf.compat.v1`: names of TensorFlow 1 that programs still use."""
