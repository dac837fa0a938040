"""`tf.random`: TensorFlow's random numbers, those of its CPU kernels wherever they do not depend on threads."""
