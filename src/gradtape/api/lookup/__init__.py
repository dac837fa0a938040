"""`tf.lookup`: tables from keys to values, strings or numbers, fixed or changing."""
