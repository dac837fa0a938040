"""Updates of variables: assignment of the value, and reads and updates of its rows, entries and slices."""

from __future__ import annotations

import math
import operator
import weakref
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from ..core import errors
from ..core.dtypes import DType
from ..core.shapes import TensorShape
from ..core.sizes.expression import same_shape
from ..core.slices import IndexedSlices
from ..core.tensor import Tensor
from ..core.tracebacks import hide_frames
from ..engine.run import dispatch
from ..engine.run.convert import to_tensor
from ..engine.run.dispatch import thread, unrecorded
from ..engine.run.namespace import ops
from .rows import ARITHMETIC, Combine, as_rows, combined, last, named_rows, row_numbers, scattered
from .storage import Storage, updating


class Updates:
    """The methods of a variable that replace its value, or read or update parts of it."""

    dtype: DType
    dims: Any
    trainable: Any
    value: Callable[[], Tensor]
    _as_tensor: Callable[[], Tensor]
    _shape: TensorShape
    _storage: Storage
    _title: str
    _trainable: bool

    def assign(self, value: object, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Replace the value; return the variable, or None unless `read_value`.

        Args:
          value: the new value, of the variable's shape.
          use_locking: ignored, because assignments are atomic in any case.
          read_value: whether to return the variable.

        Returns:
          The variable, or None if `read_value` is false.

        Raises:
          ValueError: if the shapes differ.
          TypeError: if the value does not convert to the variable's dtype.

        >>> v = tf.Variable([1.0, 2.0])
        >>> v.assign([3.0, 4.0]).numpy().tolist()
        [3.0, 4.0]
        """
        try:
            storage = self._storage
            is_here = type(value) is storage.tensor_class and value.dtype is self.dtype
            new: Any = value if is_here else to_tensor(value, dtype=self.dtype)
            if new.dims != storage.dims and not self._shape.is_compatible_with(new.shape):
                raise ValueError(
                    f"Cannot assign value to variable '{self._title}': Shape mismatch. The variable shape "
                    f"{self._shape}, and the assigned value shape {new.shape} are incompatible."
                )
            self._replace(new)
            return self if read_value else None
        except Exception as error:
            hide_frames(error)
            raise

    def assign_add(
        self, delta: object, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Add to the value.

        Args:
          delta: the value to add, of the variable's shape.
          use_locking: ignored, because assignments are atomic in any case.
          read_value: whether to return the variable.

        Returns:
          The variable, or None if `read_value` is false.

        Raises:
          ValueError: if the shapes differ.
          TypeError: if the value does not convert to the variable's dtype.

        >>> v = tf.Variable([1.0, 2.0])
        >>> v.assign_add([1.0, 1.0]).numpy().tolist()
        [2.0, 3.0]
        """
        try:
            self._update(np.add, delta)
            return self if read_value else None
        except Exception as error:
            hide_frames(error)
            raise

    def assign_sub(
        self, delta: object, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtract from the value.

        Args:
          delta: the value to subtract, of the variable's shape.
          use_locking: ignored, because assignments are atomic in any case.
          read_value: whether to return the variable.

        Returns:
          The variable, or None if `read_value` is false.

        Raises:
          ValueError: if the shapes differ.
          TypeError: if the value does not convert to the variable's dtype.

        >>> v = tf.Variable([1.0, 2.0])
        >>> v.assign_sub([1.0, 1.0]).numpy().tolist()
        [0.0, 1.0]
        """
        try:
            self._update(np.subtract, delta)
            return self if read_value else None
        except Exception as error:
            hide_frames(error)
            raise

    def _update(self, ufunc: np.ufunc, delta: object) -> None:
        """Combine the value with `delta`: in the storage, or by ops if they are recorded or traced."""
        if thread.recorder is None and self.dtype.kind & ARITHMETIC:
            storage, title = self._storage, self._title
            if storage.accumulate(ufunc, delta, title) or storage.accumulate(ufunc, self._checked(delta), title):
                return
        change = self._checked(delta)
        with updating:
            self._replace((ops.add if ufunc is np.add else ops.sub)(self._as_tensor(), change))

    def _checked(self, delta: object) -> Tensor:
        change, dims = to_tensor(delta, dtype=self.dtype), self._storage.dims
        if change.dims != dims:
            raise errors.InvalidArgumentError(
                f"Cannot update variable with shape {list(dims)} using a Tensor with shape {list(change.dims)}, "
                "shapes must be equal. Use tf.broadcast_to where repetition is meant"
            ).about(dims, change.dims)
        return change

    def _replace(self, new: Tensor) -> None:
        trace, storage = thread.trace, self._storage
        if trace is None and type(new) is not storage.tensor_class:
            new = storage.received(new)  # before recorders are notified: later reads share this memory
        for r in dispatch.listeners() if thread.recorder is not None else ():
            r.tracer_of(self, None)
            r.assigned(self, new)
        if trace is not None:
            trace.write(self, new)
        else:
            with updating:
                storage.put(new)

    def load(self, value: object, session: object = None) -> None:
        """Same as `assign`."""
        self.assign(value)

    def count_up_to(self, limit: int) -> Tensor:
        """Add 1 and return the previous value; raise `OutOfRangeError` if it has reached `limit`."""
        with updating:
            before = self.value()
            if int(before) >= limit:
                raise errors.OutOfRangeError(f"Reached limit of {limit}")
            self.assign_add(1)
        return before

    def sparse_read(self, indices: object, name: str | None = None) -> Tensor:
        """Gather the rows at `indices`.

        >>> tf.Variable([1.0, 2.0, 3.0]).sparse_read([2, 0]).numpy().tolist()
        [3.0, 1.0]
        """
        at = to_tensor(indices)
        return self.gather_nd(ops.reshape(at, shape=(*at.dims, 1)))

    def gather_nd(self, indices: object, name: str | None = None) -> Tensor:
        """Gather the entries or slices at `indices`, whose last axis indexes the first axes of the variable.

        >>> tf.Variable([[1.0, 2.0], [3.0, 4.0]]).gather_nd([[1, 0]]).numpy().tolist()
        [3.0]
        """
        at, x = to_tensor(indices), self._as_tensor()
        rows = x if at.dims[-1] == 1 else as_rows(x, at.dims[-1])
        return ops.gather_rows(rows, ops.cast(row_numbers(x.dims, at), dtype=at.dtype))

    def scatter_update(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Replace the rows at the slices' indices; the last update of a row wins.

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

    def scatter_nd_update(self, indices: object, updates: object, name: str | None = None) -> Any:
        """Replace the entries or slices at `indices`, whose last axis indexes the first axes of the variable.

        >>> v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        >>> v.scatter_nd_update([[0, 1]], [9.0]).numpy().tolist()
        [[1.0, 9.0], [3.0, 4.0]]
        """
        return self._scatter(to_tensor(indices), updates, last)

    def scatter_nd_add(self, indices: object, updates: object, name: str | None = None) -> Any:
        """Add to the entries or slices at `indices`."""
        return self._scatter(to_tensor(indices), updates, operator.add)

    def scatter_nd_sub(self, indices: object, updates: object, name: str | None = None) -> Any:
        """Subtract from the entries or slices at `indices`."""
        return self._scatter(to_tensor(indices), updates, operator.sub)

    def scatter_nd_max(self, indices: object, updates: object, name: str | None = None) -> Any:
        """Replace entries or slices at `indices` by the maximum of themselves and the updates."""
        return self._scatter(to_tensor(indices), updates, ops.maximum)

    def scatter_nd_min(self, indices: object, updates: object, name: str | None = None) -> Any:
        """Replace entries or slices at `indices` by the minimum of themselves and the updates."""
        return self._scatter(to_tensor(indices), updates, ops.minimum)

    def _scatter_slices(self, slices: IndexedSlices, combine: Combine) -> Any:
        at = to_tensor(_slices(slices).indices)
        if at.has_dynamic_sizes and at.ndim == 1:
            x, values = self._as_tensor(), to_tensor(slices.values, dtype=self.dtype)
            if at.dtype.is_integer and same_shape(values.symbolic_dims, (*at.symbolic_dims, *x.dims[1:])):
                self._replace(combined(x, at, values, combine))
                return self
        return self._scatter(at, slices.values, combine, has_axis=False)

    def _scatter(self, indices: Tensor, updates: object, combine: Combine, has_axis: bool = True) -> Self:
        with updating:
            eager = unrecorded()
            dims = self._storage.dims if eager else self._as_tensor().dims  # a trace may have assigned another shape
            at, values = named_rows(dims, self.dtype, indices, updates, has_axis)
            if not (eager and self._storage.write_rows(at, values, combine)):
                depth = indices.dims[-1] if has_axis else 1
                self._replace(scattered(self._as_tensor(), depth, at, values, combine))
        return self

    def __getitem__(self, key: object) -> Tensor:
        part = self._as_tensor()[key]
        at = id(part)
        _sliced[at] = (weakref.ref(part, lambda _: _sliced.pop(at, None)), self, key)
        return part

    def __setitem__(self, key: object, value: object) -> None:
        raise TypeError(f"'Variable' object does not support item assignment. Use v[{key!r}].assign({value!r})")


def _slices(value: object) -> IndexedSlices:
    if not isinstance(value, IndexedSlices):
        raise TypeError(f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {value!r}")
    return value


# Maps the id of a live slice `v[key]` to its variable and key, for `v[key].assign(value)`.
_sliced: dict[int, tuple[weakref.ref[Tensor], Updates, Any]] = {}


def _slice_assign(part: Tensor) -> Callable[..., Any]:
    """Returns the `assign` of a slice: `v[key].assign(value)` writes to that part of the variable."""
    found = _sliced.get(id(part))
    if found is None:
        raise AttributeError("'Tensor' object has no attribute 'assign': only a slice of a variable can be assigned to")
    _, variable, key = found

    def assign(value: object, name: str | None = None) -> Any:
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
