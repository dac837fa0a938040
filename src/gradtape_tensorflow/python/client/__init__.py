"""`tensorflow.python.client`."""
