"""How a variable gets another value: assigned, added to, in place or not.

An assignment replaces the value, or writes into it where nobody else can see it: what was read before keeps the value
it had.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import add, ndarray, subtract

from ..backends.numpy.blocks import accumulate, combined
from ..backends.tuning import LARGE, UPDATED_IN_PLACE
from ..core import dtypes, errors
from ..core.shapes import TensorShape
from ..core.tensor import Tensor, wrap
from ..engine.run import dispatch
from ..engine.run.convert import to_tensor
from ..engine.run.dispatch import thread
from ..engine.run.namespace import ops
from .variable_parts import Parts, updating

_ARITHMETIC = dtypes.INT | dtypes.FLOAT | dtypes.COMPLEX


class Updates(Parts):
    """What replaces the value of a variable, or changes it."""

    dims: Any
    value: Callable[[], Tensor]
    _array: Any
    _copy: tuple[Any, Any] | None
    _shape: TensorShape
    _title: str

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Replaces the value; returns the variable, or None unless `read_value`.

        >>> import gradtape as tf
        >>> v = tf.Variable([1.0, 2.0])
        >>> v.assign([3.0, 4.0]).numpy().tolist()
        [3.0, 4.0]
        """
        new = to_tensor(value, dtype=self.dtype)
        if new.dims != self.dims and not self._shape.is_compatible_with(new.shape):
            raise ValueError(
                f"Cannot assign value to variable '{self._title}': Shape mismatch. The variable shape {self._shape}, "
                f"and the assigned value shape {new.shape} are incompatible."
            )
        self._replace(new)
        return self if read_value else None

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Adds to the value.

        >>> import gradtape as tf
        >>> v = tf.Variable([1.0, 2.0])
        >>> v.assign_add([1.0, 1.0]).numpy().tolist()
        [2.0, 3.0]
        """
        self._update(add, delta, 1.0)
        return self if read_value else None

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtracts from the value.

        >>> import gradtape as tf
        >>> v = tf.Variable([1.0, 2.0])
        >>> v.assign_sub([1.0, 1.0]).numpy().tolist()
        [0.0, 1.0]
        """
        self._update(subtract, delta, -1.0)
        return self if read_value else None

    def _update(self, ufunc: np.ufunc, delta: Any, sign: float) -> None:
        """Combines the value with `delta`: a large one in place, when nobody else can see the array."""
        dtype = self.dtype
        plain = type(delta) is Tensor and delta.dtype is dtype and delta.array.shape == self._read.array.shape
        if not (plain and dtype.kind & _ARITHMETIC and thread.recorder is None):
            delta = self._checked(delta)
            if type(delta) is not Tensor or not dtype.kind & _ARITHMETIC or thread.recorder is not None:
                with updating:
                    self._replace((ops.add if sign > 0 else ops.sub)(self._as_tensor(), delta))
                return
        change = delta.array
        with updating:
            if change.nbytes < UPDATED_IN_PLACE or not self._written(accumulate, change, ufunc):
                array = self._array
                if array is None:
                    array = self._settled()
                self._take(ufunc(array, change) if change.size < LARGE else combined(ufunc, array, change))

    def _checked(self, delta: Any) -> Tensor:
        delta = to_tensor(delta, dtype=self.dtype)
        if delta.dims != self.dims:
            raise errors.InvalidArgumentError(
                f"Cannot update variable with shape {list(self.dims)} using a Tensor with shape {list(delta.dims)}, "
                "shapes must be equal. Use tf.broadcast_to where repetition is meant"
            )
        return delta

    def _written(self, write: Callable[..., bool | None], *arguments: Any) -> bool:
        """Whether `write(array, *arguments)` could change the array, that of the value, which nobody else may see.

        It returns False if it could not.
        """
        with updating:
            array = self._array
            self._array = None  # from here on, nobody else gets hold of the array: see `_as_tensor`
            try:
                # It is known here and to the last read, that read to the variable; each count sees itself. Memory that
                # belongs to another array, as after `v.assign(tf.reshape(t, ...))`, may be known to others.
                alone = sys.getrefcount(self._read.array) <= 3 and sys.getrefcount(self._read) <= 2
                own = self._read.array is array and _has_own_memory(array)
                if not (alone and own and array.flags.c_contiguous and array.flags.writeable):
                    return False
                return write(array, *arguments) is not False
            finally:
                if self._array is None:  # nobody has assigned meanwhile
                    self._array = array

    def _replace(self, new: Tensor) -> None:
        trace = thread.trace
        if trace is None and type(new) is not Tensor:
            new = new.cpu()  # before recorders are told: later reads share this memory
        array = None if trace is not None else new.array
        for r in dispatch.listeners():
            r.tracer_of(self, None)
            r.assigned(self, new)
        if trace is not None:
            trace.write(self, new)
        else:
            with updating:
                self._take(array)

    def _take(self, array: Any) -> None:
        """Makes `array`, of the right shape and dtype, the value. The caller holds `updating`."""
        self._copy = None
        self._array = array
        self._read = wrap(array, self.dtype)

    @staticmethod
    def _take_all(take: str, variables: Sequence[Updates], arrays: Sequence[Any]) -> None:
        """Calls the method `take`, `_take` or `_take_from_device`, of each. The caller holds `updating`.

        An interrupt that comes in between is raised when all variables have their arrays.
        """
        try:
            for variable, array in zip(variables, arrays, strict=True):
                getattr(variable, take)(array)
        except BaseException:
            for variable, array in zip(variables, arrays, strict=True):
                getattr(variable, take)(array)
            raise

    def _holds(self, array: Any) -> bool:
        """Whether the value is still the array that was read. The caller holds `updating`."""
        return self._array is array or (self._array is None and self._read.array is array)

    def load(self, value: Any, session: Any = None) -> None:
        """The same as `assign`."""
        self.assign(value)

    def count_up_to(self, limit: int) -> Tensor:
        """Adds 1, unless the value has reached `limit`, which is an `OutOfRangeError`; returns the value before."""
        with updating:
            before = self.value()
            if int(before) >= limit:
                raise errors.OutOfRangeError(f"Reached limit of {limit}")
            self.assign_add(1)
        return before


def _has_own_memory(array: Any) -> bool:
    """Whether an array's memory belongs to it alone, or to one that only it knows."""
    if type(array) is not ndarray:
        return False
    if array.flags.owndata:
        return True
    # Known to the array alone, and here: views of the array would have the same base.
    return type(array.base) is ndarray and array.base.flags.owndata and sys.getrefcount(array.base) <= 2
