"""`tensorflow.python.framework.ops`: the names without public counterpart."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import gradtape
from gradtape.core.nest import Composite


class _Kind(type):
    """Metaclass of a class whose instances are the tensors that satisfy `is_one`."""

    is_one: Callable[[Any], bool]

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, gradtape.Tensor) and cls.is_one(instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, gradtape.Tensor)


class EagerTensor(metaclass=_Kind):
    """A tensor with a value."""

    is_one = staticmethod(lambda x: not gradtape.is_symbolic_tensor(x))


class SymbolicTensor(metaclass=_Kind):
    """A tensor of a function being traced."""

    is_one = staticmethod(gradtape.is_symbolic_tensor)


_uids = itertools.count(1)


def executing_eagerly_outside_functions() -> bool:
    """Returns whether ops execute eagerly outside of functions."""
    return True


def convert_to_tensor(
    value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False, preferred_dtype: Any = None,
    dtype_hint: Any = None, ctx: Any = None, accepted_result_types: Any = None,
) -> Any:  # fmt: skip
    """Converts a value to a tensor."""
    return gradtape.convert_to_tensor(value, dtype, preferred_dtype if dtype_hint is None else dtype_hint, name)


def convert_to_tensor_or_composite(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Converts a value to a tensor; returns composite tensors unchanged."""
    return value if isinstance(value, Composite) else gradtape.convert_to_tensor(value, dtype, name=name)


def register_dense_tensor_like_type(tensor_type: type) -> None:
    """Does nothing: a class declares by `__tf_tensor__` or a conversion function that it is tensor-like."""


def name_scope(name: Any, default_name: Any = None, values: Any = None, skip_on_eager: bool = True) -> Any:
    """Enters a name scope in functions; in eager code only on request, because ops have no names there."""
    if skip_on_eager and not gradtape.inside_function():
        return nullcontext()
    return gradtape.compat.v1.name_scope(name, default_name, values)


def get_name_scope() -> str:
    """Returns the current name scope."""
    from gradtape.core.scopes import scoped

    return scoped("").rstrip("/")


def uid() -> int:
    """Returns a number that no other call returns."""
    return next(_uids)


def name_from_scope_name(name: str) -> str:
    """Removes the slash at the end of the name of a scope."""
    return name[:-1] if name and name[-1] == "/" else name


def device(device_name_or_function: Any) -> Any:
    """`tf.device`; a function of a graph's op, or None, selects no device."""
    named = device_name_or_function is not None and not callable(device_name_or_function)
    return gradtape.device(device_name_or_function) if named else contextlib.nullcontext()


_statistics: dict[tuple[str, str], Callable[..., Any]] = {}


class RegisterStatistics:
    """Decorator: registers the function that computes a statistic of an op's nodes, such as their "flops"."""

    def __init__(self, op_type: str, statistic_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string.")
        if "," in op_type:
            raise TypeError("op_type must not contain a comma.")
        if not isinstance(statistic_type, str):
            raise TypeError("statistic_type must be a string.")
        if "," in statistic_type:
            raise TypeError("statistic_type must not contain a comma.")
        self._key = op_type, statistic_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        if self._key in _statistics:
            raise KeyError(f"Registering two statistics with name '{','.join(self._key)}'!")
        _statistics[self._key] = f
        return f


class OpStats:
    """A statistic of a node: its type, and its value, or None."""

    def __init__(self, statistic_type: str, value: float | None = None) -> None:
        self.statistic_type, self.value = statistic_type, value

    def __iadd__(self, other: OpStats) -> OpStats:
        if other.statistic_type != self.statistic_type:
            raise ValueError(f"Can't add an OpStat of type {self.statistic_type} to one of {other.statistic_type}.")
        self.value = other.value if self.value is None else self.value + (other.value or 0)
        return self


def get_stats_for_node_def(graph: Any, node: Any, statistic_type: str) -> Any:
    """Returns the statistic of a node that a registered function computes; without one, an empty statistic."""
    f = _statistics.get((node.op, statistic_type))
    return OpStats(statistic_type) if f is None else f(graph, node)
