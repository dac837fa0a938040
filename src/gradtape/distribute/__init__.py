"""`tf.distribute`: replicas, devices and processes, and what data-parallel training is made of."""
