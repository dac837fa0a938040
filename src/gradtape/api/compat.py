"""`tf.compat`: bytes, text, types of numbers, and sizes; `tf.compat.v1` has names of TensorFlow 1."""

from __future__ import annotations

import contextlib
import datetime
import numbers
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.shapes import Dimension, TensorShape

__all__ = [
    "as_bytes", "as_str", "as_str_any", "as_text", "bytes_or_text_types", "complex_types", "dimension_at_index",
    "dimension_value", "forward_compatibility_horizon", "forward_compatible", "integral_types", "path_to_str",
    "real_types",
]  # fmt: skip

NAMESPACES = ("compat",)

bytes_or_text_types = (bytes, str)
complex_types = (numbers.Complex, np.number)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)

_RELEASED = datetime.date(2026, 1, 16)  # the horizon of TensorFlow 2.21
_horizon = [_RELEASED]


def as_bytes(bytes_or_text: object, encoding: str = "utf-8") -> bytes:
    """Encodes text; returns bytes unchanged.

    >>> tf.compat.as_bytes("ü")
    b'\\xc3\\xbc'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes | bytearray | memoryview):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: object, encoding: str = "utf-8") -> str:
    """Decodes bytes; returns text unchanged.

    >>> tf.compat.as_text(b"x")
    'x'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_str(bytes_or_text: object, encoding: str = "utf-8") -> str:
    """Alias of `as_text`.

    >>> tf.compat.as_str(b"x")
    'x'
    """
    return as_text(bytes_or_text, encoding)


def as_str_any(value: object, encoding: str = "utf-8") -> str:
    """Decodes bytes; converts anything else with `str`.

    >>> tf.compat.as_str_any(3)
    '3'
    """
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def dimension_value(dimension: int | None) -> int | None:
    """Returns the size itself, or None if it is unknown: in TensorFlow 2, shapes consist of plain sizes.

    >>> tf.compat.dimension_value(tf.ones((2, 3)).shape[1])
    3
    """
    return dimension


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """Returns the size of a dimension, as TensorFlow 1's `Dimension`; one of a shape of unknown rank is unknown.

    >>> tf.compat.dimension_at_index(tf.TensorShape([2, None]), 0).value
    2
    """
    return Dimension(None if shape.rank is None else shape[index])


def path_to_str(path: Any) -> Any:
    """Returns a path object as a string, and anything else unchanged.

    >>> import pathlib
    >>> tf.compat.path_to_str(pathlib.PurePosixPath("folder", "file"))
    'folder/file'
    """
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Returns whether a feature that TensorFlow added on a date is in the version that gradtape implements.

    >>> tf.compat.forward_compatible(2020, 1, 1)
    True
    """
    return _horizon[-1] > datetime.date(year, month, day)


@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """Sets, for a block, the date that `forward_compatible` compares with.

    >>> with tf.compat.forward_compatibility_horizon(2019, 1, 1):
    ...     tf.compat.forward_compatible(2020, 1, 1)
    False
    """
    _horizon.append(datetime.date(year, month, day))
    try:
        yield
    finally:
        _horizon.pop()
