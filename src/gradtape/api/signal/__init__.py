"""`tf.signal`: transforms, frames and windows of signals."""
