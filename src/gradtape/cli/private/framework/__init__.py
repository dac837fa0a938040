"""What is written for `tensorflow.python.framework`."""
