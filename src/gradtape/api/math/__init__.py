"""`tf.math`: elementwise functions, reductions, scans, products, sorting, segments."""
