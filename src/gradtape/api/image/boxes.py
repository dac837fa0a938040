"""Bounding boxes: non-maximum suppression, drawing and random sampling."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, SupportsInt

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from ...engine.run.randomness import next_global_seed
from ...ops.nn.boxes import combined_boxes, drawn_boxes, suppressed_boxes, suppressed_overlaps
from ..random.arguments import as_state
from .augmentation import SampledBox, box_attributes, sampled_box

NAMESPACES = ("image",)
__all__ = [
    "combined_non_max_suppression", "draw_bounding_boxes", "non_max_suppression", "non_max_suppression_overlaps",
    "non_max_suppression_padded", "non_max_suppression_with_scores", "sample_distorted_bounding_box",
]  # fmt: skip

_NEVER = -math.inf


def _check_boxes(boxes: Any, scores: Any, limit: float) -> tuple[Tensor, Tensor]:
    b, s = to_tensor(boxes), to_tensor(scores)
    if len(b.dims) != 2 or b.dims[-1] != 4:
        raise errors.InvalidArgumentError(f"boxes must be of shape [num_boxes, 4], got {list(b.dims)}")
    return b, _as_many(b, s, limit)


def _as_many(boxes: Tensor, scores: Tensor, limit: float) -> Tensor:
    if scores.dims != boxes.dims[:1]:
        raise errors.InvalidArgumentError(
            f"scores has incompatible shape: one for each of {boxes.dims[0]} boxes, got {list(scores.dims)}"
        )
    if scores.dtype.size < 4:  # the op returns the indices next to the scores
        scores = ops.cast(scores, dtype=dtypes.float32)
    if not 0 <= limit <= 1:
        raise errors.InvalidArgumentError(f"iou_threshold must be in [0, 1], got {limit}")
    return scores


def _number(x: Any) -> float:
    return float(to_array(x))


def _suppress(boxes: Any, scores: Any, most: Any, limit: Any, least: Any, sigma: float = 0.0) -> Tensor:
    b, s = _check_boxes(boxes, scores, _number(limit))
    return suppressed_boxes(
        b, s, most=int(to_array(most)), limit=_number(limit), least=_number(least), sigma=sigma
    )


def _indices(kept: Tensor) -> Tensor:
    return ops.cast(ops.slice(kept, key=(slice(None), 0)), dtype=dtypes.int32)


def non_max_suppression(
    boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _NEVER, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Returns the indices of the best boxes, of which no two have an intersection over union above `iou_threshold`.

    Args:
      boxes: [n, 4], two opposite corners of each, as [y, x, y, x].
      scores: [n]; only boxes above `score_threshold` are kept.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [2.0, 2.0, 3.0, 3.0]]
    >>> tf.image.non_max_suppression(boxes, [0.8, 0.9, 0.7], 3).numpy().tolist()
    [1, 2]
    """
    return _indices(_suppress(boxes, scores, max_output_size, iou_threshold, score_threshold))


