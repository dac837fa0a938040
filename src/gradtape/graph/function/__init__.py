"""`tf.function` itself: calls, signatures, graphs for each. Uses all the rest of graph."""
