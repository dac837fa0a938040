"""`tf.compat` and `tf.types`: names of older programs; and the table of names that behave differently."""
