"""Definitions for `tensorflow.python.ops`."""
