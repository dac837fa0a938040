"""`tf.tpu`: settings of TPU programs, embeddings for serving, and errors that say that there are no TPUs."""
