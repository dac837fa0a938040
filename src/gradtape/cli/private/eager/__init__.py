"""What is written for `tensorflow.python.eager`."""
