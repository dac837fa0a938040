"""Values that change or come in pieces: variables, modules, sparse tensors, archives. Uses engine and ops."""
