"""A function's graphs for some sizes of its inputs, from which its program for all sizes is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor, wrap
from ...engine.run.convert import to_tensor
from ...graph.function.concrete_function import ConcreteFunction
from ...graph.ir.effects import Changed, imagining
from ...graph.passes.optimize import dead_code
from ...graph.trace.traced import Untraceable
from ...state.specs import TensorSpec
from .functions import LoadedConcreteFunction
from .generalisation import Differs, Place, Program, Size, merged
from .writer import Unsaved

_SMALL = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67)
_LARGE = (67, 97, 131, 71, 101, 137, 73, 103, 139, 79, 107, 149, 83, 109, 151, 89, 113, 157)
_PROBES = 3  # sizes that are tried for each that is unknown: two would fit any straight line


class Probed(NamedTuple):
    """A function as it is written."""

    program: Program
    outputs: Any  # what it returns, with specs in place of tensors
    specs: list[TensorSpec]  # of the tensors it is given
    names: list[str]


def probed(function: ConcreteFunction) -> Probed:
    """The program of a function for one signature; ValueError or `Unsaved` with the reason if there is none."""
    if isinstance(function, LoadedConcreteFunction):
        inner = probed(function.traced())
        return inner._replace(names=function._names, outputs=function.structured_outputs)
    if function._bound:
        raise Unsaved("it takes a variable as an argument: a SavedModel's functions take tensors")
    given = function._given
    failure: Exception | None = None
    for sizes in _attempts(given):
        try:
            variants = [_traced(function, given, chosen) for chosen in sizes]
            program = merged([dead_code(variant.graph) for variant in variants])
        except (Untraceable, Changed, Differs, ValueError, TypeError, errors.OpError) as error:
            failure = failure or error
            continue
        outputs = variants[0].specified(list(map(_open_spec, program.outputs)))
        return Probed(program, outputs, list(map(_spec, given)), function._names)
    assert failure is not None
    if isinstance(failure, Differs):
        raise Unsaved(
            f"what it does depends on a size that its input signature leaves open: {failure}. Give the size in the "
            "input signature"
        ) from failure
    if isinstance(failure, Untraceable | Changed):
        raise Unsaved(f"there is no one graph for it: {failure or 'a loop in it depends on values'}") from failure
    raise failure


def _traced(function: ConcreteFunction, given: Sequence[Any], sizes: Sequence[int]) -> Any:
    unknown = iter(sizes)
    tensors = [_example(x, unknown) for x in given]
    with imagining():
        return function._concrete.traced_for_good(tensors, (), False)


def _spec(x: Any) -> TensorSpec:
    return x if isinstance(x, TensorSpec) else TensorSpec.from_tensor(to_tensor(x))


def _open_spec(place: Place) -> TensorSpec:
    return TensorSpec([None if isinstance(n, Size) else n for n in place.dims], place.dtype)


def _example(x: Any, unknown: Iterator[int]) -> Tensor:
    """A tensor to trace with: ones, of the next size where the spec leaves it open."""
    spec = _spec(x)
    if spec.shape.rank is None:
        raise Unsaved(f"it takes a tensor of unknown rank ({spec}). Give its input signature a rank")
    fill = b"" if spec.dtype is dtypes.string else 1
    array = np.full([next(unknown) if n is None else n for n in spec.shape], fill, spec.dtype.numpy)
    return wrap(array if array.ndim or spec.dtype is dtypes.string else array[()], spec.dtype)


def _attempts(given: Sequence[Any]) -> Iterator[list[list[int]]]:
    """Sizes for the unknown axes, in each of the graphs: all different, then more and more of them the same."""
    axes = [(i, axis) for i, x in enumerate(given) for axis, n in enumerate(_spec(x).shape or ()) if n is None]
    if not axes:
        yield [[]]
        return
    groupings = [
        [(i, axis) for i, axis in axes],
        [(0, 0) if axis == 0 else (i, axis) for i, axis in axes],
        [(0, axis) for _, axis in axes],
        [(0, 0)] * len(axes),
    ]
    seen = []
    for numbers in (_SMALL, _LARGE):
        for grouping in groupings:
            order = list(dict.fromkeys(grouping))
            classes = [order.index(one) for one in grouping]
            if (numbers, classes) in seen or len(order) * _PROBES > len(numbers):
                continue
            seen.append((numbers, classes))
            yield [[numbers[_PROBES * c + probe] for c in classes] for probe in range(_PROBES)]
