"""`tf.train`: threads and clusters; checkpoints are in `gradtape.checkpoint`, messages of examples in `io`."""
