"""What is written for `tensorflow.python.trackable`."""
