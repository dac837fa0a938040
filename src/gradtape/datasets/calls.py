"""Calling the user's functions: eagerly, on the tensors of an element, with random numbers of their own.

A function draws from streams that begin again with every pass, as a traced function's do in TensorFlow: with a global
seed every pass has the same random numbers, whatever other threads draw meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import dtypes
from ..core.tensor import Tensor
from ..engine.run.randomness import Streams, drawing_from
from .structure import as_leaf, as_result


class Call:
    """A user's function with the seed of the time when it was given; `begin` is the function for one pass."""

    def __init__(self, function: Callable[..., Any], seed: int | None) -> None:
        if not callable(function):
            raise TypeError(f"a function was expected, got {function!r}")
        self._function = function
        self._seed = seed

    def begin(self) -> Callable[[Any], Any]:
        """The function of an element, whose parts are its arguments if it is a plain tuple."""
        call = self.begin_with_arguments()
        return lambda element: call(*element) if type(element) is tuple else call(element)

    def begin_with_arguments(self) -> Callable[..., Any]:
        """The function as it is."""
        function, streams = self._function, Streams(self._seed)
        return lambda *args: as_result(drawing_from(streams, function, args))


def truth(predicate: Callable[[Any], Any]) -> Callable[[Any], bool]:
    """`predicate` with a bool as its result; `ValueError` if that is no boolean scalar."""

    def is_true(element: Any) -> bool:
        found = as_leaf(predicate(element))
        if not isinstance(found, Tensor) or found.dtype is not dtypes.bool or found.dims:
            raise ValueError(
                f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but it returned {found!r}"
            )
        return bool(found.array)

    return is_true


def dataset_of(result: Any, what: str) -> Any:
    """`result`, which must be a dataset."""
    if not hasattr(result, "_elements"):
        raise TypeError(f"Invalid `{what}`. `{what}` must return a `Dataset` object. Got {result!r}")
    return result
