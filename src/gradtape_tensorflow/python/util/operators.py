"""`tensorflow.__operators__`: the operators of tensors that are no public functions."""

from __future__ import annotations

from typing import Any

import gradtape
from gradtape.core.errors import runs_with_examples

from .tf_export import tf_export


def _tensor(x: Any) -> Any:
    return x if gradtape.is_tensor(x) else gradtape.convert_to_tensor(x)


@tf_export("__operators__.add")
def add(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns `x + y`."""
    return x + y if gradtape.is_tensor(x) or gradtape.is_tensor(y) else _tensor(x) + y


@tf_export("__operators__.eq")
def eq(self: Any, other: Any) -> Any:
    """Returns `self == other`."""
    return _tensor(self) == other


@tf_export("__operators__.ne")
def ne(self: Any, other: Any) -> Any:
    """Returns `self != other`."""
    return _tensor(self) != other


@tf_export("__operators__.getitem")
def getitem(tensor: Any, slice_spec: Any, var: Any = None) -> Any:
    """Returns `tensor[slice_spec]`."""
    return _item(_tensor(tensor), slice_spec)


@runs_with_examples
def _item(tensor: Any, key: Any) -> Any:
    return tensor[key]


@tf_export("__operators__.ragged_getitem")
def ragged_getitem(rt_input: Any, key: Any) -> Any:
    """Returns `rt_input[key]`."""
    return rt_input[key]
