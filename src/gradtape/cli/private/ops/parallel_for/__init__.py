"""What is written for `tensorflow.python.ops.parallel_for`."""
