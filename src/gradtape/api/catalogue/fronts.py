"""Fronts: the functions that users call, which dispatch to users' types and to composite tensors.

`api.namespace.resolve` publishes every function that takes `name`, and every row of the catalogue, behind a front. A
front first asks the registrations of users (`tf.experimental.dispatch_for_api`), which are usually none; it then calls
the implementation; and only if that raises it looks for a fallback for the composite tensors among the arguments. So a
call that succeeds pays for one test of an empty list, and implementations check for nothing.

The fronts are closures of one template, compiled once for each number of parameters. Names and defaults of the
parameters belong to the copy of the compiled code, so that tracebacks, `inspect.signature` and debuggers show the
public ones.
"""

from __future__ import annotations

import importlib
import inspect
import linecache
from collections.abc import Callable, Sequence
from functools import cache, partial, wraps
from types import FunctionType
from typing import Any

from ...core.composites import CompositeTensor
from ...core.errors import NeedsExamples
from ...core.tensor import Tensor
from ...core.tracebacks import hide_frames
from ...engine.run.source_lines import declare_library
from .documentation import documentation_of
from .row import Row

_VARIADIC = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS

# By class, `public module:name`: where composites have implementations of public functions, `module:function`. That
# function is called with a public path; it returns an implementation `f(function, *args)`, which may return
# NotImplemented, or None. The classes are named, so that a program without such values imports none of this.
FALLBACKS = {
    "gradtape:RaggedTensor": "gradtape.ragged.functions:implementation_of",
    "gradtape.experimental:DynamicRaggedShape": "gradtape.ragged.functions:implementation_of",
    "gradtape.compat.v1.ragged:RaggedTensorValue": "gradtape_tensorflow.v1.ragged:implementation_of",
}

# The same for functions that TensorFlow composes of public ones, which dispatch to users' types.
COMPOSITIONS = dict.fromkeys(
    ("nn.batch_normalization", "nn.normalize_moments", "nn.scale_regularization_loss"),
    "gradtape.api.experimental.compositions",
)

Check = Callable[[object], tuple[bool, bool]]


class Target:
    """A user's implementation of a public function, and the signatures it accepts.

    A signature is a list of parameters, each with a check: whether a value fits, and whether it triggers dispatch.
    """

    def __init__(self, function: Callable[..., Any], signatures: list[list[tuple[str, Check]]], owner: object) -> None:
        self.function = function
        self.owner = owner  # the object the user registered
        self._signatures = signatures

    def takes(self, arguments: dict[str, object]) -> bool:
        """Whether it accepts these arguments: they fit a signature, and one of them triggers dispatch."""
        for checks in self._signatures:
            found = [check(arguments[name]) if name in arguments else (False, False) for name, check in checks]
            if all(fits for fits, _ in found) and any(own for _, own in found):
                return True
        return False


