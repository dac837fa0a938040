"""Sliding windows of convolutions and pooling."""

from __future__ import annotations


def window_positions(size: int, window: int, stride: int, padding: tuple[int, int], dilation: int) -> int:
    """Returns the number of positions of a sliding window along an axis of an image."""
    return max((size + sum(padding) - (window - 1) * dilation - 1) // stride + 1, 0)
