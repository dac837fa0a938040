"""Definitions for `tensorflow.python.trackable`."""
