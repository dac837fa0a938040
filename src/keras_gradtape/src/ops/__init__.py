"""Keras' functions on tensors, by subject."""
