"""`tf.random`: TensorFlow's random numbers, bit for bit where its CPU kernels do not depend on the number of threads."""
