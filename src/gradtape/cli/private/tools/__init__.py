"""Definitions for `tensorflow.tools`."""
