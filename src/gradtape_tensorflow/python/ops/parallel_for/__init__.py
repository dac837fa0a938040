"""Definitions for `tensorflow.python.ops.parallel_for`."""
