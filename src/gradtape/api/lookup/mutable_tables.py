"""Mutable tables. In a function, lookups and updates happen in every run, in program order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import as_dtype
from ...core.locks import fork_safe_rlock
from ...core.tensor import Tensor
from ...core.tracebacks import bounded
from ...engine.run import dispatch
from ...engine.run.convert import to_tensor
from ...state.variable import Variable
from ..runtime.system import py_function
from .tables import LookupTable, array_of, converted, over_values

NAMESPACES = ("lookup.experimental",)
__all__ = ["DenseHashTable", "MutableHashTable"]


@bounded
class _MutableTable(LookupTable):
    """Rows in a dict. A key is a value or a tuple of values, a row an array with the shape of the default value."""

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        key_shape: tuple[int, ...],
        name: str | None,
        checkpoint: bool,
    ) -> None:
        super().__init__(key_dtype, value_dtype, name)
        self._checkpoint = checkpoint
        with dispatch.traced_by(None):
            self._default = array_of(to_tensor(default_value, dtype=self._value_dtype))
        self._key_shape = key_shape
        self._rows: dict[Any, Any] = {}
        self._lock = fork_safe_rlock()
        self._as_variables: dict[str, Variable] = {}

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            rows = dict(self._contents())
        return {**{name: value for name, value in vars(self).items() if name != "_lock"}, "_rows": rows}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = fork_safe_rlock()

    def _owned(self) -> dict[str, Variable]:
        """Returns the rows as two variables, for saving and restoring by a checkpoint.

        They hold the current rows until the table is used again.
        """
        with self._lock, dispatch.traced_by(None):
            if not self._as_variables and self._checkpoint:
                keys, values = self._arrays()
                self._as_variables = {
                    "keys": Variable(_text(keys, self._key_dtype), shape=[None, *keys.shape[1:]], trainable=False),
                    "values": Variable(
                        _text(values, self._value_dtype), shape=[None, *values.shape[1:]], trainable=False
                    ),
                }
            return self._as_variables

    def _contents(self) -> dict[Any, Any]:
        """Returns the rows; the caller holds the lock."""
        if self._as_variables:
            keys, values = (array_of(self._as_variables[part].read_value()) for part in ("keys", "values"))
            self._rows = dict(zip(self._hashed(keys), values, strict=True))
            self._as_variables = {}
        return self._rows

    def _hashed(self, keys: Any) -> list[Any]:
        """Returns the keys of an array in hashable form."""
        if not self._key_shape:
            return keys.ravel().tolist()
        return [tuple(key.ravel().tolist()) for key in keys.reshape(-1, *self._key_shape)]

    def _places(self, keys: Any) -> tuple[int, ...]:
        """Returns the shape of an array of keys without the shape of one key."""
        inner = len(self._key_shape)
        if keys.shape[keys.ndim - inner :] != self._key_shape or keys.ndim < inner:
            raise errors.InvalidArgumentError(
                f"Expected key shape {list(self._key_shape)} got {list(keys.shape)}: keys of this table end so"
            )
        return keys.shape[: keys.ndim - inner]

    def _checked(self, keys: list[Any]) -> list[Any]:
        """Returns keys after checking that the table may contain them."""
        return keys

    def _arrays(self) -> tuple[Any, Any]:
        rows = self._contents()
        keys = _array(list(rows), (len(rows), *self._key_shape), self._key_dtype)
        return keys, _array(list(rows.values()), (len(rows), *self._default.shape), self._value_dtype)

    def _run(self, call: Callable[..., Any], inputs: list[Tensor], declared: Any) -> Any:
        def locked(*tensors: Tensor) -> Any:
            with self._lock:
                return call(*map(array_of, tensors))

        return py_function(locked, inputs, declared)

    def lookup(self, keys: Any, dynamic_default_values: Any = None, name: str | None = None) -> Any:
        """Returns the values of `keys`, or the default value for missing keys."""

        def find(keys: Any, *defaults: Any) -> Tensor:
            places, rows = self._places(keys), self._contents()
            shape = (*places, *self._default.shape)
            default = np.broadcast_to(defaults[0] if defaults else self._default, shape)
            others = default.reshape(-1, *self._default.shape)
            found = [rows.get(key, other) for key, other in zip(self._checked(self._hashed(keys)), others, strict=True)]
            return _text(_array(found, shape, self._value_dtype), self._value_dtype)

        defaults = (
            [] if dynamic_default_values is None
            else [converted(dynamic_default_values, self._value_dtype, "dynamic_default_values")]
        )  # fmt: skip
        return over_values(
            lambda dense: self._run(
                find, [converted(dense, self._key_dtype, "keys"), *defaults], self._value_dtype
            ),
            keys,
        )  # fmt: skip

    def insert(self, keys: Any, values: Any, name: str | None = None) -> None:
        """Inserts keys with their values; existing keys get new values."""

        def put(keys: Any, values: Any) -> bool:
            shape = (*self._places(keys), *self._default.shape)
            if values.shape != shape:
                raise errors.InvalidArgumentError(f"Expected shape {list(shape)} for value, got {list(values.shape)}")
            rows = zip(
                self._checked(self._hashed(keys)), values.reshape(-1, *self._default.shape).copy(), strict=True
            )  # fmt: skip
            self._contents().update(rows)
            return True

        given = [converted(keys, self._key_dtype, "keys"), converted(values, self._value_dtype, "values")]
        self._run(put, given, dtypes.bool)

    def remove(self, keys: Any, name: str | None = None) -> None:
        """Removes keys from the table; missing ones are ignored."""

        def drop(keys: Any) -> bool:
            self._places(keys)
            rows = self._contents()
            for key in self._checked(self._hashed(keys)):
                rows.pop(key, None)
            return True

        self._run(drop, [converted(keys, self._key_dtype, "keys")], dtypes.bool)

    def size(self, name: str | None = None) -> Tensor:
        """Returns the current number of keys."""
        return self._run(lambda: len(self._contents()), [], dtypes.int64)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Returns all keys in insertion order, and their values."""

        def both() -> list[Tensor]:
            keys, values = self._arrays()
            return [_text(keys, self._key_dtype), _text(values, self._value_dtype)]

        keys, values = self._run(both, [], [self._key_dtype, self._value_dtype])
        return keys, values


