"""`tf.nn`: activations, losses, convolutions, pooling, embeddings; initializers and quantization."""
