"""`tensorflow.python.util.numpy_compat`: NumPy functions whose meaning of `copy` is that of NumPy 1."""

from __future__ import annotations

from typing import Any

import numpy as np


def np_array(values: Any, dtype: Any = None, copy: bool | None = True, order: Any = "K") -> np.ndarray:
    """`np.array`; with `copy=False`, the values are copied only if they must be."""
    return np.array(values, dtype=dtype, copy=copy or None, order=order)


def np_asarray(values: Any, dtype: Any = None, order: Any = None, copy: bool | None = None) -> np.ndarray:
    """`np.asarray`; with `copy=False`, the values are copied only if they must be."""
    return np_array(values, dtype, copy or None, order)


def np_reshape(array: Any, /, shape: Any = None, *, newshape: Any = None, order: Any = "C", copy: Any = None) -> Any:
    """`np.reshape` with either name of its argument."""
    if (shape is None) == (newshape is None):
        raise ValueError("Give exactly one of shape and newshape")
    return np.reshape(array, newshape if shape is None else shape, order=order)


def np_where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """`np.where`; a condition of rank zero has one row of indices."""
    if x is None and y is None:
        return np.atleast_1d(np.asarray(condition)).nonzero()
    return np.where(condition, x, y)
