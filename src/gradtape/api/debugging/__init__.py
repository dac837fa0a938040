"""`tf.debugging`: checks of values, shapes and dtypes."""
