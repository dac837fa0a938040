"""Assignment to variables: replaces the value, or updates it in place.

Copy-on-write: the array is updated in place only if no other reference to it exists, so a tensor that was read before
keeps its value.
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
    """The methods of a variable that replace or update its value."""

    dims: Any
    trainable: Any
    value: Callable[[], Tensor]
    _array: Any
    _copy: tuple[Any, Any] | None
    _shape: TensorShape
    _title: str

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Replace the value; return the variable, or None unless `read_value`.

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
        """Add to the value.

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
        """Subtract from the value.

        >>> import gradtape as tf
        >>> v = tf.Variable([1.0, 2.0])
        >>> v.assign_sub([1.0, 1.0]).numpy().tolist()
        [0.0, 1.0]
        """
        self._update(subtract, delta, -1.0)
        return self if read_value else None

    def _update(self, ufunc: np.ufunc, delta: Any, sign: float) -> None:
        """Combine the value with `delta`; a large value is updated in place if no other reference to it exists."""
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
        """Call `write(array, *arguments)` if no other reference to the value's array exists; return whether it wrote.

        `write` may return False to decline.
        """
        with updating:
            array = self._array
            self._array = None  # from here on, no other thread can obtain the array: see `_as_tensor`
            try:
                # References to the array: this frame and the last read; to that read: the variable; `getrefcount` adds
                # one each. Memory owned by another array, as after `v.assign(tf.reshape(t, ...))`, may have more.
                alone = sys.getrefcount(self._read.array) <= 3 and sys.getrefcount(self._read) <= 2
                own = self._read.array is array and _has_own_memory(array)
                if not (alone and own and array.flags.c_contiguous and array.flags.writeable):
                    return False
                return write(array, *arguments) is not False
            finally:
                if self._array is None:  # no other thread has assigned meanwhile
                    self._array = array

    def _replace(self, new: Tensor) -> None:
        trace = thread.trace
        if trace is None and type(new) is not Tensor:
            new = new.cpu()  # before recorders are notified: later reads share this memory
        array = None if trace is not None else new.array
        for r in dispatch.listeners():
            r.tracer_of(self, None)
            r.assigned(self, new)
        if trace is not None:
            trace.write(self, new)  # type: ignore[arg-type]  # only variables have updates
        else:
            with updating:
                self._take(array)

    def _take(self, array: Any) -> None:
        """Make `array`, of the right shape and dtype, the value. The caller holds `updating`."""
        self._copy = None
        self._array = array
        self._read = wrap(array, self.dtype)

    @staticmethod
    def _take_all(take: str, variables: Sequence[Updates], arrays: Sequence[Any]) -> None:
        """Call the method `take`, `_take` or `_take_from_device`, of every variable. The caller holds `updating`.

        An interrupt in between is re-raised after all variables have their arrays.
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


def _has_own_memory(array: Any) -> bool:
    """Whether an array owns its memory, or is the only reference to the array that does."""
    if type(array) is not ndarray:
        return False
    if array.flags.owndata:
        return True
    # Referenced by the array and here only: a view of the array would share its base.
    return type(array.base) is ndarray and array.base.flags.owndata and sys.getrefcount(array.base) <= 2
