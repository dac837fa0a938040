"""Translation of a traced graph to TensorFlow's ops, with open sizes in its shapes."""
