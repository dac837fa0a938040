"""`tf.random`: TensorFlow's random numbers; identical to its CPU kernels' where these do not depend on threads."""
