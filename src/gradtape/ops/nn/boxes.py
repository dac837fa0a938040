"""Bounding boxes in images: non-maximum suppression and drawing. None of it is differentiable."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...backends.arrays import host_only
from ...engine.registry.families import constant
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import same_shape


def _overlap(boxes: Any, i: int, others: Any) -> Any:
    """The intersection over union (IoU) of a box with each of the others."""
    low, high = np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])
    area = (high - low).prod(axis=-1)
    shared = np.maximum(np.minimum(high[i], high[others]) - np.maximum(low[i], low[others]), 0).prod(axis=-1)
    whole = area[i] + area[others] - shared
    proper = (area[i] > 0) & (area[others] > 0)
    return np.where(proper, shared / np.where(proper, whole, 1), 0)


def _selected(
    scores: Any, overlap: Callable[[int, Any], Any], most: int, limit: float, least: float, sigma: float
) -> list[tuple[int, Any]]:
    """Non-maximum suppression: the best candidates with their scores, none overlapping a better one beyond `limit`.

    With a `sigma` (soft NMS), a candidate's score decays with its overlaps instead, and it is queued again.
    """
    waiting = [(-score, i, 0) for i, score in enumerate(scores.tolist()) if score > least]
    heapq.heapify(waiting)
    kept: list[tuple[int, Any]] = []
    while waiting and len(kept) < most:
        negative, i, seen = heapq.heappop(waiting)
        newer = [j for j, _ in kept[seen:]]
        shared = overlap(i, newer) if newer else np.zeros(0)
        if sigma <= 0:
            if not (shared > limit).any():
                kept.append((i, -negative))
            continue
        factors = np.where(shared <= limit, np.exp(-0.5 / sigma * shared * shared), 0)
        score = -negative * math.prod(factors.tolist())
        if score == -negative:
            kept.append((i, score))
        elif score > least:
            heapq.heappush(waiting, (-score, i, len(kept)))
    return kept


def _suppressed(xp: Any, boxes: Any, scores: Any, *, most: int, limit: float, least: float, sigma: float) -> Any:
    """Rows of an index and a score."""
    host_only(xp)
    kept = _selected(scores, lambda i, others: _overlap(boxes, i, others), most, limit, least, sigma)
    return np.array(kept, scores.dtype).reshape(-1, 2)


def _suppressed_overlaps(xp: Any, overlaps: Any, scores: Any, *, most: int, limit: float, least: float) -> Any:
    """Rows of an index and a score, given a matrix of pairwise overlaps."""
    host_only(xp)
    kept = _selected(scores, lambda i, others: overlaps[i, others], most, limit, least, 0.0)
    return np.array(kept, scores.dtype).reshape(-1, 2)


def _combined(
    xp: Any, boxes: Any, scores: Any, *, per_class: int, total: int, limit: float, least: float, clip: bool
) -> Any:
    """For each image of a batch, rows of a box, its score, its class, and 1; the remaining rows are zeros."""
    host_only(xp)
    batch, _, classes = scores.shape
    found = np.zeros((batch, total, 7), scores.dtype)
    for b in range(batch):
        kept = []
        for c in range(classes):
            own = boxes[b, :, min(c, boxes.shape[2] - 1)]
            best = _selected(scores[b, :, c], partial(_overlap, own), per_class, limit, least, 0.0)
            kept += [(score, c, own[i]) for i, score in best]
        kept.sort(key=lambda entry: -entry[0])
        for place, (score, c, box) in enumerate(kept[:total]):
            found[b, place] = [*(np.clip(box, 0, 1) if clip else box), score, c, 1]
    return found


def _drawn(xp: Any, images: Any, boxes: Any, colors: Any) -> Any:
    """Draws the borders of the boxes, one pixel wide, on a copy of the images, cycling through the colors."""
    host_only(xp)
    out = np.array(images)
    height, width, depth = images.shape[1:]
    sizes = np.array([height - 1, width - 1] * 2, np.float32)
    for image, corners in zip(out, (boxes.astype(np.float32) * sizes).astype(np.int64).tolist(), strict=True):
        for k, (top, left, bottom, right) in enumerate(corners):
            color = colors[k % len(colors), :depth]
            if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
                continue
            rows = slice(max(top, 0), min(bottom, height - 1) + 1)
            columns = slice(max(left, 0), min(right, width - 1) + 1)
            for row in {top, bottom} & set(range(height)):
                image[row, columns] = color
            for column in {left, right} & set(range(width)):
                image[rows, column] = color
    return out


_CORNERS = np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.5, 0.5, 2.0, 2.0]])

suppressed_boxes = constant(
    "suppressed_boxes", _suppressed, shaped_by_values=True,
    samples=[sample(_CORNERS, np.array([0.9, 0.8, 0.7]), most=3, limit=0.5, least=0.0, sigma=0.0)],
)  # fmt: skip
suppressed_overlaps = constant(
    "suppressed_overlaps", _suppressed_overlaps, shaped_by_values=True,
    samples=[sample(np.array([[1.0, 0.9], [0.9, 1.0]]), np.array([0.9, 0.8]), most=2, limit=0.5, least=0.0)],
)  # fmt: skip
combined_boxes = constant(
    "combined_boxes", _combined,
    samples=[
        sample(_CORNERS[None, :, None], np.array([[[0.9], [0.8], [0.7]]]), per_class=2, total=3, limit=0.5, least=0.0,
               clip=True)
    ],
)  # fmt: skip
drawn_boxes = constant(
    "drawn_boxes", _drawn, shape=same_shape,
    samples=[sample((1, 4, 5, 3), _CORNERS[None] / 2, np.array([[1.0, 0.0, 0.5]]))]
)
