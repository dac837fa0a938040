"""What is written for `tensorflow.python.util`."""
