"""Checkpoints: the variables of an object, found by the names of attributes, in one file. Uses state."""
