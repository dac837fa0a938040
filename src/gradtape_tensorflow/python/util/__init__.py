"""Definitions for `tensorflow.python.util`."""
