"""Values that change or come in pieces: variables, modules, sparse tensors, arrays of tensors, archives.

Uses run and what is below; ops it finds by name, in `namespace`.
"""
