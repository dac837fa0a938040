"""The element types: one `DType` object for each, compared by identity on the hot path.

A dtype is *differentiable* if a derivative with respect to it is defined, and *narrow* if NumPy has no native
arithmetic for it: values of a narrow dtype are computed in float32 and rounded back.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

# Each dtype has one kind bit, and an op declares the kinds that it accepts as a bit mask.
BOOL, INT, FLOAT, COMPLEX, STRING, NARROW, QUANTIZED = 1, 2, 4, 8, 16, 32, 64
_KINDS = {"b": BOOL, "i": INT, "u": INT, "f": FLOAT, "c": COMPLEX, "O": STRING, "V": QUANTIZED}
FLOATING = FLOAT | COMPLEX | NARROW
NUMERIC = INT | FLOATING
ANY = NUMERIC | BOOL | STRING
_DIFFERENTIABLE = {"float16", "bfloat16", "float32", "float64", "complex64", "complex128"}


class DType:
    """An element type, such as `gradtape.float32`. Each has a single object, which `DType(type_enum)` looks up.

    >>> tf.float32.name, tf.float32.is_floating, tf.float32 == "float32"
    ('float32', True, True)
    """

    __module__ = "gradtape.dtypes"

    __slots__ = (
        "_tensorflow_name", "as_datatype_enum", "as_numpy_dtype", "differentiable", "is_bool", "is_complex",
        "is_floating", "is_integer", "is_quantized", "is_unsigned", "kind", "name", "narrow", "numbers", "numpy",
        "size",
    )  # fmt: skip

    _tensorflow_name: str
    as_datatype_enum: int
    as_numpy_dtype: Any
    differentiable: builtins.bool
    is_bool: builtins.bool
    is_complex: builtins.bool
    is_floating: builtins.bool
    is_integer: builtins.bool
    is_quantized: builtins.bool
    is_unsigned: builtins.bool
    kind: int
    name: str
    narrow: builtins.bool
    numbers: dict[float, Any]  # cached scalar tensors: see `tensor.number`
    numpy: np.dtype[Any]
    size: int

    def __new__(cls, type_enum: int, handle_data: object = None) -> DType:
        try:
            return _BY_ENUM[int(type_enum)]
        except KeyError:
            raise TypeError(f"{type_enum} does not correspond to a valid tensorflow::DataType") from None

    @property
    def base_dtype(self) -> DType:
        """The dtype itself: gradtape has no reference dtypes."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The dtype of the components of a complex dtype; any other dtype itself."""
        return {complex64: float32, complex128: float64}.get(self, self)

    @property
    def is_numeric(self) -> builtins.bool:
        """Whether it is numeric in TensorFlow's sense: quantized dtypes are, 8-bit floats are not."""
        return self.is_quantized or (self.kind & NUMERIC > 0 and (not self.narrow or self is bfloat16))

    @property
    def is_numpy_compatible(self) -> builtins.bool:
        """Whether NumPy arrays can hold it."""
        return self.as_numpy_dtype is not None

    @property
    def min(self) -> Any:
        """The smallest finite value."""
        return self._info("minimum").min

    @property
    def max(self) -> Any:
        """The largest finite value."""
        return self._info("maximum").max

    def _info(self, what: str) -> Any:
        if self.is_floating:
            return ml_dtypes.finfo(self.numpy)
        if self.is_integer:
            return ml_dtypes.iinfo(self.numpy)
        raise TypeError(f"Cannot find {what} value of {self} with type {self!r}.")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The intensity range of an image of this dtype: `(0, 1)` for floats, `(0, max)` for integers."""
        if self in (float32, float64):
            return 0, 1
        if self.is_bool:
            return 0, True
        if self.is_integer and not self.narrow:
            return 0, self.max
        raise ValueError(f"{self} does not have defined limits.")

    def is_compatible_with(self, other: object) -> builtins.bool:
        """Whether `as_dtype(other)` is this dtype."""
        return self is as_dtype(other)

    def is_subtype_of(self, other: object) -> builtins.bool:
        """Whether `other` is this dtype: dtypes have no other subtypes."""
        return self == other

    def most_specific_common_supertype(self, types: Sequence[Any]) -> DType | None:
        """This dtype if all of `types` are it, None otherwise."""
        return self if all(self == other for other in types) else None

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return self.as_datatype_enum

    def __int__(self) -> int:
        return self.as_datatype_enum

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)

    @property
    def computed(self) -> DType:
        """The dtype of its arithmetic: float32 for a narrow dtype, itself otherwise."""
        return float32 if self.narrow else self

    def kernel_name(self) -> str:
        """Returns its name in TensorFlow's error messages (`float`, `double`)."""
        return self._tensorflow_name


def _define(name: str, enum: int, scalar: Any, tensorflow_name: str | None = None) -> DType:
    dtype = object.__new__(DType)
    dtype.name = name
    dtype.as_datatype_enum = enum
    dtype.as_numpy_dtype = scalar
    dtype._tensorflow_name = tensorflow_name or name
    array_dtype = np.dtype(scalar)
    dtype.numpy = array_dtype
    dtype.is_quantized = array_dtype.names is not None
    dtype.narrow = getattr(scalar, "__module__", "") == "ml_dtypes"
    dtype.numbers = {}
    dtype.is_bool = scalar is np.bool_
    dtype.is_complex = array_dtype.kind == "c"
    dtype.is_floating = array_dtype.kind == "f" or (dtype.narrow and "float" in name)
    dtype.is_integer = array_dtype.kind in "iu" or (dtype.narrow and "int" in name)
    dtype.is_unsigned = dtype.is_integer and name.startswith("u")
    dtype.differentiable = name in _DIFFERENTIABLE
    dtype.kind = 0 if scalar is None else NARROW if dtype.narrow else _KINDS[array_dtype.kind]
    dtype.size = 0 if scalar in (None, object) else array_dtype.itemsize
    return dtype