def _array(values: list[Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """Returns an array of values or rows; strings stay bytes."""
    if dtype is not dtypes.string:
        return np.array(values, dtype.as_numpy_dtype).reshape(shape)
    flat = [one for value in values for one in np.ravel(np.asarray(value, object))]
    array = np.empty(len(flat), object)
    array[:] = flat
    return array.reshape(shape)


def _text(array: Any, dtype: Any) -> Tensor:
    return Tensor(array if array.ndim or dtype is dtypes.string else array[()], dtype)


class MutableHashTable(_MutableTable):
    """A mutable table, saved by checkpoints.

    Args:
      default_value: the value for missing keys; its shape is that of all values.

    >>> table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, default_value=-1)
    >>> table.insert(["a", "b"], [1, 2])
    >>> table.lookup(["a", "c"]).numpy().tolist()
    [1, -1]
    >>> table.remove(tf.constant(["a"]))
    >>> int(table.size())
    1
    """

    __module__ = "gradtape.lookup.experimental"

    _checkpoint_attribute = "table"

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, (), name, checkpoint)


class DenseHashTable(_MutableTable):
    """A mutable table with two reserved keys: `empty_key` and `deleted_key`.

    TensorFlow stores such a table in one block of memory and also exports empty slots; gradtape's is a
    `MutableHashTable` whose keys may be vectors, and it exports its keys only.

    >>> table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=-1)
    >>> table.insert([1, 2], [10, 20])
    >>> table.lookup([2, 3]).numpy().tolist()
    [20, -1]
    """

    __module__ = "gradtape.lookup.experimental"

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        with dispatch.traced_by(None):
            empty, deleted = (array_of(to_tensor(key, dtype=as_dtype(key_dtype))) for key in (empty_key, deleted_key))
        super().__init__(key_dtype, value_dtype, default_value, empty.shape, name, checkpoint)
        buckets = initial_num_buckets
        if buckets is not None and (buckets < 4 or buckets & (buckets - 1)):
            raise errors.InvalidArgumentError(f"Number of buckets must be at least 4 and a power of 2, got: {buckets}")
        if deleted.shape != empty.shape:
            raise errors.InvalidArgumentError("Empty and deleted keys must have the same shape")
        self._refused = {"empty_key": self._hashed(empty)[0], "deleted_key": self._hashed(deleted)[0]}
        if self._refused["empty_key"] == self._refused["deleted_key"]:
            raise errors.InvalidArgumentError("Empty and deleted keys cannot be equal")

    def _checked(self, keys: list[Any]) -> list[Any]:
        for name, key in self._refused.items():
            if key in keys:
                raise errors.InvalidArgumentError(f"Using the {name} as a table key is not allowed")
        return keys

    insert_or_assign = _MutableTable.insert
    erase = _MutableTable.remove
