"""Serialized tensors in TensorFlow's `TensorProto` format; sparse ones are three of them."""

from __future__ import annotations

import base64
import math
from itertools import pairwise
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import DType, as_dtype
from ...core.protos import wire
from ...core.protos.records import encoded as encoded_message
from ...core.protos.schema import field_number
from ...core.tensor import Tensor
from ...core.type_hints import DTypeLike, StringLike, ValueLike
from ...engine.run.convert import to_tensor
from ...sparse.tensor import SparseTensor, made_sparse
from ..runtime.system import py_function
from ..strings.strings import text_tensor

NAMESPACES = ("io",)
__all__ = ["deserialize_many_sparse", "parse_tensor", "serialize_many_sparse", "serialize_sparse", "serialize_tensor"]


def _numbers(*names: str) -> tuple[int, ...]:
    return tuple(field_number("TensorProto", name) for name in names)


# Fields of a TensorProto, and the fields of single values by dtype.
_DTYPE, _SHAPE, _CONTENT, _STRINGS = _numbers("dtype", "tensor_shape", "tensor_content", "string_val")
(_BYTE_FLOATS,) = _numbers("float8_val")
_FLOATS, _DOUBLES = _numbers("float_val", "scomplex_val"), _numbers("double_val", "dcomplex_val")
_INTEGERS = _numbers("int_val", "int64_val", "bool_val", "half_val", "uint32_val", "uint64_val")
_MAX_RANK = 254  # TensorFlow's
_MAX_BYTES = 1 << 31  # limit for a tensor of which one value is stored; a message with all values cannot be larger


def serialize_tensor(tensor: ValueLike, name: str | None = None) -> Tensor:
    """Serializes a tensor, with dtype and shape, to a string for `tf.io.parse_tensor`.

    >>> data = tf.io.serialize_tensor(tf.constant([1, 2]))
    >>> tf.io.parse_tensor(data, tf.int32).numpy().tolist()
    [1, 2]
    """
    return py_function(lambda x: encoded(np.asarray(x.array), x.dtype), [to_tensor(tensor)], dtypes.string)


def encoded(array: Any, dtype: DType) -> bytes:
    """Returns the bytes of a `TensorProto`."""
    values: dict[str, Any] = {
        "dtype": dtype.as_datatype_enum,
        "tensor_shape": {"dim": [{"size": n} for n in array.shape]},
    }
    if dtype is dtypes.string:
        values["string_val"] = array.ravel().tolist()
    else:
        values["tensor_content"] = array.tobytes()
    return encoded_message("TensorProto", values)


def parse_tensor(serialized: StringLike, out_type: DTypeLike, name: str | None = None) -> Tensor:
    """Parses a tensor, which must have this dtype, of a string by `tf.io.serialize_tensor`.

    >>> tf.io.parse_tensor(tf.io.serialize_tensor(["a", "b"]), tf.string).numpy().tolist()
    [b'a', b'b']
    """
    dtype, texts = as_dtype(out_type), text_tensor(serialized)
    if texts.dims:
        raise errors.InvalidArgumentError(f"Expected `serialized` to be a scalar, got shape: {list(texts.dims)}")
    return py_function(lambda data: decoded(data.numpy(), dtype), [texts], dtype)


def decoded(data: bytes, dtype: DType) -> Tensor:
    """Returns the tensor in the bytes of a `TensorProto`."""
    found = parsed(data)
    if found.dtype is not dtype:
        raise errors.InvalidArgumentError(
            f"Type mismatch between parsed tensor ({found.dtype.name}) and dtype ({dtype.name}): give parse_tensor the "
            "first"
        )
    return found


