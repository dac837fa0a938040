"""Checkpoints: the variables reachable from an object, keyed by attribute names, in files."""
