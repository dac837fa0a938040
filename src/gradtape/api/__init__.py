"""TensorFlow's namespaces: thin, typed, documented functions over the ops. `names` says where each name lives."""
