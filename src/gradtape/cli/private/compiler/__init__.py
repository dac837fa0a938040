"""`tensorflow.compiler`."""
