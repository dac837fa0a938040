"""Control flow, maps and scans, `tf.function`, custom gradients and forward mode."""
