"""Tables with fixed contents."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import as_dtype
from ...core.tensor import Tensor
from ...core.tracebacks import bounded
from ...core.type_hints import ValueLike
from ...engine.run import dispatch
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...graph.trace.scratch import is_in_scratch_graph
from ...ops.arrays.text import each
from ..strings import strings
from ..strings.hashes import to_hash_bucket_fast
from .tables import LookupTable, converted, over_values

NAMESPACES = ("lookup",)
__all__ = ["StaticHashTable", "StaticVocabularyTable"]


@bounded
class StaticHashTable(LookupTable):
    """A table that an initializer fills once; missing keys get `default_value`.

    >>> rows = tf.lookup.KeyValueTensorInitializer(["red", "green"], [10, 20])
    >>> table = tf.lookup.StaticHashTable(rows, default_value=0)
    >>> table.lookup(tf.constant(["green", "blue"])).numpy().tolist()
    [20, 0]
    >>> int(table.size())
    2
    """

    __module__ = "gradtape.lookup"

    def __init__(
        self, initializer: Any, default_value: Any, name: str | None = None, experimental_is_anonymous: bool = False
    ) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype, name)
        with dispatch.traced_by(None):
            self._default = to_tensor(default_value, dtype=self._value_dtype)
        if self._default.dims:
            raise ValueError(
                f"Shapes {self._default.shape} and () are not compatible: default_value must be a single value"
            )
        self._rows: dict[Any, Any] | None = None
        self._find = self._finder()
        initializer.initialize(self)

    def _finder(self) -> Any:
        """Returns the function that finds the values of an array of keys."""
        default = self._default.numpy()
        find: Any = each(lambda key: self._contents().get(key, default), _kind(self._value_dtype))
        find.table = self  # a SavedModel's replacement of the function
        return find

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_find"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._find = self._finder()

    @property
    def default_value(self) -> Tensor:
        """The value for missing keys."""
        return self._default

    def _import(self, keys: list[Any], values: list[Any]) -> None:
        """Called by the initializer: sets the rows, in which a key must not occur with different values."""
        rows: dict[Any, Any] = {}
        for key, value in zip(keys, values, strict=True):
            if rows.setdefault(key, value) != value:
                raise errors.FailedPreconditionError(
                    f"HashTable has different value for same key. Key {_format_value(key)} has "
                    f"{_format_value(rows[key])} and trying to add value {_format_value(value)}"
                )
        self._rows = rows

    def _contents(self) -> dict[Any, Any]:
        if self._rows is None:
            raise errors.FailedPreconditionError("Table not initialized.")
        return self._rows

    def lookup(self, keys: ValueLike, name: str | None = None) -> Any:
        """Returns the values of `keys`, a dense, sparse or ragged tensor, with the default value for missing keys."""
        find = self._find
        if is_in_scratch_graph():  # only shapes matter: Keras 2 calls layers before their vocabulary is known
            found = next(iter((self._rows or {}).values()), self._default.numpy())  # a value that other ops accept
            find = each(lambda key: found, _kind(self._value_dtype))
        else:
            self._contents()
        return over_values(lambda dense: ops.map_text(converted(dense, self._key_dtype, "keys"), function=find), keys)

    def size(self, name: str | None = None) -> Tensor:
        """Returns the number of keys."""
        return to_tensor(0 if self._rows is None else len(self._rows), dtypes.int64)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Returns all keys and their values."""
        rows = self._contents()
        keys = np.array(list(rows), _kind(self._key_dtype))
        values = np.array(list(rows.values()), _kind(self._value_dtype))
        return Tensor(keys, self._key_dtype), Tensor(values, self._value_dtype)


def _kind(dtype: Any) -> Any:
    return object if dtype is dtypes.string else dtype.as_numpy_dtype


def _format_value(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


@bounded
class StaticVocabularyTable(LookupTable):
    """A vocabulary with indices; missing words get one of `num_oov_buckets` further indices, by their hash.

    >>> words = tf.lookup.KeyValueTensorInitializer(["emerson", "lake"], tf.constant([0, 1], tf.int64))
    >>> table = tf.lookup.StaticVocabularyTable(words, num_oov_buckets=5)
    >>> table.lookup(tf.constant(["emerson", "lake", "palmer"])).numpy().tolist()[:2]
    [0, 1]
    >>> int(table.size())
    7
    """

    __module__ = "gradtape.lookup"

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        asked = None if lookup_key_dtype is None else as_dtype(lookup_key_dtype)
        self._table: StaticHashTable | None = None
        key_dtype = asked or dtypes.string
        if initializer is not None:
            key_dtype = asked or initializer.key_dtype
            if initializer.value_dtype is not dtypes.int64:
                raise TypeError(
                    f"Invalid `value_dtype`, expected {dtypes.int64!r} but got {initializer.value_dtype!r}."
                )
            if initializer.key_dtype not in (dtypes.int64, dtypes.string):
                raise TypeError(
                    f"Invalid `key_dtype`, expected one of (tf.int64, tf.string), but got {initializer.key_dtype!r}."
                )
            if initializer.key_dtype.is_integer != key_dtype.is_integer:
                expected = "integer" if key_dtype.is_integer else "non-integer"
                raise TypeError(f"Invalid `key_dtype`, expected {expected} but got {initializer.key_dtype!r}.")
            self._table = StaticHashTable(initializer, -1)
        super().__init__(key_dtype, dtypes.int64, name)
        self._buckets = num_oov_buckets

    def lookup(self, keys: ValueLike, name: str | None = None) -> Any:
        """Returns the indices of `keys`, a dense, sparse or ragged tensor."""
        return over_values(lambda dense: self._numbers(converted(dense, self._key_dtype, "keys")), keys)

    def _numbers(self, keys: Tensor) -> Tensor:
        keys = ops.cast(keys, dtype=dtypes.int64) if self._key_dtype.is_integer else keys
        words = strings.as_string(keys) if self._key_dtype.is_integer else keys
        buckets = to_hash_bucket_fast(words, self._buckets)
        if self._table is None:
            return buckets
        known = self._table.lookup(keys)
        size = self._table.size()
        return ops.where(ops.equal(known, to_tensor(-1, dtypes.int64)), ops.add(buckets, size), known)

    def size(self, name: str | None = None) -> Tensor:
        """Returns the number of indices: of words and buckets."""
        words = 0 if self._table is None else int(self._table.size())
        return to_tensor(words + self._buckets, dtypes.int64)
