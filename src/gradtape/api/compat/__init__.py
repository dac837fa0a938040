"""`tf.compat` and `tf.types`: what older programs call; and the list of names that mean something else here."""