def parsed(data: bytes) -> Tensor:
    """Returns the tensor in the bytes of a `TensorProto`, with its own dtype."""
    try:
        dtype, shape, content, values = _parts(data)
        count = math.prod(shape)
        if len(shape) > _MAX_RANK or any(n >= 1 << 63 for n in shape) or dtype.as_numpy_dtype is None:
            raise wire.DecodeError("no tensor has such a shape or dtype")
        if not content:
            array = _repeat_last(_from_values(values, dtype), count)
        elif dtype is dtypes.string:
            array = _from_values(_strings(bytes(content), count), dtype)
        else:
            array = np.frombuffer(content, dtype.as_numpy_dtype).copy()
    except (wire.DecodeError, ArithmeticError, TypeError, ValueError) as error:
        raise errors.InvalidArgumentError(
            f"Could not parse `serialized` as TensorProto, base64: {base64.b64encode(data).decode()[:60]} ({error})"
        ) from None
    if array.size != count:
        raise errors.InvalidArgumentError(f"a tensor of shape {shape} has {array.size} values in its bytes")
    return to_tensor(array.reshape(shape), dtype) if dtype is not dtypes.string else Tensor(array.reshape(shape), dtype)


def _strings(content: bytes, count: int) -> list[bytes]:
    """Returns the strings of a tensor's content: all lengths, then all bytes."""
    if count > len(content):  # each length takes at least one byte
        raise wire.DecodeError(f"{count} strings in {len(content)} bytes")
    lengths, place = [], 0
    for _ in range(count):
        length, place = wire.varint_at(content, place)
        lengths.append(length)
    ends = np.cumsum([place, *lengths]).tolist()
    if ends[-1] != len(content):
        raise wire.DecodeError(f"{count} strings have {len(content) - place} bytes, not {sum(lengths)}")
    return [content[start:end] for start, end in pairwise(ends)]


def _repeat_last(array: Any, count: int) -> Any:
    """Returns that many values; missing ones repeat the last one, or are zeros if there is none."""
    missing = count - len(array)
    if missing <= 0:
        return array
    if count * array.dtype.itemsize > _MAX_BYTES:
        raise wire.DecodeError(f"{count} values that are the same")
    if not len(array):
        return np.full(count, b"", object) if array.dtype == object else np.zeros(count, array.dtype)
    return np.concatenate([array, np.repeat(array[-1:], missing)])


def _from_values(values: list[Any], dtype: DType) -> Any:
    """Returns single values as an array: small floats are stored as bits, complex numbers as pairs."""
    if dtype is dtypes.float16 or dtype.narrow:
        bits = np.dtype(f"u{dtype.numpy.itemsize}")
        return np.array(values, np.int64).astype(bits).view(dtype.numpy)
    if dtype.is_complex:
        return np.array(values, np.float64).view(np.complex128).astype(dtype.numpy)
    array = np.empty(len(values), object if dtype is dtypes.string else dtype.as_numpy_dtype)
    array[:] = values
    return array


def _parts(data: bytes) -> tuple[DType, list[int], bytes, list[Any]]:
    """Returns dtype, shape, content and single values."""
    kind, shape, content, values = 0, [], b"", []
    for number, form, value in wire.fields(data):
        if number == _DTYPE:
            kind = value
        elif number == _SHAPE:
            dims = [dict((n, v) for n, _, v in wire.fields(dim)) for n, _, dim in wire.fields(value) if n == 2]
            shape = [dim.get(1, 0) for dim in dims]
            if not all(type(n) is int for n in shape):  # multiplying bytes would repeat them
                raise wire.DecodeError("a size was expected")
        elif number == _CONTENT:
            content = value
        elif number == _STRINGS:
            if form != wire.BYTES:
                raise wire.DecodeError("text was expected")
            values.append(value)
        elif number == _BYTE_FLOATS and form == wire.BYTES:
            values.extend(value)
        elif number in _FLOATS:
            values.extend(wire.floats(form, value).tolist())
        elif number in _DOUBLES:
            values.extend(wire.doubles(form, value).tolist())
        elif number in _INTEGERS:
            values.extend(wire.integers(form, value).tolist())
    return DType(kind), shape, content, values


