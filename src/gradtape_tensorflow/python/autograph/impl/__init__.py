"""The files of `tensorflow.python.autograph.impl`."""
