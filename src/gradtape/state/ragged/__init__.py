"""Ragged tensors: rows of different lengths, as one tensor of values and the places where it is cut."""
