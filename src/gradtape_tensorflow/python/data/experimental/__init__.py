"""Definitions for `tensorflow.python.data.experimental`."""
