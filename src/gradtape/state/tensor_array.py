"""`TensorArray`: a list of tensors of one dtype, read and written by index; differentiable through its elements.

In eager mode it is a list. In a trace, each write returns a new array, and an array of fixed length may be *stacked*:
one tensor with a row per element. Loops carry the stacked form, and traced indices require it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import errors
from ..core.dtypes import DType, as_dtype, zero_array
from ..core.nest import Composite
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..core.tracebacks import bounded
from ..engine.run import dispatch
from ..engine.run.convert import to_array, to_tensor
from ..engine.run.namespace import ops

_CLEARED = object()


class Unmade:
    """The rows of a loop-carried array, created by `make` once the shape of its elements is known."""

    def __init__(self, make: Callable[[tuple[int, ...]], Tensor]) -> None:
        self.rows: Tensor | None = None
        self.make = make


@bounded
class TensorArray(Composite):
    """A list of tensors that can grow, for loops that compute a sequence of values.

    Each write returns the array to use from then on: `ta = ta.write(i, x)`.

    >>> ta = tf.TensorArray(tf.float32, size=2)
    >>> ta = ta.write(0, 1.0).write(1, 2.0)
    >>> ta.stack().numpy().tolist()
    [1.0, 2.0]

    Args:
      dtype: the dtype of the elements.
      size: the initial number of elements.
      dynamic_size: whether a write past the end extends the array.
      clear_after_read: whether an element can be read only once; True by default.
      infer_shape: whether all elements must have one shape.
      element_shape: the required shape of elements; elements that were never written are zeros of it.
    """

    def __init__(
        self, dtype: object, size: Any = None, dynamic_size: bool | None = None, clear_after_read: bool | None = None,
        tensor_array_name: str | None = None, handle: object = None, flow: object = None, infer_shape: bool = True,
        element_shape: object = None, colocate_with_first_write_call: bool = True, name: str | None = None,
    ) -> None:  # fmt: skip
        if handle is not None:
            raise ValueError("TensorArray handles are not supported when eager execution is enabled.")
        if size is None:
            raise ValueError("Size must be declared for TensorArrays when eager execution is enabled.")
        self._dtype = as_dtype(dtype)
        self._dynamic_size = bool(dynamic_size)
        self._clear_after_read = clear_after_read is None or bool(clear_after_read)
        self._infer_shape = infer_shape
        self._element_shape = TensorShape(element_shape)
        self._entries: list[Any] = [None] * int(size)
        self._stacked: Tensor | Unmade | None = None  # the rows, in place of `_entries`

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._dtype

    @property
    def dynamic_size(self) -> bool:
        """Whether a write past the end extends the array."""
        return self._dynamic_size

    @property
    def element_shape(self) -> TensorShape:
        """The static shape of the elements."""
        return self._element_shape

    @property
    def handle(self) -> None:
        """None: an eager TensorArray has no resource."""

    @property
    def flow(self) -> Tensor:
        """A constant: program order determines the order of reads and writes."""
        return to_tensor(0)

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements.

        >>> int(tf.TensorArray(tf.float32, size=3).size())
        3
        """
        return to_tensor(len(self._entries))

    def identity(self) -> TensorArray:
        """Returns a TensorArray that shares its elements with this one."""
        same = object.__new__(TensorArray)
        vars(same).update(vars(self))
        return same

    def copy(self) -> TensorArray:
        """Returns a TensorArray with the same elements, whose reads and writes do not affect this one."""
        same = self.identity()
        same._entries = list(self._entries)
        return same

    @property
    def may_be_stacked(self) -> bool:
        """Whether the length is fixed and all elements have one shape."""
        return not self._dynamic_size and self._infer_shape

    @property
    def entry_dims(self) -> tuple[int, ...] | None:
        """The shape of the elements, if known."""
        if isinstance(self._stacked, Unmade) and self._stacked.rows is not None:
            return self._stacked.rows.dims[1:]
        return tuple(n or 0 for n in self._element_shape) if self._element_shape.is_fully_defined() else None

    def rows(self, dims: tuple[int, ...] | None = None) -> Tensor:
        """Returns all elements as one tensor; elements of shape `dims` that were never written are zeros."""
        held = self._stacked
        if isinstance(held, Unmade):
            if held.rows is None:
                known = self.entry_dims if dims is None else dims
                assert known is not None
                held.rows = held.make(known)
            return held.rows
        if held is not None:
            return held
        if dims is not None:
            self._element_shape = self._element_shape.merge_with(dims)
        if all(entry is None for entry in self._entries):
            known = tuple(n or 0 for n in self._element_shape)
            return self._zeros((len(self._entries), *known))
        return self.stack()

    def _zeros(self, dims: tuple[int, ...]) -> Tensor:
        """Zeros for elements that were never written."""
        return Tensor(zero_array(dims, self._dtype), self._dtype)

    def _rows_up_to(self, index: object, dims: tuple[int, ...]) -> Tensor:
        """Returns the rows, extended with zeros as needed to write at `index`."""
        rows = self.rows(dims)
        missing = int(to_array(index).__index__()) + 1 - rows.dims[0] if self._dynamic_size else 0
        if missing <= 0:
            return rows
        return ops.concat(rows, self._zeros((missing, *dims)), axis=0)

    def stacked(self, rows: Tensor | Unmade) -> TensorArray:
        """Returns the array with these rows as its elements."""
        new = self.identity()
        new._stacked = rows
        new._entries = [None] * (rows.dims[0] if isinstance(rows, Tensor) else len(self._entries))
        if isinstance(rows, Tensor):
            new._element_shape = TensorShape(rows.dims[1:])
        return new

    def _parts(self) -> list[Any]:
        return [] if self.entry_dims is None else [self.rows()]

    def _with_parts(self, parts: Sequence[Any]) -> TensorArray:
        return self.stacked(parts[0]) if parts else self

    def _is_by_row(self, index: object) -> bool:
        """Whether an element must be accessed as a row of the stacked tensor."""
        if self._stacked is not None:
            return True
        traced = isinstance(index, Tensor) and type(index) is not Tensor
        return traced and self.may_be_stacked and dispatch.thread.trace is not None

    def _of_its_own(self) -> TensorArray:
        """Returns the array to modify: this one or, in a trace, a copy."""
        return self if dispatch.thread.trace is None else self.identity()

    def close(self, name: str | None = None) -> None:
        """Release all elements."""
        self._entries.clear()

    def grad(self, source: object, flow: object = None, name: str | None = None) -> Any:
        """Not available: tapes differentiate through the elements."""
        raise NotImplementedError(
            "TensorArray.grad is not supported when executing eagerly; eager's gradient implementation does not "
            "use/need this function to compute gradients of operations that use TensorArrays."
        )

    def write(self, index: object, value: object, name: str | None = None) -> TensorArray:
        """Set the element at `index`; return the array to use from then on.

        >>> ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        >>> ta.write(2, 5.0).stack().numpy().tolist()
        [0.0, 0.0, 5.0]
        """
        if self._is_by_row(index):
            entry = self._fitting(value)
            return self.stacked(ops.put_row(self._rows_up_to(index, entry.dims), to_tensor(index), entry))
        at = int(to_array(index).__index__())
        if at < 0:
            raise errors.OutOfRangeError(f"Writing to negative indices (index {at}) is not allowed.")
        if at >= len(self._entries) and not self._dynamic_size:
            raise _outside(
                f"Tried to write to index {at} but array is not resizeable and size is: {len(self._entries)}. Use "
                "dynamic_size=True",
                f"Trying to modify element {at} in a list with {len(self._entries)} elements. Use dynamic_size=True",
            )
        entry = self._fitting(value)
        new = self.identity()
        if dispatch.thread.trace is not None:
            new._entries = list(self._entries)
        new._entries.extend([None] * (at + 1 - len(new._entries)))
        new._entries[at] = entry
        return new

    def _fitting(self, value: object) -> Tensor:
        """Convert `value` to an element of this array."""
        entry = to_tensor(value, hint=self._dtype)
        if entry.dtype is not self._dtype:
            raise errors.InvalidArgumentError(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {entry.dtype.name}. "
                "Use tf.cast"
            )
        shape = entry.shape
        if not self._element_shape.is_compatible_with(shape):
            raise ValueError(
                f"Incompatible shape for value ({shape}), expected ({self._element_shape}). Use "
                "infer_shape=False for entries of different shapes"
            )
        if self._infer_shape:
            self._element_shape = self._element_shape.merge_with(shape)
        return entry

    def read(self, index: object, name: str | None = None) -> Tensor:
        """Returns the element at `index`."""
        if self._is_by_row(index) and self.entry_dims is not None:
            return ops.gather_rows(self.rows(), to_tensor(index))
        at = int(to_array(index).__index__())
        if not 0 <= at < len(self._entries):
            raise _outside(
                f"Tried to read from index {at} but array size is: {len(self._entries)} ",
                f"Trying to access element {at} in a list with {len(self._entries)} elements.",
            )
        entry = self._entry(at)
        if self._clear_after_read and dispatch.thread.trace is None:
            self._entries[at] = _CLEARED
        return entry

    def _entry(self, at: int) -> Tensor:
        entry = self._entries[at]
        if entry is _CLEARED:
            raise errors.InvalidArgumentError(
                f"Could not read index {at} twice because it was cleared after a previous read (perhaps try setting "
                "clear_after_read = false?)"
            )
        if entry is None:
            shape = self._element_shape
            if not shape.is_fully_defined():
                raise _misuse()(
                    f"entry {at} was never written, and zeros cannot stand for it: the element shape is {shape}. Write "
                    "it first, or give `element_shape`"
                )
            entry = self._entries[at] = self._zeros(tuple(n or 0 for n in shape))
        return entry

    def stack(self, name: str | None = None) -> Tensor:
        """Stack all elements along a new first axis."""
        if self._stacked is not None:
            return self.rows()
        if self._entries:
            return ops.stack(*map(self._entry, range(len(self._entries))), axis=0)
        known = self._element_shape.rank is not None
        row = tuple(n or 0 for n in self._element_shape) if known else ()
        return self._zeros((0, *row))

    def gather(self, indices: object, name: str | None = None) -> Tensor:
        """Stack the elements at `indices` along a new first axis.

        >>> tf.TensorArray(tf.float32, size=3).unstack([1.0, 2.0, 3.0]).gather([2, 0]).numpy().tolist()
        [3.0, 1.0]
        """
        if self._is_by_row(indices) and self.entry_dims is not None:
            return ops.gather_rows(self.rows(), to_tensor(indices))
        return ops.stack(*[self._entry(int(at)) for at in to_array(indices)], axis=0)

    def concat(self, name: str | None = None) -> Tensor:
        """Concatenate all elements along their first axis."""
        if self._stacked is not None:
            rows = self.rows()
            return ops.reshape(rows, shape=(rows.dims[0] * rows.dims[1], *rows.dims[2:]))
        if not self._entries:
            raise errors.InvalidArgumentError("concat needs at least one entry, and this TensorArray is empty")
        return ops.concat(*map(self._entry, range(len(self._entries))), axis=0)

    def unstack(self, value: object, name: str | None = None) -> TensorArray:
        """Make the rows of `value` the elements.

        >>> tf.TensorArray(tf.float32, size=2).unstack([1.0, 2.0]).read(1).numpy()
        np.float32(2.0)
        """
        rows = to_tensor(value, hint=self._dtype)
        if not rows.dims:
            raise ValueError("unstack needs a value with a first axis, got a scalar")
        count = rows.dims[0]
        if count > len(self._entries) and not self._dynamic_size:
            raise _misuse()(f"Cannot unstack {count} tensors into a TensorArray of static size {len(self._entries)} ")
        new = self._of_its_own()
        if new is not self and self.may_be_stacked and count:
            new._fitting(rows[0])
            return new.stacked(rows)
        new._entries = [new._fitting(rows[i]) for i in range(count)]
        return new.identity()

    def scatter(self, indices: object, value: object, name: str | None = None) -> TensorArray:
        """Write the rows of `value` to the elements at `indices`.

        >>> tf.TensorArray(tf.float32, size=3).scatter([2, 0], [1.0, 2.0]).stack().numpy().tolist()
        [2.0, 0.0, 1.0]
        """
        rows = to_tensor(value, hint=self._dtype)
        if self._is_by_row(indices):
            return self.stacked(ops.put_rows(self.rows(rows.dims[1:]), to_tensor(indices), rows))
        new = self
        for row, at in enumerate(to_array(indices)):
            new = new.write(at, rows[row])
        return new

    def split(self, value: object, lengths: object, name: str | None = None) -> TensorArray:
        """Split `value` along its first axis into consecutive parts of these lengths, as the elements.

        >>> tf.TensorArray(tf.float32, size=2).split([1.0, 2.0, 3.0], [1, 2]).read(1).numpy().tolist()
        [2.0, 3.0]
        """
        whole, given = to_tensor(value, hint=self._dtype), to_array(lengths)
        if given.ndim != 1:
            raise errors.InvalidArgumentError(f"Expected lengths to be a vector, received shape: {list(given.shape)}")
        if not whole.dims:
            raise errors.InvalidArgumentError("Expected value to be at least a vector, but received shape: []")
        sizes = given.tolist()
        if sum(sizes) != whole.dims[0]:
            raise errors.InvalidArgumentError(
                "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                f"{sum(sizes)} and value's shape is: {list(whole.dims)} "
            )
        if len(sizes) != len(self._entries) and not self._dynamic_size:
            raise errors.InvalidArgumentError(
                f"TensorArray's size is not equal to the size of lengths ({len(self._entries)} vs. {len(sizes)}), and "
                "the TensorArray is not marked as dynamically resizeable."
            )
        new = self._of_its_own()
        if len(set(sizes)) > 1:
            new._infer_shape = False
        ends = np.cumsum(sizes).tolist()
        new._entries = [new._fitting(whole[end - n : end]) for n, end in zip(sizes, ends, strict=True)]
        return new.identity()


TensorArray.__module__ = "gradtape"


def _outside(eagerly: str, in_a_function: str) -> errors.OpError:
    """The error for an index out of range: TensorFlow raises different errors in eager code and in functions."""
    if dispatch.thread.trace is None:
        return errors.OutOfRangeError(eagerly)
    error = errors.InvalidArgumentError(in_a_function)
    error.about_values = True
    return error


def _misuse() -> type[Exception]:
    """The error class for misuse: ValueError in eager code, a runtime error in functions."""
    return ValueError if dispatch.thread.trace is None else errors.InvalidArgumentInTraceError
