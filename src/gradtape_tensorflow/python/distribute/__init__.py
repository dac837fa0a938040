"""The files of `tensorflow.python.distribute`."""
