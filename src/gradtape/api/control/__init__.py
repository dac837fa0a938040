"""Control flow, `tf.function`, AutoGraph and differentiation."""
