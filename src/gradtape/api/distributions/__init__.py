"""`tf.compat.v1.distributions`: probability distributions with samples, densities, moments and divergences."""
