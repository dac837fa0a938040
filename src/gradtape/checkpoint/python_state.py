"""`PythonState`: an object that says itself how a checkpoint saves it, as bytes."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.owners import Owner
from ..core.shapes import TensorShape


class _StateValue:
    """The state of an object, with what a checkpoint asks of a variable."""

    dtype, shape, name = dtypes.string, TensorShape([]), "py_state"

    def __init__(self, owner: PythonState) -> None:
        self._owner = owner

    @property
    def _gradtape_variable(self) -> _StateValue:
        return self

    def numpy(self) -> Any:
        """Returns the state, as an array of an object: NumPy's own strings lose trailing zeros."""
        state: Any = self._owner.serialize()
        return np.array(state.encode() if isinstance(state, str) else state, object)

    def assign(self, value: Any) -> None:
        """Restore the state."""
        self._owner.deserialize(value.numpy())


class PythonState(Owner, abc.ABC):
    """An object whose state is bytes, which `tf.train.Checkpoint` saves and restores.

    >>> import tempfile
    >>> class Count(tf.train.experimental.PythonState):
    ...     number = 0
    ...     def serialize(self):
    ...         return str(self.number)
    ...     def deserialize(self, string_value):
    ...         self.number = int(string_value)
    >>> count = Count()
    >>> checkpoint = tf.train.Checkpoint(count=count)
    >>> count.number = 3
    >>> path = checkpoint.save(tempfile.mkdtemp() + "/ckpt")
    >>> count.number = 0
    >>> status = checkpoint.restore(path)
    >>> count.number
    3
    """

    __module__ = "gradtape.train.experimental"

    _checkpoint_attribute = "py_state"

    @abc.abstractmethod
    def serialize(self) -> Any:
        """Returns the state, as a string or bytes."""

    @abc.abstractmethod
    def deserialize(self, string_value: Any) -> None:
        """Takes a state that `serialize` has returned, as bytes."""

    def _owned(self) -> dict[str, Any]:
        held = vars(self)
        if "_py_state" not in held:
            held["_py_state"] = _StateValue(self)
        return {"py_state": held["_py_state"]}
