"""`tensorflow.python.util.compat`: the names without public counterpart."""

from __future__ import annotations

import collections.abc as collections_abc
import numbers
from typing import Any

import numpy as np

import gradtape

__all__ = ["collections_abc"]
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)
bytes_or_text_types = (bytes, str)


def path_to_str(path: Any) -> Any:
    """Same as `tf.compat.path_to_str`."""
    return gradtape.compat.path_to_str(path)


def path_to_bytes(path: Any) -> bytes:
    """Returns a path, also of `pathlib`, as bytes."""
    return gradtape.compat.as_bytes(path.__fspath__() if hasattr(path, "__fspath__") else path)
