"""Definitions for `tensorflow.python.eager`."""
