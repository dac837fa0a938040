"""State and composite values: variables, modules, sparse and ragged tensors, tensor arrays, archives.

Uses `engine.run` and lower layers; finds ops by name in `namespace`.
"""
