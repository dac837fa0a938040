"""The graph IR: values, nodes, effects, and TensorFlow's view of a graph. Depends on engine and ops."""
