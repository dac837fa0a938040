"""`tensorflow.python.ops.losses`."""
