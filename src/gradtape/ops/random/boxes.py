"""Random boxes that cover enough of an object in an image, as a function of a Philox state."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.arrays import host_only
from ...core import errors
from ...engine.registry.families import constant
from ...engine.registry.op import sample
from . import philox
from .random import STATE


class _Words:
    """Yields the words of a random stream."""

    def __init__(self, state: Any) -> None:
        self.state, self.block, self.left = state, 0, [0][:0]

    def word(self) -> int:
        if not self.left:
            self.left = philox.words(np, self.state, np.array([self.block], np.uint64))[0].tolist()[::-1]
            self.block += 1
        return self.left.pop()

    def unit(self) -> Any:
        return np.float32(self.word() & 0x7FFFFF) * np.float32(2.0**-23)

    def below(self, count: int) -> int:
        return self.word() % count


def _random_box(width: int, height: int, areas: Any, aspect: Any, words: _Words) -> tuple[int, int, int, int] | None:
    """Returns a box [x, y, width, height] with this aspect ratio and an area in the given range, or None."""
    f32 = np.float32
    least, most = (f32(a) * f32(width) * f32(height) for a in areas)
    rows, most_rows = (int(np.rint(np.sqrt(area / aspect))) for area in (least, most))
    if np.rint(f32(most_rows) * aspect) > width:
        most_rows = int((f32(width) + f32(0.5) - f32(1e-7)) / aspect)
        if np.rint(f32(most_rows) * aspect) > width:
            most_rows -= 1
    most_rows = min(most_rows, height)
    rows = min(rows, most_rows)
    if rows < most_rows:
        rows += words.below(most_rows - rows + 1)
    columns = int(np.rint(f32(rows) * aspect))
    if columns * rows < least:
        rows += 1
        columns = int(np.rint(f32(rows) * aspect))
    if columns * rows > most:
        rows -= 1
        columns = int(np.rint(f32(rows) * aspect))
    if not least <= columns * rows <= most or not 0 < columns <= width or not 0 < rows <= height:
        return None
    y = words.below(height - rows) if rows < height else 0
    x = words.below(width - columns) if columns < width else 0
    return x, y, columns, rows


def _covers(box: tuple[int, int, int, int], objects: Any, share: float) -> bool:
    """Returns whether the box covers at least this fraction of an object, [top, left, bottom, right] in pixels."""
    x, y, columns, rows = box
    for top, left, bottom, right in objects:
        area = (bottom - top) * (right - left)
        tall, wide = min(bottom, y + rows) - max(top, y), min(right, x + columns) - max(left, x)
        if area >= 1 and np.float32(max(tall, 0) * max(wide, 0)) / np.float32(area) >= share:
            return True
    return False


def _box_of_image(
    xp: Any, state: Any, size: Any, boxes: Any, share: Any, *, aspects: tuple[float, float],
    areas: tuple[float, float], attempts: int, whole_image: bool,
) -> Any:  # fmt: skip
    """Returns [top, left, rows, columns] of the first of the random boxes that covers `share` of one of `boxes`.

    If none of them does, it is the whole image. `boxes` are fractions of the image's height and width.
    """
    host_only(xp)
    height, width = (int(n) for n in size[:2])
    if not share >= 0:
        raise errors.InvalidArgumentError(f"Min object covered must be non-negative: {share}")
    outside = boxes[~((boxes >= 0) & (boxes <= 1))]
    if outside.size:
        raise errors.InvalidArgumentError(f"All bounding box coordinates must be in [0.0, 1.0]: {outside[0]}")
    objects = (boxes.reshape(-1, 4) * np.array([height, width] * 2, np.float32)).astype(np.int64).tolist()
    if not objects:
        if not whole_image:
            raise errors.InvalidArgumentError(
                "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to "
                "not provide any bounding boxes."
            )
        objects = [(0, 0, height, width)]
    words = _Words(state)
    low, high = map(np.float32, aspects)
    for _ in range(attempts):
        aspect = words.unit() * (high - low) + low
        box = _random_box(width, height, areas, aspect, words)
        if box is not None and _covers(box, objects, float(share)):
            left, top, columns, rows = box
            return np.array([top, left, rows, columns], np.int64)
    return np.array([0, 0, height, width], np.int64)


_OBJECT = np.array([[[0.1, 0.2, 0.5, 0.9]]], np.float32)
_ATTRIBUTES: dict[str, Any] = {"aspects": (0.75, 1.33), "areas": (0.05, 1.0), "attempts": 10, "whole_image": True}

random_box = constant(
    "random_box", _box_of_image, shape=lambda *inputs, **attrs: (4,),
    samples=[
        sample(STATE, np.array([40, 50, 3]), _OBJECT, np.float32(0.1), **_ATTRIBUTES),
        sample(STATE, np.array([7, 5, 1]), np.zeros((1, 0, 4), np.float32), np.float32(0.5), **_ATTRIBUTES),
    ],
)  # fmt: skip
