"""Extension points: functions that a lower layer calls and a higher layer, or a backend, implements.

Imports point downward, so a lower layer cannot import the implementation; the implementing module installs it here when
it is imported. These are all of them. State that observers need while they are active belongs to a `Mode` instead.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from .tracebacks import hide_frames

if TYPE_CHECKING:
    from .tensor import Tensor

_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)
_T = TypeVar("_T")


class ExtensionPoint(Generic[_P, _R]):
    """A function of a higher layer; `installed` is None until that layer has installed it."""

    __slots__ = ("_name", "installed")

    def __init__(self, name: str) -> None:
        self._name = name
        self.installed: Callable[_P, _R] | None = None

    def install(self, function: Callable[_P, _R] | None) -> None:
        """Sets the function; None removes it."""
        self.installed = function

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if self.installed is None:
            raise RuntimeError(f"{self._name} is not installed: the package that implements it was not imported")
        return self.installed(*args, **kwargs)


# `report_escape(x, how)`: NumPy or Python, which no tape records, reads the value of the traced tensor `x`.
report_escape: ExtensionPoint[[Tensor, str], None] = ExtensionPoint("report_escape")

# `operator_fallback(reflected, tensor, other)` evaluates `tensor + other` for an `other` of a type that a user has
# registered, given the name of the reflected operator; may return NotImplemented. Installed while there are such types.
operator_fallback: ExtensionPoint[[str, Tensor, Any], Any] = ExtensionPoint("operator_fallback")

# `foreign_operands(op, values)` evaluates an operator whose operands, none of which need be a tensor, do not convert to
# tensors, given the name of the op; may return NotImplemented. Installed while a library has registered a dispatcher.
foreign_operands: ExtensionPoint[[str, Sequence[Any]], Any] = ExtensionPoint("foreign_operands")

# `foreign_arguments(function, args, kwargs)` calls what libraries have registered for a function that has refused these
# arguments; may return NotImplemented. Installed while a library has registered a dispatcher for one function.
foreign_arguments: ExtensionPoint[[Callable[..., Any], Sequence[Any], dict[str, Any]], Any] = ExtensionPoint(
    "foreign_arguments"
)

# `place_tensor(x)` moves a tensor created from a non-tensor value to its device; only GPU backends install it.
place_tensor: ExtensionPoint[[Tensor], Tensor] = ExtensionPoint("place_tensor")

# `load_op(name)` imports modules that define ops until one has defined the op `name`, so that any rule finds any op; if
# there is no such op, it imports all of them.
load_op: ExtensionPoint[[str], None] = ExtensionPoint("load_op")

# `add_custom_call(trace, inputs, outputs, rule)` adds a call with a custom gradient to the graph being traced. Returns
# the outputs, whose gradients reach the inputs through the rule, and the node `(op, inputs, attributes)`.
add_custom_call: ExtensionPoint[..., tuple[tuple[Tensor, ...], Any]] = ExtensionPoint("add_custom_call")

# `convert_function(f, features)` prepares a function for Python control flow on tensors.
convert_function: ExtensionPoint[[Callable[..., Any], Any], Callable[..., Any]] = ExtensionPoint("convert_function")

# `graph_defs()` returns the module that presents graphs as TensorFlow's messages.
graph_defs: ExtensionPoint[[], ModuleType] = ExtensionPoint("graph_defs")

# `message_class(name)` returns the class of a protocol buffer message of TensorFlow's; needs the package protobuf.
message_class: ExtensionPoint[[str], Any] = ExtensionPoint("message_class")

# `tensorflow_hook()` returns the module with the import hook that serves gradtape as `tensorflow`.
tensorflow_hook: ExtensionPoint[[], ModuleType] = ExtensionPoint("tensorflow_hook")

# `public_names()` returns the module with the public names of ops, for messages.
public_names: ExtensionPoint[[], ModuleType] = ExtensionPoint("public_names")

# `served_names()` returns public names that only `gradtape run` serves, by path, and functions that return each.
served_names: ExtensionPoint[[], Mapping[str, Callable[[], Any]]] = ExtensionPoint("served_names")


def takes_foreign_arguments(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Decorator: a call that raises TypeError or ValueError is passed to `foreign_arguments`."""

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            found: Any = NotImplemented
            if isinstance(error, TypeError | ValueError) and foreign_arguments.installed is not None:
                found = foreign_arguments(call, args, kwargs)
            if found is NotImplemented:
                hide_frames(error)
                raise
            return found

    call.takes_foreign_arguments = True  # type: ignore[attr-defined]
    return call
