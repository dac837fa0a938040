"""TensorFlow's namespaces: thin, typed, documented functions over the ops. `names` maps each public name to its module.

A folder may import other folders without cycles, and all lower layers: datasets, checkpoints, graph, state, ops.
"""
