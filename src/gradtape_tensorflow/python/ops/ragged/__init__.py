"""Private modules of ragged tensors."""
