"""What is written for `tensorflow.python.data.experimental.ops`."""
