"""Definitions for `tensorflow.python.ops.linalg`."""
