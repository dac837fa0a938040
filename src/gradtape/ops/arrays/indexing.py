"""Gather and scatter, each the transpose of the other. The gradient of a gather along the first axis stays sparse.

For each of the leading `batch` axes, `gather` looks up positions along `axis`: y[b, a, i, r] = x[b, a, indices[b, i],
r], where a are the axes between the batch and `axis`, and r those after it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.arrays import as_unsigned, astype, can_read_values, combine_at, numpy_kernel, permuted, put
from ...backends.numpy.sums import sum_at
from ...backends.tuning import ONE_HOT
from ...core import errors
from ...core.dtypes import NUMERIC
from ...core.slices import IndexedSlices
from ...engine.registry.batching import BatchedTensor, broadcast_batch
from ...engine.registry.examples import SummedRows
from ...engine.registry.families import constant, linear, opaque
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import given_shape, same_shape

_UNSIGNED = {np.dtype(f"{kind}{n}"): np.dtype(f"u{n}") for kind in "iu" for n in (1, 2, 4, 8)}


def _check_range(xp, indices, size):
    """Raises unless indices are in [0, size); XLA, which cannot raise, clips them and drops out-of-range updates."""
    if not can_read_values(xp) or not indices.size:
        return
    # Viewed as unsigned, a negative index is huge, so that one comparison finds both kinds.
    if np.maximum.reduce(indices.view(_UNSIGNED[indices.dtype]), axis=None) >= size:
        flat = int(np.argmax(((indices < 0) | (indices >= size)).reshape(-1)))
        at = ",".join(map(str, np.unravel_index(flat, indices.shape)))
        raise errors.InvalidArgumentError(
            f"indices[{at}] = {indices.reshape(-1)[flat]} is not in [0, {size}) [Op:GatherV2]"
        )


def _gather(xp, x, indices, *, axis, batch):
    _check_range(xp, indices, x.shape[axis])
    if not batch:
        return xp.take(x, indices, axis=axis, mode="clip")
    if not can_read_values(xp):
        indices = xp.clip(indices, 0, max(x.shape[axis] - 1, 0))
    shape = x.shape
    lead, between = math.prod(shape[:batch]), math.prod(shape[batch:axis])
    table = x.reshape(lead, between, shape[axis], *shape[axis + 1 :])
    rows, columns = xp.arange(lead)[:, None, None], xp.arange(between)[None, :, None]
    found = table[rows, columns, indices.reshape(lead, 1, math.prod(indices.shape[batch:]))]
    return found.reshape(*shape[:axis], *indices.shape[batch:], *shape[axis + 1 :])


def _scatter_add(xp, x, indices, *, shape, axis=0, batch=0):
    """Adds slices of x along `axis` to zeros of `shape`, at the positions from which `gather` would take them."""
    size, rest = shape[axis], shape[axis + 1 :]
    lead, between = math.prod(shape[:batch]), math.prod(shape[batch:axis])
    count = math.prod(indices.shape[batch:])
    _check_range(xp, indices, size)
    rows = indices.reshape(-1)
    values = x.reshape(lead, between, count, math.prod(rest))
    if batch:
        rows = astype(rows, np.intp) + xp.repeat(xp.arange(lead) * size, count)
    if between == 1:
        return add_rows(xp, lead * size, rows, values.reshape(lead * count, math.prod(rest))).reshape(
            shape
        )
    width = between * math.prod(rest)
    total = add_rows(xp, lead * size, rows, permuted(values, (0, 2, 1, 3)).reshape(lead * count, width))
    return permuted(total.reshape(lead, size, between, math.prod(rest)), (0, 2, 1, 3)).reshape(shape)


def add_rows(xp: Any, count: int, rows: Any, values: Any) -> Any:
    """Adds `values[i]` to row `rows[i]` of a zero matrix with `count` rows; repeated rows accumulate."""
    if xp is not np:  # as unsigned, a negative row is out of range: JAX drops it instead of counting from the end
        rows = as_unsigned(rows)
        return combine_at(xp, "add", xp.zeros((count, values.shape[1]), values.dtype), rows, values)
    return sum_at(count, rows, values)


def _batch_gather(m, size, inputs, flags, attrs):
    """Batched values add an axis before `axis`, batched indices add indices; both together form a batch axis."""
    (x, indices), axis, batch = inputs, attrs.get("axis", 0), attrs.get("batch", 0)
    if not flags[1] and not batch:
        return m.gather(x, indices, axis=axis + 1, batch=0)
    if not flags[0]:
        rank = len(indices.dims)
        moved = m.transpose(indices, perm=(*range(1, batch + 1), 0, *range(batch + 1, rank))) if batch else indices
        y = m.gather(x, moved, axis=axis, batch=batch)
        return m.transpose(y, perm=(axis, *range(axis), *range(axis + 1, len(y.dims)))) if axis else y
    return m.gather(x, broadcast_batch(m, indices, flags[1], size), axis=axis + 1, batch=batch + 1)


def _batch_scatter_add(m, size, inputs, flags, attrs):
    (x, indices), axis, batch = inputs, attrs.get("axis", 0), attrs.get("batch", 0)
    shape = (size, *attrs["shape"])
    if not flags[1] and not batch:
        return m.scatter_add(x, indices, shape=shape, axis=axis + 1, batch=0)
    x, indices = broadcast_batch(m, x, flags[0], size), broadcast_batch(m, indices, flags[1], size)
    return m.scatter_add(x, indices, shape=shape, axis=axis + 1, batch=batch + 1)


def _gather_rows_back(m, g, indices, x_shape):
    """The cotangent of `x` in `x[indices]`: sparse, unless the cotangent is batched."""
    values, flat = g, indices
    if len(indices.shape) != 1:
        count = math.prod(indices.shape)
        values, flat = m.reshape(g, shape=(count, *x_shape[1:])), m.reshape(indices, shape=(count,))
    if isinstance(values, BatchedTensor) or isinstance(flat, BatchedTensor):
        return m.scatter_add(values, flat, shape=x_shape)
    return IndexedSlices(values, flat, x_shape)


_MATRIX = np.array([[0, 2], [2, 1]])

gather = linear(
    "gather", _gather, batch=_batch_gather,
    shape=lambda x, indices, axis, batch: (*x[:axis], *indices[batch:], *x[axis + 1 :]),
    transpose=lambda m, g, indices, x_shape, axis, batch: m.scatter_add(
        g, indices, shape=x_shape, axis=axis, batch=batch
    ),
    samples=[
        sample((4, 3), _MATRIX, axis=0, batch=0),
        sample((2, 3, 2), _MATRIX, axis=1, batch=0),
        sample((2, 3), np.array(1), axis=1, batch=0),
        sample((2, 2, 3, 2), _MATRIX, axis=2, batch=1),
        sample((2, 2, 3), _MATRIX, axis=2, batch=2),
        sample((3, 2), np.zeros(0, int), axis=0, batch=0),
        sample((2, 3, 0), np.array([1, 1]), axis=1, batch=1),
    ],
)  # fmt: skip
gather_rows = linear(
    "gather_rows", lambda xp, x, indices: _gather(xp, x, indices, axis=0, batch=0), transpose=_gather_rows_back,
    shape=lambda x, indices: (*indices, *x[1:]),
    batch=_batch_gather,
    samples=[sample((4, 3), _MATRIX), sample((3,), np.array(1)), sample((3, 2), np.zeros(0, int))],
)  # fmt: skip


def _rows_of_scatter(inputs, flags, attrs, count):
    """The values of all examples are added to rows of a shared table."""
    into_table = not attrs.get("axis") and not attrs.get("batch") and flags[0] and not flags[1]
    return SummedRows() if into_table and inputs[1].dims[:1] == inputs[0].dims[:1] else None


scatter_add = linear(
    "scatter_add", _scatter_add, batch=_batch_scatter_add, rows=_rows_of_scatter, moves_data=False, on=NUMERIC,
    shape=given_shape,
    transpose=lambda m, g, indices, axis, batch: m.gather(g, indices, axis=axis or 0, batch=batch or 0),
    samples=[
        sample((3, 2), np.array([0, 2, 2]), shape=(4, 2)),
        sample((0,), np.zeros(0, int), shape=(2,)),
        sample((2, 2, 2, 2), _MATRIX, shape=(2, 3, 2), axis=1),
        sample((2, 3, 2, 2), _MATRIX, shape=(2, 3, 4, 2), axis=2, batch=1),
        sample((2, 0), np.array([0, 1]), shape=(3, 0)),
    ],
)  # fmt: skip


def _from_start(xp, indices, *, size):
    """Replaces negative indices, which count from the end."""
    if can_read_values(xp) and indices.size and np.minimum.reduce(indices, axis=None) >= 0:
        return indices
    return xp.where(indices < 0, indices + size, indices)


from_start = constant(
    "from_start", _from_start, batch=lambda m, size, inputs, flags, attrs: m.from_start(inputs[0], **attrs),
    shape=same_shape,
    samples=[sample(np.array([0, -1, 2]), size=3), sample(_MATRIX, size=3), sample(np.array(-2), size=4)],
)  # fmt: skip


def _ravel_index(xp, indices, *, dims):
    """Flattens coordinates along the last axis to row-major positions in an array of shape `dims`."""
    if indices.shape[-1] != len(dims):
        raise ValueError(f"indices of {indices.shape[-1]} coordinates do not index into {len(dims)} axes")
    if can_read_values(xp):
        bad = ((indices < 0) | (indices >= np.array(dims, np.int64))).any(axis=-1)
        if bad.any():
            at = np.unravel_index(int(np.argmax(bad)), bad.shape)
            raise errors.InvalidArgumentError(
                f"indices[{','.join(map(str, at))}] = {indices[at].tolist()} does not index into shape {list(dims)}"
            )
    strides = [math.prod(dims[i + 1 :]) for i in range(len(dims))]
    wide = astype(indices, np.int64)
    return sum((wide[..., i] * stride for i, stride in enumerate(strides)), xp.zeros(indices.shape[:-1], np.int64))


ravel_index = constant(
    "ravel_index", _ravel_index, batch=lambda m, size, inputs, flags, attrs: m.ravel_index(inputs[0], **attrs),
    shape=lambda indices, dims: indices[:-1],
    samples=[sample(_MATRIX, dims=(3, 4)), sample(np.zeros((2, 0), int), dims=()), sample(np.array([1]), dims=(2,))],
)  # fmt: skip


def _fold(name):
    """The batching rule of an op (x, row indices, updates): folds the batch into the rows."""

    def batch(m, size, inputs, flags, attrs):
        x, indices, updates = (broadcast_batch(m, value, flag, size) for value, flag in zip(inputs, flags, strict=True))
        count = x.dims[1]
        offsets = m.constant(np.arange(size, dtype=indices.dtype.numpy).reshape(size, *(1,) * (len(indices.dims) - 1)))
        rows = m.reshape(indices + offsets * count, shape=(size * indices.dims[1],))
        y = getattr(m, name)(
            m.reshape(x, shape=(size * count, *x.dims[2:])), rows,
            m.reshape(updates, shape=(size * indices.dims[1], *x.dims[2:])),
        )  # fmt: skip
        return m.reshape(y, shape=x.dims)

    return batch


def _putting(name):
    """The rules of an op (x, indices, updates) that overwrites rows."""

    def back(m, g, indices, u_shape, need):
        zeros = m.zeros_like(m.gather(g, indices, axis=0, batch=0))
        return (
            getattr(m, name)(g, indices, zeros) if need[0] else None,
            None,
            m.gather(g, indices, axis=0, batch=0) if need[2] else None,
        )

    def forward(m, inputs, y, attrs, ts):
        x, indices, u = inputs
        if ts[0] is None and ts[2] is None:
            return None
        tx, _, tu = ts
        return getattr(m, name)(m.zeros_like(x) if tx is None else tx, indices, m.zeros_like(u) if tu is None else tu)

    return {"vjp": back, "jvp": forward}


# Of several updates to one row the last one stays; as in TensorFlow, the rule assumes distinct rows.
put_rows = opaque(
    "put_rows", lambda xp, x, indices, u: put(xp.asarray(x, copy=True), indices, u), **_putting("put_rows"),
    shape=same_shape,
    batch=_fold("put_rows"), moves_data=True,
    samples=[
        sample((4, 2), np.array([2, 0]), (2, 2)),
        sample((3,), np.array([1]), (1,)),
        sample((3,), np.zeros(0, int), (0,)),
    ],
)  # fmt: skip


def _put_row(xp, x, indices, u):
    if can_read_values(xp) and not 0 <= indices < len(x):
        raise errors.InvalidArgumentError(f"Trying to modify element {indices} in a list with {len(x)} elements.")
    return put(xp.asarray(x, copy=True), indices, u)


def _batch_put_row(m, size, inputs, flags, attrs):
    """Concatenates the rows of all members and updates one row of each in a single call."""
    x, index, u = (broadcast_batch(m, value, flag, size) for value, flag in zip(inputs, flags, strict=True))
    count = x.dims[1]
    offsets = m.constant(np.arange(size, dtype=index.dtype.numpy) * count)
    y = m.put_rows(m.reshape(x, shape=(size * count, *x.dims[2:])), index + offsets, u)
    return m.reshape(y, shape=x.dims)


put_row = opaque(
    "put_row", _put_row, **_putting("put_row"), batch=_batch_put_row, moves_data=True,
    shape=same_shape,
    samples=[sample((4, 2), np.array(2), (2,)), sample((3,), np.array(0), ()), sample((2, 0), np.array(1), (0,))],
)  # fmt: skip


def _extreme_rows(which):
    return lambda xp, x, indices, u: combine_at(xp, f"{which}imum", xp.asarray(x, copy=True), indices, u)


def _extreme_rows_back(m, g, x, indices, u, y):
    """Divides the cotangent equally among the elements that equal the extreme value."""
    kept = m.equal(x, y)
    chosen = m.equal(u, m.gather(y, indices, axis=0, batch=0))
    votes = m.scatter_add(m.cast(chosen, dtype=u.dtype), indices, shape=tuple(x.shape))
    share = g / (m.cast(kept, dtype=x.dtype) + votes)
    return m.where(kept, share, 0), None, m.where(chosen, m.gather(share, indices, axis=0, batch=0), 0)


max_rows, min_rows = (
    opaque(
        f"{which}_rows", _extreme_rows(which), vjp=_extreme_rows_back, batch=_fold(f"{which}_rows"),
        on=NUMERIC, shape=same_shape,
        samples=[sample((4, 2), np.array([2, 0, 2]), (3, 2)), sample((3,), np.array([1, 1]), (2,))],
    )
    for which in ("max", "min")
)  # fmt: skip


def _one_hot(xp, indices, on, off, *, depth, axis):
    places = xp.arange(depth).reshape((depth, *(1,) * (indices.ndim - axis)))
    return xp.where(xp.expand_dims(indices, axis) == places, on, off)


@numpy_kernel(_one_hot)
def _numpy_one_hot(indices, on, off, *, depth, axis):
    if indices.size * depth <= ONE_HOT:
        return _one_hot(np, indices, on, off, depth=depth, axis=axis)
    y = np.full((*indices.shape[:axis], depth, *indices.shape[axis:]), off)  # of which few entries are written
    inside = (indices >= 0) & (indices < depth)
    places = np.where(inside, indices, 0).astype(np.intp)
    np.put_along_axis(y, np.expand_dims(places, axis), np.expand_dims(np.where(inside, on, off), axis), axis)
    return y


def _batch_one_hot(m, size, inputs, flags, attrs):
    if flags[1] or flags[2]:
        return NotImplemented
    return m.one_hot(*inputs, depth=attrs["depth"], axis=attrs["axis"] + 1)


one_hot = constant(
    "one_hot", _one_hot, batch=_batch_one_hot, moves_data=True,
    shape=lambda indices, on, off, depth, axis: (*indices[:axis], depth, *indices[axis:]),
    samples=[
        sample(np.array([0, 3, -1]), np.array(1.0), np.array(0.0), depth=3, axis=1),
        sample(np.array([[0, 2]]), np.array(1), np.array(0), depth=3, axis=0),
        sample(np.array(1), np.array(True), np.array(False), depth=2, axis=0),
    ],
)  # fmt: skip
