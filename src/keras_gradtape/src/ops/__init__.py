"""Keras' tensor functions, by subject."""
