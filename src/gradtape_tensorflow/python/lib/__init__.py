"""`tensorflow.python.lib`."""
