"""Functions that implement the same thing for different devices: the one for the device in use takes its place.

TensorFlow has this for libraries: functions with the same `api_implements` among their attributes are one, and where
one of them is called in a graph, what runs is the one whose `api_preferred_device` is the device that the graph is
placed on. The others are made known by `get_concrete_function(...).add_to_graph()`, before the call or after it.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

from ...core import devices, nest
from ...core.tensor import Tensor
from ...engine.run.dispatch import thread
from ..trace.traced import TracedTensor
from .function import Function

API, DEVICE = "api_implements", "api_preferred_device"
ATTRIBUTES = frozenset({
    API, DEVICE, "_disable_acd", "_noinline", "_tf_data_function", "_OutputsOnOpDevice", "disable_summaries_at_runtime",
    "experimental_ints_on_device", "function_runs_at_most_once", "go_backwards", "implements",
    "runtime_constant_optimization", "time_major",
})  # fmt: skip


class _ImplementationCall:
    """What was called by the name of an API in a trace, and what is to run there."""

    def __init__(self) -> None:
        self.arguments: tuple[tuple[Any, ...], dict[str, Any]] | None = None
        self.result: Any = None
        self.chosen: Implementation | None = None


# By trace, and by API.
_calls: weakref.WeakKeyDictionary[Any, dict[str, _ImplementationCall]] = weakref.WeakKeyDictionary()


class Implementation(Function):
    """A function that is one of several of the same API."""

    def __init__(self, python_function: Any, attributes: Mapping[str, Any], *options: Any) -> None:
        super().__init__(python_function, *options)
        self._api, self._device = attributes[API], attributes.get(DEVICE)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if thread.trace is None:
            return super().__call__(*args, **kwargs)
        call = self._call()
        if call.chosen is not None and call.chosen is not self:
            return Function.__call__(call.chosen, *args, **kwargs)
        call.arguments, call.result = (args, kwargs), super().__call__(*args, **kwargs)
        return call.result

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """The function for one signature; in a graph, that with which it is made known there."""
        return super().get_concrete_function(*args, **kwargs) if thread.trace is None else Alternative(self)

    def take_place(self) -> None:
        """Runs from here on in the place of whatever is called by the name of the API, or has been called."""
        if self._device != devices.default_device().kind:
            return
        call = self._call()
        call.chosen = self
        if call.arguments is not None:
            args, kwargs = call.arguments
            _replace(call.result, super().__call__(*args, **kwargs))

    def _call(self) -> _ImplementationCall:
        return _calls.setdefault(thread.trace, {}).setdefault(self._api, _ImplementationCall())


class Alternative:
    """What `get_concrete_function` gives inside a graph."""

    def __init__(self, implementation: Implementation) -> None:
        self._implementation = implementation

    def add_to_graph(self, g: Any = None, overwrite: bool = False) -> None:
        """Makes the function known: it takes the place of the others of its API, if it is for the device in use."""
        self._implementation.take_place()

    def add_gradient_functions_to_graph(self, g: Any = None) -> None:
        """Nothing to do: derivatives are found when they are asked for."""


def _replace(result: Any, other: Any) -> None:
    """Makes the tensors of a result, which nobody has used yet, those of another."""
    for old, new in zip(nest.flatten(result, True), nest.flatten(other, True), strict=True):
        if isinstance(old, TracedTensor) and isinstance(new, TracedTensor):
            old.value, old.place, old.tracer = new.value, new.place, new.tracer
        elif type(old) is Tensor and type(new) is Tensor:  # constants of the graph
            old.array, old.tracer = new.array, new.tracer
