"""The files of `tensorflow.python.saved_model`."""
