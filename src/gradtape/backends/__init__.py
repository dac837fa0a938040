"""What differs between array libraries, and nothing else: writing into arrays, and functions found elsewhere."""

from __future__ import annotations

from typing import Any


def put(array: Any, key: Any, values: Any) -> Any:
    """`array` with `array[key] = values`; the array is one the caller has just made."""
    if hasattr(array, "at"):
        return array.at[key].set(values)
    array[key] = values
    return array


def add_at(xp: Any, array: Any, key: Any, values: Any) -> Any:
    """`array` with `values` added at `key`, repeated indices adding up; the array is one the caller has just made."""
    if hasattr(array, "at"):
        return array.at[key].add(values)
    xp.add.at(array, key, values)
    return array


def special(xp: Any) -> Any:
    """The module of special functions that goes with an array module."""
    import importlib

    return importlib.import_module({"numpy": "scipy.special", "cupy": "cupyx.scipy.special"}.get(
        xp.__name__.split(".")[0], "jax.scipy.special"
    ))
