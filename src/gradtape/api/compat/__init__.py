"""`tf.compat` and `tf.types`: what older programs call."""
