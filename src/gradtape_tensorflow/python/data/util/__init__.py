"""Definitions for `tensorflow.python.data.util`."""
