"""Replicas, devices and processes: the machinery behind `tf.distribute` and data-parallel training."""
