"""`tf.distribute`: strategies for several replicas."""
