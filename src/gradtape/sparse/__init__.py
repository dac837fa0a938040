"""`tf.sparse`: sparse tensors (`tensor.py`) and the public functions of them."""
