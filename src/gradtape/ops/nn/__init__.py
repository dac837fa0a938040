"""Convolution, pooling, normalization, losses, and bounding boxes."""
