"""`tensorflow.python.summary.writer`."""