class Publication:
    """A function behind a front: its public name, and the users' implementations of it."""

    __slots__ = ("front", "function", "path", "targets")

    front: Any  # a function; type checkers would bind an attribute of that type as a method

    def __init__(self, path: str, function: Row | FunctionType) -> None:
        self.path = path
        self.function = function
        self.targets: list[Target] = []

    def dispatch(self, args: tuple[object, ...]) -> Any:
        """Returns the result of the user's implementation for these arguments, or NotImplemented."""
        if not any(triggers_dispatch(x) for x in args if type(x) is not Tensor):
            return NotImplemented
        parameters = inspect.signature(self.front).parameters
        arguments = dict(zip(parameters, args, strict=False))
        found = [target for target in self.targets if target.takes(arguments)]
        if len(found) > 1:
            names = " and ".join(repr(target.owner) for target in found[:2])
            raise ValueError(
                f"Multiple dispatch targets that were registered with tf.dispatch_for ({names}) match the arguments to "
                f"{self.front.__name__}. Unregister one of them, or make their types differ"
            )
        if not found:
            return NotImplemented
        given = list(args)
        for parameter in reversed(list(parameters.values())[: len(args)]):
            if given[-1] is not parameter.default:
                break
            given.pop()  # the user's implementation may have another default
        return found[0].function(*given)

    def recover(self, error: Exception, args: tuple[object, ...], kwargs: dict[str, object] | None = None) -> Any:
        """Returns the result of the fallback for composite tensors among the arguments, or NotImplemented.

        `kwargs` is given for functions of any number of arguments.
        """
        if isinstance(error, NeedsExamples):
            return error.for_examples(self._plain(), args, kwargs or {})
        if getattr(error, "is_signal", False):
            return NotImplemented
        if dispatchers and isinstance(error, TypeError | ValueError):
            found = self._by_dispatchers(args, kwargs)
            if found is not NotImplemented:
                return found
        implementation = self._implementation_for(args) if kwargs is None else None
        if implementation is None:
            return NotImplemented
        try:
            return implementation(*args)
        except NeedsExamples as new:
            return new.for_examples(implementation, args, {})
        except Exception as new:
            new.__suppress_context__ = True  # the failure for tensors says nothing about it
            raise

    def _by_dispatchers(self, args: tuple[object, ...], kwargs: dict[str, object] | None) -> Any:
        given = list(args)
        parameters = inspect.signature(self.front).parameters.values() if kwargs is None else ()
        for parameter in reversed(list(parameters)):
            if given[-1] is not parameter.default:
                break
            given.pop()
        for dispatcher in dispatchers:
            found = dispatcher(self.front, tuple(given), kwargs or {})
            if found is not NotImplemented:
                return found
        return NotImplemented

    def _implementation_for(self, args: tuple[object, ...]) -> Callable[..., Any] | None:
        place = next((found for x in args if (found := _fallback_of(x))), None)
        if place is not None:
            module, _, attribute = place.partition(":")
            implementation = getattr(importlib.import_module(module), attribute)(self.path)
            return implementation and partial(implementation, self._plain())
        module = COMPOSITIONS.get(self.path, "")
        if not module or not any(map(triggers_dispatch, args)):
            return None
        composition = getattr(importlib.import_module(module), self.path.rpartition(".")[2])
        return composition  # type: ignore[no-any-return]

    def _plain(self) -> Callable[..., Any]:
        """Returns the function without dispatch, with the parameters of the front."""
        return _without_name(self.function.call) if isinstance(self.function, Row) else self.function


