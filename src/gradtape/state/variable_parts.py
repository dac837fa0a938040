"""Partial reads and updates of variables: rows, entries and slices."""

from __future__ import annotations

import math
import operator
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import errors
from ..core.dtypes import DType
from ..core.slices import IndexedSlices
from ..core.tensor import Tensor
from ..engine.run.convert import to_tensor
from ..engine.run.dispatch import unrecorded
from ..engine.run.namespace import ops
from .rows import Combine, as_rows, combined, last, named_rows, row_numbers, scattered, writable, write

# Held from reading a value to writing its successor: no update is lost, and donated memory is not read.
updating = threading.RLock()


class Parts:
    """The methods of a variable that read or update parts of its value."""

    dtype: DType
    _as_tensor: Callable[[], Tensor]
    _read: Tensor
    _replace: Callable[[Tensor], None]
    _settled: Callable[[], Any]
    _take: Callable[[Any], None]
    _written: Callable[..., bool]

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """Gather the rows at `indices`.

        >>> import gradtape as tf
        >>> tf.Variable([1.0, 2.0, 3.0]).sparse_read([2, 0]).numpy().tolist()
        [3.0, 1.0]
        """
        at = to_tensor(indices)
        return self.gather_nd(ops.reshape(at, shape=(*at.dims, 1)))

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """Gather the entries or slices at `indices`, whose last axis indexes the first axes of the variable.

        >>> import gradtape as tf
        >>> tf.Variable([[1.0, 2.0], [3.0, 4.0]]).gather_nd([[1, 0]]).numpy().tolist()
        [3.0]
        """
        at, x = to_tensor(indices), self._as_tensor()
        rows = x if at.dims[-1] == 1 else as_rows(x, at.dims[-1])
        return ops.gather_rows(rows, ops.cast(row_numbers(x.dims, at), dtype=at.dtype))

    def scatter_update(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Replace the rows at the slices' indices; the last update of a row wins.

        >>> import gradtape as tf
        >>> v = tf.Variable([1.0, 2.0, 3.0])
        >>> v.scatter_update(tf.IndexedSlices(tf.constant([9.0]), tf.constant([1]))).numpy().tolist()
        [1.0, 9.0, 3.0]
        """
        return self._scatter_slices(sparse_delta, last)

    def scatter_add(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Add the slices to the rows at their indices."""
        return self._scatter_slices(sparse_delta, operator.add)

    def scatter_sub(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Subtract the slices from the rows at their indices."""
        return self._scatter_slices(sparse_delta, operator.sub)

    def scatter_mul(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Multiply the rows at the slices' indices."""
        return self._scatter_slices(sparse_delta, operator.mul)

    def scatter_div(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Divide the rows at the slices' indices; integer division truncates."""
        is_exact = self.dtype.is_floating or self.dtype.is_complex
        return self._scatter_slices(sparse_delta, operator.truediv if is_exact else ops.truncatediv)

    def scatter_max(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Replace rows by the maximum of themselves and the slices."""
        return self._scatter_slices(sparse_delta, ops.maximum)

    def scatter_min(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Replace rows by the minimum of themselves and the slices."""
        return self._scatter_slices(sparse_delta, ops.minimum)

    def batch_scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Apply `scatter_update` to each batch member; the leading axes of the indices are batch axes."""
        at = to_tensor(_slices(sparse_delta).indices)
        batch = [to_tensor(axis.astype(at.dtype.numpy)) for axis in np.indices(at.dims)[:-1]]
        return self._scatter(ops.stack(*batch, at, axis=len(at.dims)), sparse_delta.values, last)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replace the entries or slices at `indices`, whose last axis indexes the first axes of the variable.

        >>> import gradtape as tf
        >>> v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        >>> v.scatter_nd_update([[0, 1]], [9.0]).numpy().tolist()
        [[1.0, 9.0], [3.0, 4.0]]
        """
        return self._scatter(to_tensor(indices), updates, last)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Add to the entries or slices at `indices`."""
        return self._scatter(to_tensor(indices), updates, operator.add)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Subtract from the entries or slices at `indices`."""
        return self._scatter(to_tensor(indices), updates, operator.sub)

    def scatter_nd_max(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replace entries or slices at `indices` by the maximum of themselves and the updates."""
        return self._scatter(to_tensor(indices), updates, ops.maximum)

    def scatter_nd_min(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replace entries or slices at `indices` by the minimum of themselves and the updates."""
        return self._scatter(to_tensor(indices), updates, ops.minimum)

    def _scatter_slices(self, slices: IndexedSlices, combine: Combine) -> Any:
        at = to_tensor(_slices(slices).indices)
        return self._scatter(ops.reshape(at, shape=(*at.dims, 1)), slices.values, combine)

    def _scatter(self, indices: Tensor, updates: Any, combine: Combine) -> Any:
        with updating:
            quiet = unrecorded()
            dims = (self._read if quiet else self._as_tensor()).dims  # a trace may have assigned another shape
            at, values = named_rows(dims, self.dtype, indices, updates)
            if quiet and writable(self.dtype, at, values, combine):
                self._write_rows(at.array, values.array, combine)
            else:
                self._replace(scattered(self._as_tensor(), indices.dims[-1], at, values, combine))
        return self

    def _write_rows(self, at: Any, values: Any, combine: Combine) -> None:
        """Update these rows: in place if no other reference to the array exists, else in a copy (copy-on-write)."""
        if not self._written(write, at, values, combine):
            array = np.array(self._settled(), order="C")
            write(array, at, values, combine)
            self._take(array if array.shape else array[()])

    def __getitem__(self, key: Any) -> Tensor:
        part = self._as_tensor()[key]
        at = id(part)
        _sliced[at] = (weakref.ref(part, lambda _: _sliced.pop(at, None)), self, key)
        return part

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError(f"'Variable' object does not support item assignment. Use v[{key!r}].assign({value!r})")


def _slices(value: Any) -> IndexedSlices:
    if not isinstance(value, IndexedSlices):
        raise TypeError(f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {value!r}")
    return value


# Maps the id of a live slice `v[key]` to its variable and key, for `v[key].assign(value)`.
_sliced: dict[int, tuple[weakref.ref[Tensor], Parts, Any]] = {}


def _slice_assign(part: Tensor) -> Callable[..., Any]:
    """Return the `assign` of a slice: `v[key].assign(value)` writes to that part of the variable."""
    found = _sliced.get(id(part))
    if found is None:
        raise AttributeError("only a slice of a variable can be assigned to")
    _, variable, key = found

    def assign(value: Any, name: str | None = None) -> Any:
        new = to_tensor(value, dtype=variable.dtype)
        more = max(len(new.dims) - len(part.dims), 0)
        try:
            fitting = ops.reshape(new, shape=new.dims[more:]) if new.dims[:more] == (1,) * more else new
            spread = ops.broadcast_to(fitting, shape=part.dims)
        except (ValueError, errors.InvalidArgumentError):
            raise errors.InvalidArgumentError(
                f"Cannot broadcast input shape {list(new.dims)} into final shape {list(part.dims)}"
            ) from None
        values = ops.reshape(spread, shape=(math.prod(part.dims),))
        with updating:
            old = variable._as_tensor()
            positions = to_tensor(np.arange(math.prod(old.dims)).reshape(old.dims))[key]
            positions = ops.reshape(positions, shape=(math.prod(part.dims),))
            flat = ops.reshape(old, shape=(math.prod(old.dims),))
            variable._replace(ops.reshape(combined(flat, positions, values, last), shape=old.dims))
        return variable

    return assign


Tensor.assign = property(_slice_assign)  # type: ignore[attr-defined]
