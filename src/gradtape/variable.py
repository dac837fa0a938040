"""`Variable`: a value that changes, with an identity that tapes watch."""

from __future__ import annotations

import itertools
from typing import Any

from .dtypes import DType, as_dtype
from .engine import dispatch
from .engine.convert import register, to_tensor
from .shapes import TensorShape
from .tensor import Reference, Tensor, wrap

_creation = itertools.count().__next__


class Variable:
    """A mutable value of fixed dtype, watched by tapes when it is read.

    >>> import gradtape as tf
    >>> v = tf.Variable(3.0)
    >>> v.assign_add(1.0).numpy()
    np.float32(4.0)
    """

    __array_priority__ = 100

    def __init__(self, initial_value: Any = None, trainable: bool = True, dtype: Any = None, name: str | None = None):
        value = to_tensor(initial_value, dtype=None if dtype is None else as_dtype(dtype))
        self.dtype: DType = value.dtype
        self.trainable = trainable
        self._created = _creation()
        self._array = value.array
        self._read = wrap(value.array, value.dtype)

    @property
    def dims(self) -> tuple[int, ...]:
        return self._array.shape

    @property
    def shape(self) -> TensorShape:
        return TensorShape._of(self._array.shape)

    def _as_tensor(self) -> Tensor:
        """The value, marked for whoever records. What is returned must not reach the user: see `value`."""
        recorder = dispatch.thread.recorder
        read = self._read
        if recorder is None:
            if read.array is self._array and read.mark is None:
                return read
        elif read.array is self._array and read.mark is not None and read.mark[2] is None and read.mark[0] is getattr(recorder, "key", None):
            return read
        read = wrap(self._array, self.dtype)
        for r in dispatch.thread.recorders:
            read.mark = r.mark_of(self, read.mark)
        self._read = read
        return read

    def assign(self, value: Any) -> Variable:
        new = to_tensor(value, dtype=self.dtype)
        for r in dispatch.thread.recorders:
            r.mark_of(self, None)
            r.assigned(self, new)
        self._array = new.array
        return self

    def assign_add(self, delta: Any) -> Variable:
        return self.assign(wrap(self._array, self.dtype) + delta)

    def assign_sub(self, delta: Any) -> Variable:
        return self.assign(wrap(self._array, self.dtype) - delta)

    def numpy(self) -> Any:
        return self._as_tensor().numpy()


def _attach_operators() -> None:
    for name in ("add", "sub", "mul", "truediv", "matmul", "radd", "rsub", "rmul", "rtruediv"):
        method = getattr(Tensor, f"__{name}__")
        setattr(Variable, f"__{name}__", lambda self, other, method=method: method(self._as_tensor(), other))


register(Variable, lambda v, dtype: to_tensor(v._as_tensor(), dtype), 0)
