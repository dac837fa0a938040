"""What is written for `tensorflow.python.ops.linalg.sparse`."""
