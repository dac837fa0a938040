"""`tf.compat`: bytes, text and sizes; `tf.compat.v1` has what programs for TensorFlow 2 still use of TensorFlow 1."""

from __future__ import annotations

from typing import Any

__all__ = ["as_bytes", "as_str", "as_str_any", "as_text", "dimension_value"]

NAMESPACES = ("compat",)


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Text encoded; bytes as they are.

    >>> import gradtape as tf
    >>> tf.compat.as_bytes("ü")
    b'\\xc3\\xbc'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes | bytearray | memoryview):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes decoded; text as it is.

    >>> import gradtape as tf
    >>> tf.compat.as_text(b"x")
    'x'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_str(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """The same as `as_text`.

    >>> import gradtape as tf
    >>> tf.compat.as_str(b"x")
    'x'
    """
    return as_text(bytes_or_text, encoding)


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Bytes decoded, anything else as `str` has it.

    >>> import gradtape as tf
    >>> tf.compat.as_str_any(3)
    '3'
    """
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def dimension_value(dimension: int | None) -> int | None:
    """The size itself, or None where it is unknown: since TensorFlow 2, shapes are made of these.

    >>> import gradtape as tf
    >>> tf.compat.dimension_value(tf.ones((2, 3)).shape[1])
    3
    """
    return dimension
