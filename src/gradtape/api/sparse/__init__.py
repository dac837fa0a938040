"""`tf.sparse`: sparse tensors made, shaped, added, multiplied, reduced."""
