"""`tf.sparse`: creation, shaping and arithmetic of sparse tensors."""
