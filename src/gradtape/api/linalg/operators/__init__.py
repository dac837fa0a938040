"""`tf.linalg.LinearOperator` and its like: matrices that know their structure, and use it."""
