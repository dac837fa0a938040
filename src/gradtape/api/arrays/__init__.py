"""Tensors made, shaped, joined, cut, indexed and converted."""
