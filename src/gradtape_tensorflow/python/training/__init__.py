"""The files of `tensorflow.python.training`."""
