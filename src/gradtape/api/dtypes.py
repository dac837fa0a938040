"""`tf.dtypes`: the element types. Those of eight bits and fewer are for storage; their arithmetic is in float32."""

from __future__ import annotations

from ..core.dtypes import (
    QUANTIZED_DTYPES,
    DType,
    as_dtype,
    bfloat16,
    bool,
    complex64,
    complex128,
    double,
    float4_e2m1fn,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float16,
    float32,
    float64,
    half,
    int2,
    int4,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint2,
    uint4,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)

NAMESPACES = ("dtypes", "dtypes.experimental", "experimental", "")
__all__ = [
    "QUANTIZED_DTYPES", "DType", "as_dtype", "bfloat16", "bool", "complex64", "complex128", "double", "float4_e2m1fn",
    "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float16", "float32",
    "float64", "half", "int2", "int4", "int8", "int16", "int32", "int64", "qint8", "qint16", "qint32", "quint8",
    "quint16", "resource", "string", "uint2", "uint4", "uint8", "uint16", "uint32", "uint64", "variant",
]  # fmt: skip
