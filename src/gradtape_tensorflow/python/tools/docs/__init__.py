"""Definitions for `tensorflow.tools.docs`."""
