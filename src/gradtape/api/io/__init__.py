"""`tf.io`: files and bytes."""
