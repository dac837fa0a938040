"""Implementation selection: functions with the same `api_implements` attribute replace each other by device.

TensorFlow offers this to libraries: where one of these functions is called in a graph, the graph runs the one whose
`api_preferred_device` is the graph's device. The alternatives are registered by
`get_concrete_function(...).add_to_graph()`, before the call or after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...core import devices, nest
from ...core.tensor import Tensor
from ...engine.run.dispatch import thread
from ..trace.scratch import is_in_scratch_graph
from ..trace.trace import present_trace
from ..trace.traced import TracedTensor
from .function import Function

API, DEVICE = "api_implements", "api_preferred_device"
ATTRIBUTES = frozenset({
    API, DEVICE, "_disable_acd", "_noinline", "_tf_data_function", "_OutputsOnOpDevice", "disable_summaries_at_runtime",
    "experimental_ints_on_device", "function_runs_at_most_once", "go_backwards", "implements",
    "runtime_constant_optimization", "time_major",
})  # fmt: skip


class _ImplementationCall:
    """The call of an API in one trace, and the implementation selected for it."""

    def __init__(self) -> None:
        self.arguments: tuple[tuple[Any, ...], dict[str, Any]] | None = None
        self.result: Any = None
        self.chosen: Implementation | None = None


class Implementation(Function):
    """A function that is one of several implementations of an API."""

    def __init__(self, python_function: Callable[..., Any], attributes: Mapping[str, Any], *options: Any) -> None:
        super().__init__(python_function, *options)
        self._api, self._device = attributes[API], attributes.get(DEVICE)

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self._is_global():
            return self._qualified_name
        raise TypeError("cannot pickle one of several implementations of an API, which name each other")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if thread.trace is None or is_in_scratch_graph():
            return super().__call__(*args, **kwargs)
        call = self._call()
        if call.chosen is not None and call.chosen is not self:
            return Function.__call__(call.chosen, *args, **kwargs)
        call.arguments, call.result = (args, kwargs), super().__call__(*args, **kwargs)
        return call.result

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the concrete function; inside a trace, the handle that registers this implementation."""
        if thread.trace is None and not is_in_scratch_graph():
            return super().get_concrete_function(*args, **kwargs)
        return Alternative(self)

    def take_place(self) -> None:
        """Replace the calls of this API in the current trace, past and future, if the device matches."""
        if self._device != devices.default_device().kind or is_in_scratch_graph():
            return
        call = self._call()
        call.chosen = self
        if call.arguments is not None:
            args, kwargs = call.arguments
            _replace(call.result, super().__call__(*args, **kwargs))

    def _call(self) -> _ImplementationCall:
        return present_trace().api_calls.setdefault(self._api, _ImplementationCall())


class Alternative:
    """The result of `get_concrete_function` inside a trace."""

    def __init__(self, implementation: Implementation) -> None:
        self._implementation = implementation

    def add_to_graph(self, g: object = None, overwrite: bool = False) -> None:
        """Register the implementation: it replaces the others of its API if its device is in use."""
        self._implementation.take_place()

    def add_gradient_functions_to_graph(self, g: object = None) -> None:
        """Do nothing: derivatives are built on demand."""


def _replace(result: object, other: object) -> None:
    """Make the tensors of a result, not used yet, refer to those of another."""
    for old, new in zip(nest.flatten(result, True), nest.flatten(other, True), strict=True):
        if isinstance(old, TracedTensor) and isinstance(new, TracedTensor):
            old.value, old.place, old.tracer = new.value, new.place, new.tracer
        elif type(old) is Tensor and type(new) is Tensor:  # constants of the graph
            old.array, old.tracer = new.array, new.tracer
