"""`tf.nn`: activations, losses, convolutions, pooling, embeddings; initializers, quantization, narrow dtypes."""
