"""`tf.compat`: bytes, text and sizes; `tf.compat.v1` has the TensorFlow 1 names that later programs still use."""

from __future__ import annotations

__all__ = ["as_bytes", "as_str", "as_str_any", "as_text", "dimension_value"]

NAMESPACES = ("compat",)


def as_bytes(bytes_or_text: object, encoding: str = "utf-8") -> bytes:
    """Encodes text; returns bytes unchanged.

    >>> import gradtape as tf
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

    >>> import gradtape as tf
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

    >>> import gradtape as tf
    >>> tf.compat.as_str(b"x")
    'x'
    """
    return as_text(bytes_or_text, encoding)


def as_str_any(value: object, encoding: str = "utf-8") -> str:
    """Decodes bytes; converts anything else with `str`.

    >>> import gradtape as tf
    >>> tf.compat.as_str_any(3)
    '3'
    """
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def dimension_value(dimension: int | None) -> int | None:
    """Returns the size itself, or None if it is unknown: in TensorFlow 2, shapes consist of plain sizes.

    >>> import gradtape as tf
    >>> tf.compat.dimension_value(tf.ones((2, 3)).shape[1])
    3
    """
    return dimension
