"""TensorFlow's namespaces: thin, typed, documented functions over the ops. `names` maps each public name to its module.

A folder, or a namespace in one file, may import others without cycles, and all lower layers: graph, state, ops.
"""
