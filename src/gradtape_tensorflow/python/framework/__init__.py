"""Definitions for `tensorflow.python.framework`."""
