"""The element types: one `DType` object for each, compared by identity on the hot path.

A dtype is *differentiable* when a derivative with respect to it makes sense, and *narrow* when NumPy has no
arithmetic of its own for it: values of a narrow dtype are computed in float32 and rounded back.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

# Each dtype is of one kind, and an op says in one number which kinds it takes.
BOOL, INT, FLOAT, COMPLEX, STRING, NARROW = 1, 2, 4, 8, 16, 32
_KINDS = {"b": BOOL, "i": INT, "u": INT, "f": FLOAT, "c": COMPLEX, "O": STRING}
FLOATING = FLOAT | COMPLEX | NARROW
NUMERIC = INT | FLOATING
ANY = NUMERIC | BOOL | STRING


class DType:
    """An element type, such as `gradtape.float32`.

    >>> import gradtape as tf
    >>> tf.float32.name, tf.float32.is_floating, tf.float32 == "float32"
    ('float32', True, True)
    """

    __slots__ = (
        "_tensorflow_name", "as_datatype_enum", "as_numpy_dtype", "differentiable", "is_bool", "is_complex",
        "is_floating", "is_integer", "is_unsigned", "kind", "name", "narrow", "numpy", "size",
    )  # fmt: skip

    def __init__(self, name: str, scalar: type, enum: int, tensorflow_name: str | None = None) -> None:
        self.name = name
        self.as_datatype_enum = enum
        self.as_numpy_dtype = scalar
        self.numpy = np.dtype(scalar)
        kind = self.numpy.kind
        low_precision = scalar in _NARROW_SCALARS
        self.is_bool = kind == "b"
        self.is_complex = kind == "c"
        self.is_floating = kind == "f" or (low_precision and "float" in name)
        self.is_integer = kind in "iu" or (low_precision and not self.is_floating)
        self.is_unsigned = kind == "u" or name == "uint4"
        self.narrow = low_precision
        self.differentiable = name in _DIFFERENTIABLE
        self.kind = NARROW if low_precision else _KINDS[kind]
        self.size = self.numpy.itemsize
        self._tensorflow_name = tensorflow_name or name

    @property
    def base_dtype(self) -> DType:
        """The dtype itself: gradtape has no reference dtypes."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The dtype of a component of a complex dtype; any other dtype is its own."""
        return {complex64: float32, complex128: float64}.get(self, self)

    @property
    def is_numeric(self) -> bool:
        """Whether arithmetic is defined for it."""
        return self.is_floating or self.is_integer or self.is_complex

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether NumPy arrays can hold it: always."""
        return True

    @property
    def is_quantized(self) -> bool:
        """Quantised dtypes are not part of gradtape."""
        return False

    @property
    def min(self) -> Any:
        """The smallest finite value."""
        return self._range()[0]

    @property
    def max(self) -> Any:
        """The largest finite value."""
        return self._range()[1]

    @property
    def limits(self) -> tuple[Any, Any]:
        """`(min, max)`, with 0 as the minimum, as TensorFlow has it."""
        low, high = self._range()
        return (0 if self.is_floating else low), (1 if self.is_floating else high)

    def _range(self) -> tuple[Any, Any]:
        if self.is_bool:
            return False, True
        if self.is_floating:
            info: Any = ml_dtypes.finfo(self.numpy)
        elif self.is_integer:
            info = ml_dtypes.iinfo(self.numpy)
        else:
            raise TypeError(f"Cannot find minimum and maximum value of {self}.")
        return info.min, info.max

    def is_compatible_with(self, other: Any) -> bool:
        """Whether `other` converts to this very dtype."""
        return self is as_dtype(other)

    def __eq__(self, other: Any) -> bool:
        if self is other:
            return True
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)

    @property
    def computed(self) -> DType:
        """The dtype its arithmetic is done in: float32 for a narrow one, itself otherwise."""
        return float32 if self.narrow else self

    def kernel_name(self) -> str:
        """What TensorFlow's error messages call it (`float`, `double`)."""
        return self._tensorflow_name


_NARROW_SCALARS = {
    ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e4m3b11fnuz, ml_dtypes.float8_e5m2fnuz, ml_dtypes.int4, ml_dtypes.uint4,
}  # fmt: skip
_DIFFERENTIABLE = {"float16", "bfloat16", "float32", "float64", "complex64", "complex128"}

float32 = DType("float32", np.float32, 1, "float")
float64 = double = DType("float64", np.float64, 2, "double")
int32 = DType("int32", np.int32, 3)
uint8 = DType("uint8", np.uint8, 4)
int16 = DType("int16", np.int16, 5)
int8 = DType("int8", np.int8, 6)
string = DType("string", np.object_, 7)
complex64 = DType("complex64", np.complex64, 8)
int64 = DType("int64", np.int64, 9)
bool = DType("bool", np.bool_, 10)  # TensorFlow's name for it
bfloat16 = DType("bfloat16", ml_dtypes.bfloat16, 14)
uint16 = DType("uint16", np.uint16, 17)
complex128 = DType("complex128", np.complex128, 18)
float16 = half = DType("float16", np.float16, 19, "half")
uint32 = DType("uint32", np.uint32, 22)
uint64 = DType("uint64", np.uint64, 23)
float8_e5m2 = DType("float8_e5m2", ml_dtypes.float8_e5m2, 24)
float8_e4m3fn = DType("float8_e4m3fn", ml_dtypes.float8_e4m3fn, 25)
float8_e4m3fnuz = DType("float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz, 26)
float8_e4m3b11fnuz = DType("float8_e4m3b11fnuz", ml_dtypes.float8_e4m3b11fnuz, 27)
float8_e5m2fnuz = DType("float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz, 28)
int4 = DType("int4", ml_dtypes.int4, 29)
uint4 = DType("uint4", ml_dtypes.uint4, 30)

ALL = tuple(value for value in list(globals().values()) if isinstance(value, DType))
_BY_NUMPY: dict[Any, DType] = {dtype.numpy: dtype for dtype in ALL}
_BY_NAME: dict[Any, DType] = {
    **{dtype.name: dtype for dtype in ALL},
    "half": float16, "float": float32, "double": float64, "str": string, "bytes": string,
}  # fmt: skip
_BY_TYPE: dict[Any, DType] = {
    **{dtype.as_numpy_dtype: dtype for dtype in ALL},
    float: float32, int: int32, complex: complex128, type(True): bool, str: string, bytes: string, object: string,
}  # fmt: skip


def of_numpy(dtype: np.dtype[Any]) -> DType:
    """The DType of a NumPy dtype; text and bytes of any length are strings."""
    found = _BY_NUMPY.get(dtype)
    if found is not None:
        return found
    if dtype.kind in "SUO":
        return string
    native = _BY_NUMPY.get(dtype.newbyteorder("="))
    if native is not None:
        return native
    raise TypeError(f"Cannot convert the argument `type_value`: {dtype!r} to a TensorFlow DType.")


def as_dtype(type_value: Any) -> DType:
    """The DType that `type_value` names: a DType, a NumPy dtype or scalar type, a Python type, a string or an enum.

    >>> import gradtape as tf
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
        if isinstance(type_value, np.dtype):
            return of_numpy(type_value)
        if isinstance(type_value, int):
            return next(dtype for dtype in ALL if dtype.as_datatype_enum == type_value)
        return of_numpy(np.dtype(type_value.dtype) if hasattr(type_value, "dtype") else np.dtype(type_value))
    except (KeyError, TypeError, StopIteration):
        raise TypeError(
            f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType."
        ) from None
