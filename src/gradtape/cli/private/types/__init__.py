"""`tensorflow.python.types`."""
