"""The return value of a traced function: its structure, and the tensors in it."""

from __future__ import annotations

from typing import Any

from ...core import nest
from ...core.composites import CompositeTensor
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ...engine.run.dispatch import thread
from ...engine.run.namespace import ops
from ...state.specs import TypeSpec, spec_of
from .lazy_tensors import plain
from .traced import Untraceable, value_of

ONE_TENSOR = object()  # the structure of a single returned tensor


def taken_apart(returned: Any) -> tuple[Any, list[Any], list[Tensor]]:
    """Split a return value into its structure, its leaves (a tensor's index, or the leaf itself) and the tensors."""
    if isinstance(returned, Tensor):
        return ONE_TENSOR, [(0, None)], [returned]
    outputs: list[Tensor] = []
    forms: list[Any] = []
    given = nest.map_structure(returned_value, returned)
    for leaf in nest.flatten(given, expand_composites=True):
        if isinstance(leaf, Tensor):
            forms.append((len(outputs), None))
            outputs.append(leaf)
        else:
            forms.append((None, leaf))
    return nest.map_structure(emptied, given), forms, outputs


def emptied(leaf: Any) -> Any:
    """Returns the placeholder of a leaf in a stored structure: the leaf itself would keep a trace and its values alive.

    For a composite it is the spec, from which one can be rebuilt.
    """
    if not nest.is_composite(leaf):
        return None
    if isinstance(leaf, CompositeTensor | TypeSpec):
        return spec_of(leaf)
    leaves = [plain(value_of(x)) if isinstance(x, Tensor) else x for x in nest.flatten(leaf, True)]
    return nest.pack_sequence_as(leaf, leaves, expand_composites=True)


def returned_value(value: Any) -> Any:
    """Convert a leaf of a return value: numbers, arrays and variables become tensors."""
    if value is None or isinstance(value, Tensor) or nest.is_composite(value):
        return value
    if hasattr(value, "_made_at_every_call"):
        if thread.trace is not None:
            raise Untraceable(f"it returns a {type(value).__name__}, which is made at every call")
        return value
    try:
        return ops.identity(to_tensor(value)) if hasattr(value, "_as_tensor") else to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(
            "To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or "
            f"None values; found return value of type {type(value).__name__}, which is not a Tensor."
        ) from None