float32 = _define("float32", 1, np.float32, "float")
float64 = double = _define("float64", 2, np.float64, "double")
int32 = _define("int32", 3, np.int32)
uint8 = _define("uint8", 4, np.uint8)
int16 = _define("int16", 5, np.int16)
int8 = _define("int8", 6, np.int8)
string = _define("string", 7, object)
complex64 = _define("complex64", 8, np.complex64)
int64 = _define("int64", 9, np.int64)
bool = _define("bool", 10, np.bool_)  # TensorFlow's name for it
bfloat16 = _define("bfloat16", 14, ml_dtypes.bfloat16)
uint16 = _define("uint16", 17, np.uint16)
complex128 = _define("complex128", 18, np.complex128)
float16 = half = _define("float16", 19, np.float16, "half")
uint32 = _define("uint32", 22, np.uint32)
uint64 = _define("uint64", 23, np.uint64)
float8_e5m2 = _define("float8_e5m2", 24, ml_dtypes.float8_e5m2)
float8_e4m3fn = _define("float8_e4m3fn", 25, ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz = _define("float8_e4m3fnuz", 26, ml_dtypes.float8_e4m3fnuz)
float8_e4m3b11fnuz = _define("float8_e4m3b11fnuz", 27, ml_dtypes.float8_e4m3b11fnuz)
float8_e5m2fnuz = _define("float8_e5m2fnuz", 28, ml_dtypes.float8_e5m2fnuz)
int4 = _define("int4", 29, ml_dtypes.int4)
uint4 = _define("uint4", 30, ml_dtypes.uint4)
int2 = _define("int2", 31, ml_dtypes.int2)
uint2 = _define("uint2", 32, ml_dtypes.uint2)
float4_e2m1fn = _define("float4_e2m1fn", 33, ml_dtypes.float4_e2m1fn)
# Quantized integers, as arrays with one field: ops that only move values accept them.
qint8 = _define("qint8", 11, np.dtype([("qint8", np.int8)]))
quint8 = _define("quint8", 12, np.dtype([("quint8", np.uint8)]))
qint32 = _define("qint32", 13, np.dtype([("qint32", np.int32)]))
qint16 = _define("qint16", 15, np.dtype([("qint16", np.int16)]))
quint16 = _define("quint16", 16, np.dtype([("quint16", np.uint16)]))
# Names only: no op accepts these.
resource = _define("resource", 20, None)
variant = _define("variant", 21, None)

QUANTIZED_DTYPES = frozenset({qint8, quint8, qint16, quint16, qint32})
ALL = tuple(dict.fromkeys(value for value in list(globals().values()) if isinstance(value, DType)))
_BY_ENUM = {dtype.as_datatype_enum: dtype for dtype in ALL}
_HELD = [dtype for dtype in ALL if dtype.is_numpy_compatible]
_BY_NUMPY: dict[Any, DType] = {dtype.numpy: dtype for dtype in _HELD}
_BY_NAME: dict[Any, DType] = {
    **{dtype.name: dtype for dtype in ALL}, "half": float16, "float": float32, "double": float64
}  # fmt: skip
_BY_TYPE: dict[Any, DType] = {
    **{dtype.as_numpy_dtype: dtype for dtype in _HELD}, float: float32, builtins.bool: bool, np.str_: string,
    np.bytes_: string, np.object_: string, np.longlong: int64, np.ulonglong: uint64,
}  # fmt: skip


def of_numpy(dtype: np.dtype[Any]) -> DType:
    """Returns the DType of a NumPy dtype; text and bytes of any length are strings."""
    found = _BY_NUMPY.get(dtype)
    if found is not None:
        return found
    if dtype.kind in "SUO":
        return string
    native = _BY_NUMPY.get(dtype.newbyteorder("="))
    if native is not None:
        return native
    raise TypeError(f"Cannot convert the argument `type_value`: {dtype!r} to a TensorFlow DType.")


def zero_array(shape: Sequence[int], dtype: DType) -> np.ndarray[Any, Any]:
    """Returns an array of zeros; for strings, of empty strings, as in TensorFlow."""
    return np.full(tuple(shape), b"", object) if dtype is string else np.zeros(tuple(shape), dtype.numpy)


def as_dtype(type_value: Any) -> DType:
    """Returns the DType of a DType, a NumPy dtype, scalar type or array, a string or an enum.

    >>> tf.as_dtype("half")
    tf.float16
    """
    if type(type_value) is DType:
        return type_value
    try:
        if isinstance(type_value, str):
            return _BY_NAME[type_value]
        if isinstance(type_value, type):
            return _BY_TYPE[type_value]
        if isinstance(type_value, int):
            return _BY_ENUM[type_value]
        return of_numpy(type_value if isinstance(type_value, np.dtype) else type_value.dtype)
    except (KeyError, TypeError, AttributeError):
        raise TypeError(f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType.") from None
