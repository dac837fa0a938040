"""The files of `tensorflow.python.checkpoint`."""
