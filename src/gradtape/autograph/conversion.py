"""Converts Python functions to functions made of operators, and the calls between them.

The source of each code object is rewritten once. A call in converted code goes through `converted_call`, which converts
the callee unless it is a library function, a class, a generator or marked as an artifact; a function that cannot be
converted runs as it is.
"""

from __future__ import annotations

import functools
import inspect
import logging
import sys
import types
import unittest
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from malt.core import converter
from malt.operators import py_builtins
from malt.pyct import errors

from ..api.catalogue.fronts import defining_module
from ..api.namespace import root as tf
from ..core.dtypes import float32
from ..core.errors import InvalidArgumentError
from ..core.tensor import Tensor
from ..graph.ir.effects import Changed
from ..graph.trace import conversion_status
from ..graph.trace.trace import active_trace
from ..graph.trace.traced import PoisonTensor, Untraceable
from . import operators
from .builtin_functions import OVERLOADS
from .error_messages import explain_error, note_propagation
from .transpiler import Transpiler

NOT_A_PLAIN_CALL = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

# Functions of gradtape that stage the functions they are given.
HIGHER_ORDER = frozenset("case cond foldl foldr map_fn scan switch_case vectorized_map while_loop".split())


_NOT_CONVERTED = (ValueError, AttributeError, KeyError, NameError, AssertionError)


class ConversionError(errors.PyCTError):
    """Raised when a function cannot be converted."""


def _caught() -> BaseException | None:
    """Returns the exception being handled."""
    return sys.exc_info()[1]


class FunctionScope:
    """The scope of a converted function's body, which determines how calls in it are converted."""

    def __init__(self, function_name: str, scope_name: str, options: Any) -> None:
        self.name = scope_name
        self.callopts = options.call_options()
        self._switch = conversion_status.switched(off=False) if options.user_requested else None

    def __enter__(self) -> FunctionScope:
        if self._switch is not None:
            self._switch.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._switch is not None:
            self._switch.__exit__(*error)

    def ret(self, value: Any, did_return: Any) -> Any:
        """Returns the function's result; an undefined one is None."""
        return None if isinstance(value, operators.UndefinedReturnValue) else value


def with_function_scope(thunk: Callable[[FunctionScope], Any], scope_name: str, options: Any) -> Any:
    """Runs the body of a converted lambda."""
    with FunctionScope("lambda_", scope_name, options) as scope:
        return thunk(scope)


def options_of(recursive: bool, features: Iterable[Any] | Any | None) -> Any:
    """Returns the options for converting a function at the user's request. `features` are members of `Feature`."""
    given = () if features is None else features if isinstance(features, Iterable) else (features,)
    names = {feature.name for feature in given}
    chosen = [converter.Feature[name] for name in names]
    return converter.ConversionOptions(recursive, user_requested=True, optional_features=chosen)


def converted(f: Callable[..., Any], recursive: bool, features: Iterable[Any] | Any | None) -> Callable[..., Any]:
    """Wraps `f` in a function that converts it when it is called."""
    if is_artifact(f):
        return f
    options = options_of(recursive, features)

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return converted_call(f, args, kwargs, options=options)
        except Exception as error:
            again = explain_error(error)
            if again is error:
                raise
        raise again

    if inspect.isfunction(f) or inspect.ismethod(f):
        functools.update_wrapper(call, f)
    return conversion_status.autograph_artifact(call)


def to_graph(entity: Any, recursive: bool, features: Any) -> Callable[..., Any]:
    """Returns the converted function of `entity`."""
    try:
        return conversion_status.autograph_artifact(_transformed(entity, options_of(recursive, features)))
    except _NOT_CONVERTED as error:
        raise ConversionError(f"converting {entity}: {type(error).__name__}: {error}") from error


def to_code(entity: Any, recursive: bool, features: Any) -> str:
    """Returns the source code of the converted function of `entity`."""
    try:
        return TRANSPILER.source(_function_of(entity), options_of(recursive, features))
    except _NOT_CONVERTED as error:
        raise ConversionError(f"converting {entity}: {type(error).__name__}: {error}") from error


def is_artifact(f: Any) -> bool:
    """Whether `f` needs no conversion: it is converted already, or marked."""
    return hasattr(f, "autograph_info__")


def _function_of(entity: Any) -> types.FunctionType:
    function = getattr(entity, "__func__", entity)
    if not isinstance(function, types.FunctionType):
        raise ValueError(
            "Cannot apply autograph to a function that doesn't expose a __code__ object. If this is a @tf.function, "
            "try passing f.python_function instead."
        )
    return function


def _transformed(entity: Any, options: Any) -> Any:
    function = _function_of(entity)
    # Functions without a closure are cached; a recursive closure refers to itself, so caching it would keep it alive.
    made: dict[Any, Any] = {} if function.__closure__ else _MADE.setdefault(function, {})
    key = options.as_tuple()
    if key not in made:
        made[key] = TRANSPILER.convert(function, options)
    return made[key]


