"""Several replicas, devices and processes: what `tf.distribute` and its kin are made of."""
