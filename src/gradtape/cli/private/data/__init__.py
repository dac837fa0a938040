"""What is written for `tensorflow.python.data`."""
