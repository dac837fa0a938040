"""`tf.lookup`: static and mutable tables from keys to values, strings or numbers."""
