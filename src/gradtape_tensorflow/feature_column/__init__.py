"""`tf.feature_column`: features of examples as dense tensors and as sparse tensors of category ids."""