def _without_name(call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: call(*args[:-1])


def triggers_dispatch(value: object) -> bool:
    """Whether a value is a composite tensor, or a list that contains one."""
    if isinstance(value, list | tuple):
        return any(map(triggers_dispatch, value))
    return isinstance(value, CompositeTensor)


def _fallback_of(x: object) -> str | None:
    """Returns the place of the implementations for a value, or for the first composite in a list."""
    if isinstance(x, list | tuple):
        return next((found for part in x if (found := _fallback_of(part)) is not None), None)
    return FALLBACKS.get(f"{getattr(type(x), '__module__', '')}:{type(x).__name__}")


# What libraries have registered for all functions: `dispatcher(front, args, kwargs)` returns the result of a call that
# has raised TypeError or ValueError, or NotImplemented. Keras 2 makes layers of calls with its symbolic tensors.
dispatchers: list[Callable[[Callable[..., Any], tuple[object, ...], dict[str, object]], Any]] = []
publications: dict[Callable[..., Any], Publication] = {}  # by front


def published(path: str, function: Row | FunctionType) -> FunctionType:
    """Returns a new front of a function or of a row, with the public name `path`."""
    publication = Publication(path, function)
    space, _, name = path.rpartition(".")
    if isinstance(function, Row):
        *parameters, _ = types = function.types
        bind = _template(len(parameters), len(parameters) - 1)  # an op takes no `name`
        front = renamed(bind(function.call, publication), name, parameters)
        front.__doc__, front.__annotations__ = documentation_of(function), types
        front.__defaults__ = function.defaults
    else:
        code = function.__code__
        count = code.co_argcount
        bind = _template(count, count)
        front = renamed(bind(function, publication), name, code.co_varnames[:count])
        front.__doc__, front.__annotations__ = function.__doc__, function.__annotations__
        front.__defaults__ = function.__defaults__
        vars(front).update(vars(function), __wrapped__=function)
    front.__module__ = f"gradtape.{space}".rstrip(".")
    front.__qualname__ = name
    publication.front = front
    publications[front] = publication
    return front


def published_variadic(path: str, function: FunctionType) -> FunctionType:
    """Returns a front of a function of any number of arguments; users cannot register implementations for it."""
    publication = Publication(path, function)

    @wraps(function)
    def front(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            found = publication.recover(error, args, kwargs)
            if found is NotImplemented:
                hide_frames(error)
                raise
            return found

    front.__module__ = f"gradtape.{path.rpartition('.')[0]}".rstrip(".")
    publication.front = front
    return front  # type: ignore[return-value]


# Functions without a parameter `name` that dispatch in TensorFlow, besides those of `tf.image`.
_NAMELESS = frozenset(
    "broadcast_dynamic_shape nn.compute_average_loss nn.scale_regularization_loss nn.silu nn.swish sets.difference "
    "sets.intersection sets.size sets.union".split()
)
VARIADIC = frozenset(("einsum", "linalg.einsum", "meshgrid"))


def takes_front(path: str, function: FunctionType) -> bool:
    """Whether a function is published behind a front: its parameters are positional, and one of them is `name`."""
    code = function.__code__
    positional = not (code.co_flags & _VARIADIC or code.co_kwonlyargcount)
    if path.startswith("image."):
        return positional
    return path in _NAMELESS or (positional and "name" in code.co_varnames[: code.co_argcount])


def defining_module(function: Callable[..., Any]) -> str:
    """Returns the module that defines a function, also if it is a front."""
    publication = publications.get(function)
    if publication is not None and isinstance(publication.function, Row):
        return "gradtape.api.catalogue.row"
    return getattr(function, "__wrapped__", function).__module__


def renamed(function: FunctionType, name: str, parameters: Sequence[str] = ()) -> FunctionType:
    """Returns a copy of a function, without annotations, with another name and other names of its first parameters."""
    code = function.__code__
    names = (*parameters, *code.co_varnames[len(parameters) :])
    code = code.replace(co_name=name, co_qualname=name, co_varnames=names)
    copy = FunctionType(code, function.__globals__, name, function.__defaults__, function.__closure__)
    copy.__doc__, copy.__kwdefaults__ = function.__doc__, function.__kwdefaults__
    return copy


_TEMPLATE = """\
def bind(call, publication):
    targets = publication.targets

    def front({parameters}):
        if targets and (_found := publication.dispatch(({parameters},))) is not NotImplemented:
            return _found
        try:
            return call({passed})
        except Exception as _error:
            _found = publication.recover(_error, ({parameters},))
            if _found is NotImplemented:
                hide_frames(_error)
                raise
            return _found

    return front
"""


@cache
def _template(count: int, passed: int) -> Callable[..., FunctionType]:
    """Compiles `bind(call, publication)`, which returns a front of `count` parameters that passes the first `passed`.

    Fronts of the same numbers share it. Its source is visible in tracebacks, like that of the op runners.
    """
    parameters = [f"p{i}" for i in range(count)]
    source = _TEMPLATE.format(parameters=", ".join(parameters), passed=", ".join(parameters[:passed]))
    file = f"<gradtape front: {count}, {passed}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    declare_library(file)
    from ...core import type_hints  # here: nothing that gradtape imports at once needs it

    made: dict[str, Callable[..., FunctionType]] = {}
    names = {**vars(type_hints), "__name__": __name__, "hide_frames": hide_frames}  # the types for `get_type_hints`
    exec(compile(source, file, "exec"), names, made)
    return made["bind"]