def non_max_suppression_with_scores(
    boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _NEVER, soft_nms_sigma: TensorLike = 0.0, name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Selects boxes like `non_max_suppression` and returns their scores.

    With `soft_nms_sigma`, it lowers the scores of overlapping boxes instead of dropping them.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [2.0, 2.0, 3.0, 3.0]]
    >>> places, scores = tf.image.non_max_suppression_with_scores(
    ...     boxes, [0.8, 0.9, 0.7], 3, iou_threshold=1.0, soft_nms_sigma=0.5)
    >>> places.numpy().tolist(), [round(float(x), 2) for x in scores]
    ([1, 2, 0], [0.9, 0.7, 0.41])
    """
    kept = _suppress(boxes, scores, max_output_size, iou_threshold, score_threshold, _number(soft_nms_sigma))
    return _indices(kept), ops.cast(ops.slice(kept, key=(slice(None), 1)), dtype=to_tensor(scores).dtype)


def non_max_suppression_overlaps(
    overlaps: TensorLike, scores: TensorLike, max_output_size: TensorLike, overlap_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _NEVER, name: str | None = None,
) -> Tensor:  # fmt: skip
    """`non_max_suppression` with a matrix of the overlaps between boxes.

    >>> tf.image.non_max_suppression_overlaps([[1.0, 0.9], [0.9, 1.0]], [0.5, 0.8], 2).numpy().tolist()
    [1]
    """
    shared, s = to_tensor(overlaps), to_tensor(scores)
    if len(shared.dims) != 2 or shared.dims[0] != shared.dims[1]:
        raise errors.InvalidArgumentError(f"overlaps must be square, got shape {list(shared.dims)}")
    kept = suppressed_overlaps(
        shared, _as_many(shared, s, 0.5), most=int(to_array(max_output_size)), limit=_number(overlap_threshold),
        least=_number(score_threshold),
    )  # fmt: skip
    return _indices(kept)


def non_max_suppression_padded(
    boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _NEVER, pad_to_max_output_size: bool = False, name: str | None = None,
    sorted_input: bool = False, canonicalized_coordinates: bool = False, tile_size: int = 512,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`non_max_suppression`, padded with zeros to `max_output_size`, and the number of boxes; also for batches.

    >>> places, count = tf.image.non_max_suppression_padded(
    ...     [[0.0, 0.0, 1.0, 1.0]], [0.8], 3, pad_to_max_output_size=True)
    >>> places.numpy().tolist(), int(count)
    ([0, 0, 0], 1)
    """
    b, s = to_tensor(boxes), to_tensor(scores)
    most = int(to_array(max_output_size))
    if len(b.dims) > 2 and not pad_to_max_output_size:
        raise ValueError(f"'pad_to_max_output_size' (value {pad_to_max_output_size}) must be True for batched input")
    if len(b.dims) == 2:
        places = non_max_suppression(b, s, most, iou_threshold, score_threshold)
        count = to_tensor(places.dims[0], dtypes.int32)
        return (_pad_indices(places, most) if pad_to_max_output_size else places), count
    flat = zip(
        ops.unstack(ops.reshape(b, shape=(-1, *b.dims[-2:])), axis=0),
        ops.unstack(ops.reshape(s, shape=(-1, s.dims[-1])), axis=0),
        strict=True,
    )
    kept = [non_max_suppression(*one, most, iou_threshold, score_threshold) for one in flat]
    places = ops.stack(*(_pad_indices(one, most) for one in kept), axis=0)
    counts = to_tensor([one.dims[0] for one in kept], dtypes.int32)
    return ops.reshape(places, shape=(*b.dims[:-2], most)), ops.reshape(counts, shape=b.dims[:-2])


def _pad_indices(places: Tensor, most: int) -> Tensor:
    lacking = to_tensor(np.zeros(most - places.dims[0], np.int32))
    return ops.concat(places, lacking, axis=0)


class CombinedNonMaxSuppression(NamedTuple):
    """The result of `combined_non_max_suppression`."""

    nmsed_boxes: Tensor
    nmsed_scores: Tensor
    nmsed_classes: Tensor
    valid_detections: Tensor


