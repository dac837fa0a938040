"""Python functions as ops with composite tensors as arguments or declared results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import errors, nest
from ...core.composites import CompositeTensor
from ...state.specs import TypeSpec, as_spec


def has_composites(inp: Any, declared: list[Any]) -> bool:
    """Returns whether an argument is a composite tensor, or a result is declared to be one."""
    return any(isinstance(x, CompositeTensor) for x in inp) or any(isinstance(kind, TypeSpec) for kind in declared)


def call_with_composites(calling: Callable[..., Any], func: Any, inp: Any, Tout: Any) -> Any:
    """Calls `calling(func, inp, Tout)`, which supports tensors only: composites are split and reassembled."""
    several = isinstance(Tout, list | tuple)
    declared = list(Tout) if several else [Tout]
    given = list(inp)
    flat = nest.flatten(given, expand_composites=True)
    kinds = [spec.dtype for spec in nest.flatten([as_spec(kind) for kind in declared], expand_composites=True)]

    def on_tensors(*tensors: Any) -> list[Any]:
        result = func(*nest.pack_sequence_as(given, list(tensors), expand_composites=True))
        results = [] if result is None else list(result) if isinstance(result, list | tuple) else [result]
        if len(results) != len(declared):
            raise errors.InvalidArgumentError(
                f"py_function: func={func} returned {len(results)} values, which did not match Tout={Tout}"
            )
        for value, kind in zip(results, declared, strict=True):
            is_composite = isinstance(value, CompositeTensor)
            if not (kind.is_compatible_with(value) if isinstance(kind, TypeSpec) else not is_composite):
                raise errors.InvalidArgumentError(
                    f"py_function: func={func} returned {value!r}, which did not match Tout={kind!r}"
                )
        return nest.flatten(results, expand_composites=True)

    parts = calling(on_tensors, flat, kinds)
    made = nest.pack_sequence_as(declared, parts, expand_composites=True)
    return made if several else made[0]
