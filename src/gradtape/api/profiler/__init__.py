"""`tf.profiler`: timelines of programs, as files for TensorBoard's profile page and for trace viewers."""
