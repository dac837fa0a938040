"""`tensorflow.python.data.util.structure`: the specs of dataset elements."""

from __future__ import annotations

from typing import Any

from gradtape.data.elements.specs import leaf_spec
from gradtape.data.elements.structure import map_leaves


def type_spec_from_value(element: Any, use_fallback: bool = True) -> Any:
    """Returns the specs of an element, in its nest; only with `use_fallback` those of values that become tensors."""

    def spec(leaf: Any) -> Any:
        if not use_fallback and isinstance(leaf, int | float | complex | str | bytes | list):
            raise TypeError(f"Could not build a `TypeSpec` for {leaf!r} with type {type(leaf).__name__}")
        return leaf_spec(leaf)

    return map_leaves(spec, element)
