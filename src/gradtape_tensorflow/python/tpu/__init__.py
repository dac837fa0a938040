"""`tensorflow.python.tpu`: there are no TPUs."""
