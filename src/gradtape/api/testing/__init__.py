"""`tf.test`: test cases, and gradients compared with differences."""
