"""`tf.distribute`: strategies for several replicas, on the one device there is."""
