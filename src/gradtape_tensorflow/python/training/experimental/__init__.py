"""Definitions for `tensorflow.python.training.experimental`."""
