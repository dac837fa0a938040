"""Convolution, pooling, normalization, losses, and boxes of images."""