def combined_non_max_suppression(
    boxes: TensorLike, scores: TensorLike, max_output_size_per_class: TensorLike, max_total_size: TensorLike,
    iou_threshold: TensorLike = 0.5, score_threshold: TensorLike = _NEVER, pad_per_class: bool = False,
    clip_boxes: bool = True, name: str | None = None,
) -> CombinedNonMaxSuppression:  # fmt: skip
    """Applies `non_max_suppression` per class and image of a batch, and selects the best over all classes.

    Args:
      boxes: [batch, n, classes or 1, 4]; scores: [batch, n, classes].
      max_total_size: the maximum number of boxes per image; missing ones are zeros.
      pad_per_class: whether to limit the rows to classes times `max_output_size_per_class`.
      clip_boxes: whether to clip boxes to the range from 0 to 1.

    >>> found = tf.image.combined_non_max_suppression([[[[0.0, 0.0, 1.0, 1.0]]]], [[[0.8, 0.3]]], 1, 3)
    >>> found.nmsed_classes.numpy().tolist(), found.valid_detections.numpy().tolist()
    ([[0.0, 1.0, 0.0]], [2])
    """
    b, s = to_tensor(boxes), to_tensor(scores)
    if len(b.dims) != 4 or b.dims[3] != 4 or len(s.dims) != 3 or b.dims[2] not in (1, s.dims[2]):
        raise errors.InvalidArgumentError(
            f"boxes must be [batch, n, classes or 1, 4] and scores [batch, n, classes], got {list(b.dims)} and "
            f"{list(s.dims)}"
        )
    per_class, total = int(to_array(max_output_size_per_class)), int(to_array(max_total_size))
    rows = min(total, per_class * s.dims[2]) if pad_per_class else total
    found = combined_boxes(
        b, s, per_class=per_class, total=rows, limit=_number(iou_threshold), least=_number(score_threshold),
        clip=bool(clip_boxes),
    )  # fmt: skip
    count = ops.cast(ops.sum(ops.slice(found, key=(Ellipsis, 6)), axis=(1,), keepdims=False), dtype=dtypes.int32)
    return CombinedNonMaxSuppression(found[..., :4], found[..., 4], found[..., 5], count)


# TensorFlow's default colors of boxes.
_COLORS = np.array(
    [
        [1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1], [0.5, 0.5, 0, 1], [0.5, 0, 0, 1],
        [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1],
    ], np.float32,
)  # fmt: skip


def draw_bounding_boxes(images: TensorLike, boxes: TensorLike, colors: TensorLike, name: str | None = None) -> Tensor:
    """Draws the borders of boxes on images, cycling through `colors`.

    Args:
      images: [batch, height, width, depth]; boxes: [batch, n, 4] as [y_min, x_min, y_max, x_max] from 0 to 1.
      colors: [m, depth], or None for TensorFlow's ten default colors.

    >>> tf.image.draw_bounding_boxes(tf.zeros([1, 3, 3, 1]), [[[0.0, 0.0, 1.0, 1.0]]], [[1.0]]).numpy()[0, :, :, 0]
    array([[1., 1., 1.],
           [1., 0., 1.],
           [1., 1., 1.]], dtype=float32)
    """
    x, b = to_tensor(images), to_tensor(boxes)
    if len(x.dims) != 4 or x.dims[3] not in (1, 3, 4):
        raise errors.InvalidArgumentError(f"The rank of the images should be 4, of depth 1, 3 or 4, got {list(x.dims)}")
    if len(b.dims) != 3 or b.dims[2] != 4 or b.dims[0] != x.dims[0]:
        raise errors.InvalidArgumentError(f"boxes must be [{x.dims[0]}, n, 4], got {list(b.dims)}")
    table = to_array(colors).astype(np.float32) if colors is not None and to_array(colors).size else _COLORS.copy()
    if x.dims[3] == 1 and colors is None:
        table[:, 0] = 1
    if table.ndim != 2 or table.shape[1] < x.dims[3]:
        raise errors.InvalidArgumentError(f"colors must be [m, {x.dims[3]}], got {list(table.shape)}")
    return drawn_boxes(x, b, to_tensor(table.astype(x.dtype.numpy)))


def sample_distorted_bounding_box(
    image_size: TensorLike, bounding_boxes: TensorLike, seed: int = 0, min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: TensorLike | None = None, area_range: TensorLike | None = None,
    max_attempts: SupportsInt | None = None, use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> SampledBox:  # fmt: skip
    """`stateless_sample_distorted_bounding_box` with random numbers seeded by `tf.random.set_seed`.

    >>> tf.image.sample_distorted_bounding_box([40, 50, 3], [[[0.1, 0.2, 0.5, 0.9]]]).begin.shape
    TensorShape([3])
    """
    attributes = box_attributes(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
    kind = ("sample_distorted_bounding_box", *attributes.values())
    state = as_state(next_global_seed(kind, int(seed) if seed else None, attributes["attempts"]))
    return sampled_box(
        state, image_size, bounding_boxes, min_object_covered, aspect_ratio_range, area_range, max_attempts,
        use_image_if_no_bounding_boxes,
    )  # fmt: skip