def serialize_sparse(sp_input: SparseTensor, out_type: DTypeLike = dtypes.string, name: str | None = None) -> Tensor:
    """Returns the indices, the values and the shape of a sparse tensor, each serialized.

    >>> tf.io.serialize_sparse(tf.sparse.from_dense([0, 5])).shape
    TensorShape([3])
    """
    sparse = _sparse(sp_input, out_type)

    def call(*parts: Tensor) -> Tensor:
        return _texts([encoded(np.asarray(part.array), part.dtype) for part in parts], (3,))

    return py_function(call, [sparse.indices, sparse.values, sparse.dense_shape], dtypes.string)


def serialize_many_sparse(
    sp_input: SparseTensor, out_type: DTypeLike = dtypes.string, name: str | None = None
) -> Tensor:
    """Serializes every row of a sparse tensor like `serialize_sparse`.

    >>> tf.io.serialize_many_sparse(tf.sparse.from_dense([[0, 5], [7, 0]])).shape
    TensorShape([2, 3])
    """
    sparse = _sparse(sp_input, out_type)

    def call(indices: Tensor, values: Tensor, shape: Tensor) -> Tensor:
        places, found, sizes = (np.asarray(x.array) for x in (indices, values, shape))
        texts = []
        for row in range(int(sizes[0])):
            there = places[:, 0] == row
            parts = ((places[there, 1:], dtypes.int64), (found[there], values.dtype), (sizes[1:], dtypes.int64))
            texts += [encoded(np.ascontiguousarray(part), dtype) for part, dtype in parts]
        return _texts(texts, (int(sizes[0]), 3))

    return py_function(call, [sparse.indices, sparse.values, sparse.dense_shape], dtypes.string)


def deserialize_many_sparse(
    serialized_sparse: StringLike, dtype: DTypeLike, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """Merges serialized sparse tensors, one per row, into one with an additional axis.

    >>> rows = tf.io.serialize_many_sparse(tf.sparse.from_dense([[0, 5], [7, 0]]))
    >>> tf.sparse.to_dense(tf.io.deserialize_many_sparse(rows, tf.int32)).numpy().tolist()
    [[0, 5], [7, 0]]
    """
    kind, texts = as_dtype(dtype), text_tensor(serialized_sparse)
    if len(texts.dims) != 2 or texts.dims[1] != 3:
        raise errors.InvalidArgumentError(f"Serialized sparse tensors are rows of 3, got shape {list(texts.dims)}")

    def call(rows: Tensor) -> list[Any]:
        places, values, shapes = [np.empty((0, 1), np.int64)], [], []
        for i, (indices, found, shape) in enumerate(np.asarray(rows.array).tolist()):
            inner = decoded(indices, dtypes.int64).numpy()
            places.append(np.insert(inner, 0, i, axis=1))
            values.append(np.ravel(decoded(found, kind).numpy()))
            shapes.append(decoded(shape, dtypes.int64).numpy())
        places = [part for part in places if len(part)] or [np.empty((0, 1 + len(shapes[0])), np.int64)]
        return [
            np.concatenate(places),
            Tensor(np.concatenate(values), kind),
            np.array([len(shapes), *np.max(shapes, axis=0)], np.int64),
        ]

    return SparseTensor(*py_function(call, [texts], [dtypes.int64, kind, dtypes.int64]))


def _sparse(value: Any, out_type: Any) -> SparseTensor:
    value = made_sparse(value)
    if not isinstance(value, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor, got {value!r}. Use tf.sparse.from_dense")
    if as_dtype(out_type) is not dtypes.string:
        raise errors.UnimplementedError("sparse tensors are serialized as strings: leave out_type as it is")
    return value


def _texts(values: list[bytes], shape: tuple[int, ...]) -> Tensor:
    array = np.empty(len(values), object)
    array[:] = values
    return Tensor(array.reshape(shape), dtypes.string)
