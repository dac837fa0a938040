"""`tf.saved_model`: folders with an object's functions as graphs and its variables, in TensorFlow's format."""
