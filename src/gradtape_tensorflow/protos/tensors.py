"""`tf.make_tensor_proto` and `tf.make_ndarray`: tensors as messages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.api.io.tensors import parsed
from gradtape.core import dtypes
from gradtape.core.dtypes import DType, as_dtype
from gradtape.core.protos.records import encoded
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import DTypeLike
from gradtape.engine.run.convert import to_tensor

from .generated import message_class

NAMESPACES = ("",)
__all__ = ["make_ndarray", "make_tensor_proto"]

_MAX_BYTES = 1 << 31  # limit of a message
# The field of single values by dtype; other integers are in int_val, floats of less than 32 bits as bits in half_val.
_FIELDS = {
    dtypes.float32: "float_val", dtypes.float64: "double_val", dtypes.int64: "int64_val", dtypes.bool: "bool_val",
    dtypes.uint32: "uint32_val", dtypes.uint64: "uint64_val", dtypes.complex64: "scomplex_val",
    dtypes.complex128: "dcomplex_val", dtypes.float16: "half_val", dtypes.bfloat16: "half_val",
}  # fmt: skip
_WITHOUT_CONTENT = (dtypes.bool, dtypes.complex64, dtypes.complex128, dtypes.uint16, dtypes.string)  # as in TensorFlow


def make_tensor_proto(
    values: Any, dtype: DTypeLike | None = None, shape: Any = None, verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Any:  # fmt: skip
    """Returns a `TensorProto` with these values, which needs the package protobuf.

    With a `shape` of more elements than there are values, the last value is repeated when the message is read.

    >>> proto = tf.make_tensor_proto([[1, 2], [3, 4]])
    >>> proto.tensor_content
    b'\\x01\\x00\\x00\\x00\\x02\\x00\\x00\\x00\\x03\\x00\\x00\\x00\\x04\\x00\\x00\\x00'
    >>> tf.make_ndarray(proto).tolist()
    [[1, 2], [3, 4]]
    """
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    kind = message_class("TensorProto")
    if isinstance(values, kind):
        return values
    array, its = _as_array(values, None if dtype is None else as_dtype(dtype), shape)
    sizes = array.shape if shape is None else tuple(int(n) for n in shape)
    count = math.prod(sizes)
    if shape is not None:
        _check_shape(array, sizes, verify_shape, allow_broadcast)
    if array.size == count and count > 1 and its not in _WITHOUT_CONTENT:
        if array.nbytes >= _MAX_BYTES:
            raise ValueError("Cannot create a tensor proto whose content is larger than 2GB.")
        held: dict[str, Any] = {"tensor_content": array.tobytes()}
    else:
        held = _single_values(array.ravel(), its)
    described = {"dtype": its.as_datatype_enum, "tensor_shape": {"dim": [{"size": n} for n in sizes]}}
    return kind.FromString(encoded("TensorProto", described | held))


def _as_array(values: Any, dtype: DType | None, shape: Any) -> tuple[np.ndarray[Any, Any], DType]:
    """Returns the values as an array, with their dtype."""
    if values is None:
        raise ValueError("None values not supported.")
    if shape is not None and dtype is not None and math.prod(int(n) for n in shape) == 0 and not np.size(values):
        return np.empty(tuple(int(n) for n in shape), dtype.as_numpy_dtype), dtype
    if isinstance(values, np.ndarray | np.generic) and values.dtype.kind not in "OSU":
        values = np.asarray(values) if dtype is None else np.asarray(values).astype(dtype.as_numpy_dtype)
    elif hasattr(values, "numpy") and dtype is not None and as_dtype(values.dtype) is not dtype:
        values = np.asarray(values).astype(dtype.as_numpy_dtype)
    elif dtype is None and _has_large_integers(values):
        dtype = dtypes.int64
    tensor: Tensor = to_tensor(values, dtype)
    return np.asarray(tensor.array), tensor.dtype


def _has_large_integers(values: Any) -> bool:
    """Whether a Python value has integers that int32 cannot hold: TensorFlow takes int64 here."""
    if not isinstance(values, int | list | tuple):
        return False
    array = np.array(values, object)
    limits = np.iinfo(np.int32)
    return all(type(x) is int for x in array.flat) and any(not limits.min <= x <= limits.max for x in array.flat)


def _check_shape(array: np.ndarray[Any, Any], sizes: tuple[int, ...], verify: bool, broadcast: bool) -> None:
    count = math.prod(sizes)
    fits = array.size == count or array.shape in ((), (1,)) if broadcast else not verify or array.shape == sizes
    if not fits:
        raise TypeError(f"Expected Tensor's shape: {sizes}, but got {array.shape}.")
    if not broadcast and array.size > count:
        raise ValueError(f"Too many elements provided. Takes at most {count}, but got {array.size}.")


def _single_values(array: np.ndarray[Any, Any], dtype: DType) -> dict[str, Any]:
    if dtype is dtypes.string:
        return {"string_val": [x if isinstance(x, bytes) else str(x).encode() for x in array.tolist()]}
    if dtype.is_complex:
        return {_FIELDS[dtype]: array.view(array.real.dtype).tolist()}
    if dtype.is_floating and array.itemsize == 1:
        return {"float8_val": array.tobytes()}
    field = _FIELDS.get(dtype, "int_val")
    return {field: (array.view(np.uint16) if field == "half_val" else array).tolist()}


def make_ndarray(tensor: Any) -> np.ndarray[Any, Any]:
    """Returns the values of a `TensorProto`, the message of a tensor, as a NumPy array.

    >>> tf.make_ndarray(tf.make_tensor_proto("a", shape=[2])).tolist()
    [b'a', b'a']
    """
    return np.asarray(parsed(tensor.SerializeToString()).array)
