"""What surrounds a computation: printing, scopes, Python functions as ops, `tf.config`, `tf.errors`."""
