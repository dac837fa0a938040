"""`tf.test`: test cases, and numeric checks of gradients."""
