"""`tf.compat.v1.train`: optimizers, savers and helpers of training loops."""