def converted_call(
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    caller_fn_scope: FunctionScope | None = None,
    options: Any = None,
) -> Any:
    """Calls `f(*args, **kwargs)`, with `f` converted if it is a user function."""
    if options is None:
        assert caller_fn_scope is not None
        options = caller_fn_scope.callopts
    kwargs = kwargs or {}
    if conversion_status.thread.off and not options.user_requested:
        return f(*args, **kwargs)
    if isinstance(f, types.BuiltinFunctionType | type):
        if f in OVERLOADS:
            return OVERLOADS[f](*args, **kwargs)
        return _OF_THE_CALLER[f](f, args, caller_fn_scope) if f in _OF_THE_CALLER else f(*args, **kwargs)
    if isinstance(f, functools.partial):
        return converted_call(f.func, f.args + args, {**f.keywords, **kwargs}, caller_fn_scope, options)
    function, before = _python_function(f)
    if function is None or is_artifact(f) or not options.internal_convert_user_code or function in _LEFT_ALONE:
        return f(*args, **kwargs)
    if not _is_users(function, f):
        if function in _higher_order():
            args = tuple([_as_part(x, options) for x in args])
            kwargs = {key: _as_part(x, options) for key, x in kwargs.items()}
        return _op(f, args, kwargs) if defining_module(function).startswith(_OPS) else f(*args, **kwargs)
    try:
        again = _transformed(function, options)
    except Exception as error:
        _warn(f, error)
        _LEFT_ALONE.add(function)
        return f(*args, **kwargs)
    try:
        return again(*before, *args, **kwargs)
    except Exception as error:
        if not isinstance(error, Changed | Untraceable):  # signals internal to the tracer
            note_propagation(error, again.__code__)
        raise


# Packages of pure functions: a call whose result is unused may be dropped.
_FOLDERS = "arrays catalogue image linalg math nn ragged random signal sparse text".split()
_OPS = tuple(f"gradtape.api.{folder}." for folder in _FOLDERS)


def _op(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls an op; if it fails because of a traced tensor's value, returns a poison tensor that carries the error."""
    trace, looks = active_trace(), conversion_status.thread.looks
    try:
        return f(*args, **kwargs)
    except InvalidArgumentError as error:
        if trace is None or conversion_status.thread.looks == looks:
            raise
        error.about_values = True
        first = next((x for x in (*args, *kwargs.values()) if isinstance(x, Tensor) and x.dtype.is_floating), None)
        return PoisonTensor(error, float32 if first is None else first.dtype, trace)


def _python_function(f: Any) -> tuple[Any, tuple[Any, ...]]:
    """Returns the Python function that a call of `f` runs, and its bound arguments; None if it has no usable source."""
    function: Any = f
    before: tuple[Any, ...] = ()
    if isinstance(f, types.MethodType):
        function, before = f.__func__, (f.__self__,)
    elif not isinstance(f, types.FunctionType):
        function, before = inspect.getattr_static(type(f), "__call__", None), (f,)
    if not isinstance(function, types.FunctionType):
        return None, ()
    code = function.__code__
    return (None, ()) if code.co_filename == "<string>" or code.co_flags & NOT_A_PLAIN_CALL else (function, before)


def _is_users(function: types.FunctionType, f: Any) -> bool:
    """Whether a function is not a library's. Decorators copy the user's `__name__`, but their globals reveal them."""
    if function.__globals__.get("__name__", "").partition(".")[0] in conversion_status.LIBRARIES:
        return function.__code__.co_filename.startswith("<doctest ")  # an example in its module's globals
    return not (isinstance(f, types.MethodType) and isinstance(f.__self__, unittest.TestCase))


def _as_part(x: Any, options: Any) -> Any:
    """Converts a function passed to `tf.map_fn` or a similar function."""
    if not isinstance(x, types.FunctionType | types.MethodType | functools.partial) or is_artifact(x):
        return x
    return conversion_status.autograph_artifact(
        lambda *args, **kwargs: converted_call(x, args, kwargs, options=options)
    )


@functools.cache
def _higher_order() -> frozenset[Any]:
    return frozenset([*(getattr(tf, name) for name in HIGHER_ORDER), tf.distribute.Strategy.run])


def _warn(f: Any, error: Exception) -> None:
    logging.getLogger("gradtape").warning(
        "AutoGraph could not transform %s and will run it as-is.\nCause: %s\nTo silence this warning, decorate the "
        "function with @tf.autograph.experimental.do_not_convert",
        f,
        error,
    )


_MADE: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()
_LEFT_ALONE: weakref.WeakSet[types.FunctionType] = weakref.WeakSet()
_OF_THE_CALLER: dict[Any, Callable[..., Any]] = {
    eval: py_builtins.eval_in_original_context,
    super: py_builtins.super_in_original_context,
    globals: lambda f, args, scope: py_builtins.globals_in_original_context(scope),
    locals: lambda f, args, scope: py_builtins.locals_in_original_context(scope),
}
NAMESPACE = types.SimpleNamespace(
    **{name: getattr(operators, name) for name in operators.__all__},
    autograph_artifact=conversion_status.autograph_artifact,
    caught=conversion_status.autograph_artifact(_caught),
    converted_call=converted_call,
    ConversionOptions=converter.ConversionOptions,
    Feature=converter.Feature,
    FunctionScope=FunctionScope,
    STD=converter.STANDARD_OPTIONS,
    with_function_scope=with_function_scope,
)
TRANSPILER = Transpiler({"ag__": NAMESPACE})
