"""`tensorflow.python.util.tf_inspect`: Python's `inspect`, which unwraps decorators."""

from __future__ import annotations

import inspect as _inspect
from inspect import (
    Parameter,
    Signature,
    currentframe,
    getframeinfo,
    getmembers,
    getmodule,
    getmro,
    isbuiltin,
    isclass,
    isframe,
    isfunction,
    isgenerator,
    isgeneratorfunction,
    ismethod,
    ismodule,
    isroutine,
    stack,
)
from typing import Any, NamedTuple

from .tf_decorator import unwrap

__all__ = [
    "Parameter", "Signature", "currentframe", "getframeinfo", "getmembers", "getmodule", "getmro", "isbuiltin",
    "isclass", "isframe", "isfunction", "isgenerator", "isgeneratorfunction", "ismethod", "ismodule", "isroutine",
    "stack",
]  # fmt: skip

FullArgSpec = _inspect.FullArgSpec


class ArgSpec(NamedTuple):
    """The result of `getargspec`."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def signature(obj: Any, *, follow_wrapped: bool = True) -> Signature:
    """Returns the signature of the target."""
    return _inspect.signature(unwrap(obj)[1], follow_wrapped=follow_wrapped)


def getfullargspec(obj: Any) -> FullArgSpec:
    """Returns the argument spec that the outermost decorator declares, else that of the target.

    TensorFlow's functions have no annotations, and libraries compare specs, so annotations of gradtape's are omitted.
    """
    decorators, target = unwrap(obj)
    for decorator in decorators:
        if decorator.decorator_argspec is not None:
            return decorator.decorator_argspec
    spec = _inspect.getfullargspec(target)
    ours = str(getattr(target, "__module__", "")).partition(".")[0] == "gradtape"
    return spec._replace(annotations={}) if ours else spec


def getargspec(obj: Any) -> ArgSpec:
    """Returns the arguments as Python 2 does, with keyword-only ones among the others."""
    spec = getfullargspec(obj)
    defaults = (spec.defaults or ()) + tuple((spec.kwonlydefaults or {}).values())
    return ArgSpec(spec.args + spec.kwonlyargs, spec.varargs, spec.varkw, defaults or None)


def getcallargs(*func_and_positional: Any, **named: Any) -> dict[str, Any]:
    """Returns the value of each argument in a call."""
    function, *positional = func_and_positional
    bound = signature(function).bind(*positional, **named)
    bound.apply_defaults()
    return dict(bound.arguments)


def getdoc(object: Any) -> str | None:
    """Returns the docstring."""
    return _inspect.getdoc(object)


def getfile(object: Any) -> str:
    """Returns the file that defines the target."""
    return _inspect.getfile(unwrap(object)[1])


def getsource(object: Any) -> str:
    """Returns the source of the target."""
    return _inspect.getsource(unwrap(object)[1])


def getsourcefile(object: Any) -> str | None:
    """Returns the source file of the target."""
    return _inspect.getsourcefile(unwrap(object)[1])
