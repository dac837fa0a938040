"""Explains gradients that are None, zero or not finite: causes, source lines and remedies."""
