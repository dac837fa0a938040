"""State and composite values: variables, modules, sparse and ragged tensors, tensor arrays, archives.

Uses `engine.run` and lower layers; finds ops by name in `namespace`.
"""


def when_ragged() -> None:
    """Hook called when the first ragged tensor is created; the top-level package sets it."""
