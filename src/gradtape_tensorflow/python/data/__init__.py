"""Definitions for `tensorflow.python.data`."""
