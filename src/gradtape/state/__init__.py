"""Values that change or come in pieces: variables, modules, sparse tensors, arrays of tensors, archives.

Uses run and what is below; ops it finds by name, in `namespace`.
"""


def when_ragged() -> None:
    """Called when the first ragged tensor is made; the front door sets what is done then."""
