"""`tf.compat.v1.summary`: event files and summaries as messages."""
