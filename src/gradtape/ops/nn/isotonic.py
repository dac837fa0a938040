"""Isotonic regression: the closest non-increasing sequence, which consists of means over runs of the input.

The runs do not change under small changes of the input, so the derivative replaces each run by its mean: a projection,
which is its own transpose.
"""

from __future__ import annotations

import numpy as np

from ...backends.arrays import combine_at, host_only, size_of
from ...core.dtypes import FLOAT, INT, NARROW
from ...engine.registry.families import linear, opaque
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import both_same, same_shape


def _runs(row):
    """The run of each element of `row`, by pooling adjacent violators: neighbors that increase are merged."""
    runs: list[list[float]] = []  # the sum and the length of each run
    for value in row:
        runs.append([value, 1])
        while len(runs) > 1 and runs[-1][0] * runs[-2][1] > runs[-2][0] * runs[-1][1]:
            total, length = runs.pop()
            runs[-1][0] += total
            runs[-1][1] += length
    return np.repeat(np.arange(len(runs)), [length for _, length in runs])


def _isotonic(xp, x):
    host_only(xp)
    rows = np.asarray(x, np.float64).reshape(-1, x.shape[-1]) if x.size else np.zeros((0, 1))
    segments = np.array([_runs(row) for row in rows.tolist()], np.int32).reshape(x.shape)
    return _run_means(xp, x, xp.asarray(segments)), xp.asarray(segments)


def _run_means(xp, x, segments):
    """Replaces each element by the mean of its run along the last axis."""
    size, width = size_of(x), x.shape[-1]
    if not size:
        return x
    first = xp.arange(0, size, width).reshape((*x.shape[:-1], 1))
    places = (segments + first).reshape(-1)
    totals = combine_at(xp, "add", xp.zeros(size, x.dtype), places, x.reshape(-1))
    counts = combine_at(xp, "add", xp.zeros(size, x.dtype), places, xp.ones(size, x.dtype))
    return (totals[places] / counts[places]).reshape(x.shape)


_SEGMENTS = np.array([[0, 1, 1, 2], [0, 0, 0, 1]], np.int32)

isotonic = opaque(
    "isotonic", _isotonic, on=FLOAT | NARROW, vjp=lambda m, g, ys: m.run_means(g[0], ys[1]),
    shape=both_same,
    jvp=lambda m, inputs, ys, attrs, ts: (m.run_means(ts[0], ys[1]), None),
    batch=lambda m, size, inputs, flags, attrs: m.isotonic(inputs[0]),
    samples=[sample((2, 5)), sample((4,)), sample((2, 0))],
)  # fmt: skip
run_means = linear(
    "run_means", _run_means, on=FLOAT | INT | NARROW, transpose=lambda m, g, segments: m.run_means(g, segments),
    shape=same_shape,
    samples=[sample((2, 4), _SEGMENTS), sample((4,), _SEGMENTS[0])], moves_data=False,
)  # fmt: skip
