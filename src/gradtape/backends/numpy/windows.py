"""Windows that move over an image, as those of convolutions and of pooling do."""

from __future__ import annotations


def window_positions(size: int, window: int, stride: int, padding: tuple[int, int], dilation: int) -> int:
    """How many positions a moving window has along an axis of an image."""
    return max((size + sum(padding) - (window - 1) * dilation - 1) // stride + 1, 0)
