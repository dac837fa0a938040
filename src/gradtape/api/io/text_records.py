"""Text and compressed records: CSV, JSON, zlib."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import StringLike
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...ops.arrays.text import each
from ..runtime.system import py_function
from ..strings.strings import in_bytes, spelled, text_tensor
from .examples import Example

NAMESPACES = ("io",)
__all__ = ["decode_compressed", "decode_csv", "decode_json_example"]

_KINDS = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


def decode_csv(
    records: StringLike,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Any = None,
    name: str | None = None,
) -> list[Tensor]:
    """Parses lines of CSV into columns, one tensor each.

    Args:
      record_defaults: for each column the value of an empty field, or an empty tensor if fields must not be empty; it
        determines the dtype of the column.
      na_value: also means an empty field.
      select_cols: the indices of the columns to read; all by default.

    >>> numbers, words = tf.io.decode_csv(["1,a", ",b"], record_defaults=[7, ""])
    >>> numbers.numpy().tolist(), words.numpy().tolist()
    ([1, 7], [b'a', b'b'])
    """
    defaults = [to_tensor(value) for value in record_defaults]
    for i, default in enumerate(defaults):
        if default.dtype not in _KINDS or np.size(default.array) > 1:
            raise errors.InvalidArgumentError(
                f"Each record default must be one value, or none, of float32, float64, int32, int64 or string; got "
                f"{default!r} for field {i}"
            )
    if len(in_bytes(field_delim)) != 1:
        raise errors.InvalidArgumentError(f"field_delim should be only 1 char, got {field_delim!r}")
    columns = None if select_cols is None else [int(i) for i in select_cols]
    if columns is not None and (len(columns) != len(defaults) or sorted(set(columns)) != columns):
        raise ValueError(f"select_cols must be increasing, one for each of the {len(defaults)} columns; got {columns}")

    def call(texts: Tensor) -> list[Any]:
        array = np.asarray(texts.array, object)
        rows = [
            fields_of(record, i, in_bytes(field_delim), use_quote_delim, columns, len(defaults))
            for i, record in enumerate(array.ravel().tolist())
        ]
        found = []
        for j, default in enumerate(defaults):
            values = [value_of(row[j], i, j, default, in_bytes(na_value)) for i, row in enumerate(rows)]
            column = np.empty(len(values), object)
            column[:] = values
            kind = object if default.dtype is dtypes.string else default.dtype.as_numpy_dtype
            found.append(Tensor(column.astype(kind).reshape(array.shape), default.dtype))
        return found

    return py_function(call, [text_tensor(records)], [default.dtype for default in defaults])


def fields_of(record: bytes, number: int, delim: bytes, quotes: bool, columns: Any, count: int) -> list[bytes]:
    fields = list(_split(record, delim)) if quotes and b'"' in record else record.split(delim)
    if columns is not None:
        if columns[-1] >= len(fields):
            raise errors.InvalidArgumentError(
                f"Expect {columns[-1] + 1} fields at least but have {len(fields)} in record {number}"
            )
        return [fields[i] for i in columns]
    if len(fields) != count:
        raise errors.InvalidArgumentError(f"Expect {count} fields but have {len(fields)} in record {number}")
    return fields


def _split(record: bytes, delim: bytes) -> Iterator[bytes]:
    """Splits fields that may be quoted, with doubled quotes in them."""
    place = 0
    while True:
        if record[place : place + 1] != b'"':
            end = record.find(delim, place)
            end = len(record) if end < 0 else end
            if b'"' in record[place:end]:
                raise errors.InvalidArgumentError("Unquoted fields cannot have quotes inside")
            yield record[place:end]
        else:
            end = place + 1
            while (end := record.find(b'"', end)) >= 0 and record[end + 1 : end + 2] == b'"':
                end += 2
            inside = record[place + 1 : end].replace(b'""', b'"')
            end += 1
            if end == 0 or record[end : end + 1] not in (b"", delim):
                raise errors.InvalidArgumentError("Quoted field has to end with quote followed by delim or end")
            yield inside
        if end >= len(record):
            return
        place = end + 1


def value_of(field: bytes, record: int | None, number: int, default: Tensor, missing: bytes) -> Any:
    """Converts a field, of a record whose number is known or not, to the dtype of its default."""
    record_name = "record" if record is None else f"record {record}"
    if not field or field == missing:
        if not np.size(default.array):
            raise errors.InvalidArgumentError(f"Field {number} is required but missing in {record_name}!")
        return np.ravel(np.asarray(default.array, object if default.dtype is dtypes.string else None))[0]
    if default.dtype is dtypes.string:
        return field
    try:
        return default.dtype.as_numpy_dtype(int(field) if default.dtype.is_integer else float(field))
    except (ValueError, OverflowError):
        raise errors.InvalidArgumentError(
            f"Field {number} in {record_name} is not a valid {default.dtype.name}: {field.decode(errors='replace')}"
        ) from None


def decode_json_example(json_examples: StringLike, name: str | None = None) -> Tensor:
    """Converts `tf.train.Example`s in JSON to serialized ones.

    >>> data = tf.io.decode_json_example('{"features": {"feature": {"age": {"int64List": {"value": [29]}}}}}')
    >>> int(tf.io.parse_single_example(data, {"age": tf.io.FixedLenFeature([], tf.int64)})["age"])
    29
    """
    return ops.map_text(text_tensor(json_examples), function=each(_serialize))


def _serialize(text: bytes) -> bytes:
    example = Example()
    try:
        features = json.loads(text).get("features", {}).get("feature", {})
        for key, feature in features.items():
            held = example.features.feature[key]
            for kind, values in feature.items():
                listed = values.get("value", [])
                if kind in ("bytesList", "bytes_list"):
                    held.bytes_list.value.extend(base64.b64decode(value) for value in listed)
                elif kind in ("floatList", "float_list"):
                    held.float_list.value.extend(float(value) for value in listed)
                elif kind in ("int64List", "int64_list"):
                    held.int64_list.value.extend(int(value) for value in listed)
                else:
                    raise ValueError(f"Feature has no field {kind}")
    except (ArithmeticError, AttributeError, RecursionError, TypeError, ValueError) as error:
        raise errors.InvalidArgumentError(f"Error while parsing JSON: {error}") from None
    return example.SerializeToString()


_DECOMPRESS: dict[str, Any] = {"": lambda data: data, "ZLIB": zlib.decompress, "GZIP": gzip.decompress}


def decode_compressed(bytes: StringLike, compression_type: str = "", name: str | None = None) -> Tensor:
    """Decompresses strings.

    >>> import zlib
    >>> tf.io.decode_compressed([zlib.compress(b"hello")], "ZLIB").numpy().tolist()
    [b'hello']
    """
    if compression_type not in _DECOMPRESS:
        raise errors.InvalidArgumentError(
            f"Only ZLIB, GZIP or NONE are supported compressions, got {compression_type!r}"
        )

    def one(data: Any) -> Any:
        try:
            return _DECOMPRESS[compression_type](data)
        except (zlib.error, gzip.BadGzipFile, EOFError) as error:
            raise errors.DataLossError(f"inflate() failed: {error}") from None

    function = spelled(each(one), "DecodeCompressed", compression_type=compression_type)
    return ops.map_text(text_tensor(bytes), function=function)
