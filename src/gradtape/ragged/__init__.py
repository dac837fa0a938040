"""`tf.ragged`: ragged tensors (`tensor.py`), row partitions, and the public functions of them."""
