"""TensorFlow's namespaces: thin, typed, documented functions over the ops. `names` says where each name lives.

A folder may use the other ones, but not in a circle, and everything below: datasets, checkpoints, graph, state, ops.
"""
