"""`tf.experimental.numpy`: NumPy's scalar types, which are dtypes too, and predicates on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import (
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    iinfo,
    inexact,
    int8,
    int16,
    int32,
    int64,
    issubdtype,
    object_,
    uint8,
    uint16,
    uint32,
    uint64,
)
from numpy import bytes_ as string_
from numpy import str_ as unicode_

from ....core.dtypes import DType
from ....core.type_hints import DTypeLike, TensorLike
from .promotion import result_type, tensor

NAMESPACES = ("experimental.numpy",)
__all__ = [
    "bool_", "complex64", "complex128", "complex_", "finfo", "float16", "float32", "float64", "float_", "iinfo",
    "inexact", "int8", "int16", "int32", "int64", "int_", "iscomplexobj", "isrealobj", "isscalar", "issubdtype",
    "object_", "promote_types", "result_type", "string_", "uint8", "uint16", "uint32", "uint64", "unicode_",
]  # fmt: skip

complex_, float_, int_ = complex128, float64, int64


def _numpy_dtype(dtype: Any) -> np.dtype[Any]:
    return np.dtype(dtype.as_numpy_dtype if isinstance(dtype, DType) else dtype)


def finfo(dtype: DTypeLike) -> np.finfo[Any]:
    """Returns NumPy's limits of a floating-point type.

    >>> float(tf.experimental.numpy.finfo(tf.float32).eps) == 2.0**-23
    True
    """
    return np.finfo(_numpy_dtype(dtype))


def promote_types(type1: DTypeLike, type2: DTypeLike) -> np.dtype[Any]:
    """Returns the smallest type to which both can be cast.

    >>> tf.experimental.numpy.promote_types(tf.int32, tf.float32)
    dtype('float64')
    """
    return np.promote_types(_numpy_dtype(type1), _numpy_dtype(type2))


def iscomplexobj(x: TensorLike) -> bool:
    """Returns whether the dtype is complex.

    >>> tf.experimental.numpy.iscomplexobj([1j])
    True
    """
    return tensor(x).dtype.is_complex


def isrealobj(x: TensorLike) -> bool:
    """Returns whether the dtype is not complex.

    >>> tf.experimental.numpy.isrealobj([1.0])
    True
    """
    return not iscomplexobj(x)


def isscalar(num: TensorLike) -> bool:
    """Returns whether there are no axes.

    >>> tf.experimental.numpy.isscalar(tf.constant(1.0))
    True
    """
    return not tensor(num).dims
