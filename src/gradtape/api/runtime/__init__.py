"""The environment of computations: printing, scopes, Python functions as ops, `tf.config`, `tf.errors`."""
