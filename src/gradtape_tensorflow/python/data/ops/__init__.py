"""Definitions for `tensorflow.python.data.ops`."""
