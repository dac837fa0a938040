"""Convolution, pooling, attention, normalization, losses, and bounding boxes."""
