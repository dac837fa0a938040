"""`tf.saved_model`: a folder with an object's functions as graphs and its variables, in TensorFlow's format."""
