"""Initializers of static tables: from keys and values, or from lines of a text file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import DType, as_dtype
from ...core.errors import of_system as failures
from ...core.tensor import Tensor
from ...engine.run import dispatch
from ...engine.run.convert import to_tensor
from ...state.file_systems import open_to_read
from .tables import KeyValueDtypes, array_of

NAMESPACES = ("lookup",)
__all__ = ["KeyValueTensorInitializer", "TextFileIndex", "TextFileInitializer"]


class KeyValueTensorInitializer(KeyValueDtypes):
    """A table with the given keys and values.

    >>> rows = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    >>> tf.lookup.StaticHashTable(rows, default_value=-1).lookup(tf.constant(["b", "c"])).numpy().tolist()
    [2, -1]
    """

    __module__ = "gradtape.lookup"

    def __init__(
        self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: str | None = None
    ) -> None:
        with dispatch.traced_by(None):
            self._keys, self._values = _of_dtype(keys, key_dtype), _of_dtype(values, value_dtype)
        self._key_dtype, self._value_dtype = self._keys.dtype, self._values.dtype

    def initialize(self, table: Any) -> None:
        """Adds keys and values to a static table."""
        check_types(self, table)
        keys, values = array_of(self._keys), array_of(self._values)
        if keys.shape != values.shape:
            raise errors.InvalidArgumentError(f"Expected shape {list(keys.shape)} for value, got {list(values.shape)}")
        table._import(keys.ravel().tolist(), values.ravel().tolist())


def _of_dtype(value: Any, dtype: Any) -> Tensor:
    return to_tensor(value, None if dtype is None else as_dtype(dtype))


class TextFileIndex:
    """Special columns of a text file: the whole line, or the line number."""

    __module__ = "gradtape.lookup"

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(KeyValueDtypes):
    """A table of the lines of a text file.

    Args:
      key_index, value_index: the column of the keys and of the values, or one of `TextFileIndex`.
      vocab_size: the number of lines to read; all by default.
      value_index_offset: added to line numbers.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "words.txt")
    >>> tf.io.write_file(path, "emerson 10\\nlake 20\\n")
    >>> rows = tf.lookup.TextFileInitializer(path, tf.string, 0, tf.int64, 1, delimiter=" ")
    >>> tf.lookup.StaticHashTable(rows, -1).lookup(tf.constant(["lake", "palmer"])).numpy().tolist()
    [20, -1]
    """

    __module__ = "gradtape.lookup"

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        self._filename = filename if isinstance(filename, str | bytes | os.PathLike) else to_tensor(filename).numpy()
        if not self._filename:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        self._key_dtype, self._value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        self._columns = (key_index, value_index)
        for what, index, kind in (("key", key_index, self._key_dtype), ("value", value_index, self._value_dtype)):
            if index < TextFileIndex.WHOLE_LINE:
                raise ValueError(f"`{what}_index` should be >= -2, received: {index}.")
            if index == TextFileIndex.LINE_NUMBER and kind is not dtypes.int64:
                raise ValueError(f"`{what}_dtype` must be int64 if `{what}_index` is {index}, received: {kind!r}")
            if index == TextFileIndex.WHOLE_LINE and kind.is_floating:
                raise ValueError(
                    f"`{what}_dtype` must be either integer or string for `{what}_index` {index}, received: {kind!r}"
                )
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}")
        self._vocab_size, self._delimiter, self._offset = vocab_size, os.fsencode(delimiter), value_index_offset

    def initialize(self, table: Any) -> None:
        """Reads the file into a static table."""
        check_types(self, table)
        rows = list(self._rows())
        if self._vocab_size is not None and len(rows) < self._vocab_size:
            raise errors.InvalidArgumentError(
                f"Invalid vocab_size in {os.fsdecode(self._filename)}: expected {self._vocab_size} but got {len(rows)}"
            )
        table._import([key for key, _ in rows], [value for _, value in rows])

    def _rows(self) -> Iterator[tuple[Any, Any]]:
        kinds = (self._key_dtype, self._value_dtype)
        with failures(self._filename), open_to_read(self._filename) as file:
            for number, line in enumerate(file):
                if number == self._vocab_size:
                    return
                key, value = (
                    self._field(line.rstrip(b"\r\n"), number, *of) for of in zip(self._columns, kinds, strict=True)
                )
                yield key, value

    def _field(self, line: bytes, number: int, index: int, kind: DType) -> Any:
        if index == TextFileIndex.LINE_NUMBER:
            return number + self._offset
        fields = [line] if index == TextFileIndex.WHOLE_LINE else line.split(self._delimiter)
        if index >= len(fields):
            raise errors.InvalidArgumentError(
                f"Invalid number of columns in {os.fsdecode(self._filename)} line {number} "
                f"({line.decode(errors='replace')}) : expected at least {max(self._columns) + 1} got {len(fields)}. "
                f"Columns are separated by the delimiter {self._delimiter.decode()!r}"
            )
        text = fields[max(index, 0)]
        if kind is dtypes.string:
            return text
        try:
            return np.array(int(text) if kind.is_integer else float(text), kind.as_numpy_dtype).item()
        except (ValueError, OverflowError):
            raise errors.InvalidArgumentError(
                f"Field {text.decode(errors='replace')} in line {number} is not a valid {kind.name}."
            ) from None


def check_types(initializer: Any, table: Any) -> None:
    """Raises an error unless a table has the dtypes of its contents."""
    for what in ("key", "value"):
        wanted, given = getattr(table, f"{what}_dtype"), getattr(initializer, f"{what}_dtype")
        if wanted is not given:
            raise TypeError(f"Invalid {what} dtype for table, expected {wanted!r} but got {given!r}.")
