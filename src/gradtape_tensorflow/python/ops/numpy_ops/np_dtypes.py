"""`tensorflow.python.ops.numpy_ops.np_dtypes`: the dtypes of TensorFlow's NumPy functions."""

from __future__ import annotations

from typing import Any

import numpy as np

_allowed = {"float64": True}
_NARROW = {"float64": np.float32, "complex128": np.complex64}


def is_allow_float64() -> bool:
    """Returns whether results may be of 64 bits."""
    return _allowed["float64"]


def set_allow_float64(b: bool) -> None:
    """Sets whether `canonicalize_dtype` keeps float64 and complex128."""
    _allowed["float64"] = b


def canonicalize_dtype(dtype: Any) -> Any:
    """Returns the dtype, or the one of half its bits where 64 bits are not allowed."""
    return dtype if is_allow_float64() else np.dtype(_NARROW.get(np.dtype(dtype).name, dtype))


def default_float_type() -> Any:
    """Returns the dtype of a Python float."""
    return np.dtype(np.float64 if is_allow_float64() else np.float32)
