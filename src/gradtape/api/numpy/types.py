"""`tf.experimental.numpy`: NumPy's types, which are dtypes too."""

from __future__ import annotations

from numpy import (
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

NAMESPACES = ("experimental.numpy",)
__all__ = [
    "bool_", "complex64", "complex128", "complex_", "float16", "float32", "float64", "float_", "int8",
    "int16", "int32", "int64", "int_", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip

complex_, float_, int_ = complex128, float64, int64
