"""The environment of computations: printing, scopes, ordering, Python functions as ops."""

from __future__ import annotations

import builtins
import functools
import logging
import pprint
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, overload

import numpy as np

from ...core import errors, nest
from ...core.dtypes import string
from ...core.scopes import holding
from ...core.tensor import Tensor, is_tensor_like, wrap
from ...core.type_hints import DTypeLike, ValueLike
from ...engine.registry.batching import check_unbatched
from ...engine.run import dispatch
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...sparse.tensor import SparseTensor
from ...state.specs import TypeSpec, as_spec
from ...state.variable import variable_creator_scope
from .composite_calls import call_with_composites, has_composites

NAMESPACES = ("",)
__all__ = [
    "control_dependencies", "executing_eagerly", "get_logger", "group", "init_scope", "inside_function",
    "is_symbolic_tensor", "no_op", "numpy_function", "print", "py_function", "timestamp", "tuple",
]  # fmt: skip


def executing_eagerly() -> bool:
    """Returns whether ops run eagerly, as opposed to being traced.

    >>> tf.executing_eagerly()
    True
    """
    return dispatch.thread.trace is None and dispatch.thread.example is None


def inside_function() -> bool:
    """Returns whether a `tf.function` is being traced.

    >>> tf.inside_function()
    False
    """
    return dispatch.thread.trace is not None


def is_symbolic_tensor(tensor: object) -> bool:
    """Returns whether `tensor` is in a graph and has no value yet.

    >>> tf.is_symbolic_tensor(tf.constant(1.0))
    False
    """
    return hasattr(type(tensor), "place")


@contextmanager
def init_scope() -> Iterator[None]:
    """Context manager: ops in the block are neither recorded by tapes and accumulators nor traced.

    >>> x = tf.constant(2.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     with tf.init_scope():
    ...         y = x * x
    >>> tape.gradient(y, x) is None
    True
    """
    trace = dispatch.thread.trace
    noting = nullcontext() if trace is None else variable_creator_scope(functools.partial(_create_lifted, trace))
    with dispatch.traced_by(None), holding(dispatch.thread, example=None), noting:
        yield


def _create_lifted(trace: Any, next_creator: Callable[..., Any], **arguments: Any) -> Any:
    """Creates a variable in an `init_scope`; the function that is being traced creates it, as in TensorFlow."""
    variable = next_creator(**arguments)
    trace.lifted_out(variable)
    return variable


def control_dependencies(control_inputs: Any) -> AbstractContextManager[None]:
    """Context manager: calls functions among the inputs; ops always run in program order.

    >>> v = tf.Variable(1.0)
    >>> with tf.control_dependencies([lambda: v.assign_add(1.0)]):
    ...     y = v * 2.0
    >>> float(y)
    4.0
    """
    for function in filter(callable, [control_inputs] if callable(control_inputs) else control_inputs or ()):
        function()
    return nullcontext()


def group(*inputs: Any, **kwargs: Any) -> None:
    """Does nothing in eager execution: grouped ops have already run.

    >>> tf.group(tf.constant(1.0))
    """
    kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")


def no_op(name: str | None = None) -> None:
    """Does nothing.

    >>> tf.no_op()
    """


def tuple(tensors: Any, control_inputs: Any = None, name: str | None = None) -> list[Any]:
    """Returns the tensors as a list, after all of them have been computed.

    >>> [float(t) for t in tf.tuple([tf.constant(1.0), tf.constant(2.0)])]
    [1.0, 2.0]
    """
    for x in tensors:
        if nest.is_nested(x):
            raise TypeError(
                f"'tensors' must be a list of tensors, not of {type(x).__name__}: use tf.nest.flatten first"
            )
    return [x if x is None or nest.is_composite(x) else ops.identity(to_tensor(x)) for x in tensors]


def timestamp(name: str | None = None) -> Tensor:
    """Returns the seconds since 1970, as a float64 tensor.

    >>> float(tf.timestamp()) > 1.7e9
    True
    """
    trace = dispatch.thread.trace
    if trace is None:
        return Tensor(np.float64(time.time()))
    from ...graph.ir.effects import clock

    return trace.run(clock, (), {})


def get_logger() -> logging.Logger:
    """Returns the logger, of Python's `logging`, to which warnings and notes go.

    >>> tf.get_logger().name
    'gradtape'
    """
    return logging.getLogger("gradtape")


_PYTHON_ERRORS = {
    TypeError: errors.InvalidArgumentError,
    ValueError: errors.InvalidArgumentError,
    StopIteration: errors.OutOfRangeError,
    MemoryError: errors.ResourceExhaustedError,
    NotImplementedError: errors.UnimplementedError,
}


def _call(function: Callable[..., Any], args: list[Any]) -> Any:
    try:
        return function(*args)
    except errors.OpError:
        raise
    except Exception as error:
        known = (kind for base, kind in _PYTHON_ERRORS.items() if type(error) is base)
        raise next(known, errors.UnknownError)(f"{type(error).__name__}: {error}") from error


def _outputs(result: Any, declared: Any, make: Callable[[Any, Any], Tensor]) -> Any:
    """Returns the results of a Python function as tensors of the declared types: one, or a list."""
    if not isinstance(declared, list | builtins.tuple):
        return make(result, declared)
    values = [] if result is None else list(result) if isinstance(result, list | builtins.tuple) else [result]
    if len(values) != len(declared):
        raise errors.InvalidArgumentError(
            f"the function returned {len(values)} values, but Tout declares {len(declared)}"
        )
    return [make(value, kind) for value, kind in zip(values, declared, strict=True)]


def _decorator(calling: Callable[..., Any], inp: Any, Tout: Any) -> Any:
    """Returns the decorator for `@tf.py_function(Tout=...)`."""
    title = calling.__name__
    if inp is not None:
        raise TypeError(f"Don't set the `inp` argument when using tf.{title} as a decorator (`func=None`).")
    _check_call(title, (), Tout)
    return lambda f: functools.wraps(f)(lambda *args: calling(f, args, Tout))


def _check_call(title: str, inp: Any, Tout: Any) -> None:
    if Tout is None:
        raise TypeError(
            f"Missing required argument: 'Tout'. Used as a decorator, tf.{title} wants it by name: "
            f"@tf.{title}(Tout=tf.float32)"
        )
    if inp is None:
        raise TypeError(f"Missing argument `inp`: tf.{title} wants the list of the function's arguments")


@overload
def py_function(  # type: ignore[overload-overlap]
    func: Callable[..., Any], inp: Sequence[ValueLike], Tout: DTypeLike | TypeSpec, name: str | None = None
) -> Tensor: ...
@overload
def py_function(
    func: Callable[..., Any], inp: Sequence[ValueLike], Tout: Sequence[DTypeLike | TypeSpec],
    name: str | None = None,
) -> list[Tensor]: ...  # fmt: skip
@overload
def py_function(
    func: None = None, inp: None = None, *, Tout: object, name: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...
def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: str | None = None) -> Any:
    """Calls `func(*inp)` with tensors; the result is differentiable.

    Args:
      Tout: the dtype of the result, or a list of dtypes for a list of results; `tf.RaggedTensorSpec` and similar specs
        for composite tensors.

    >>> float(tf.py_function(lambda x: x * x, [tf.constant(3.0)], tf.float32))
    9.0

    Without `func`, it is a decorator:

    >>> @tf.py_function(Tout=tf.float32)
    ... def add(x, y):
    ...     return x + y
    >>> float(add(1.0, 2.0))
    3.0
    """
    if func is None:
        return _decorator(py_function, inp, Tout)
    _check_call("py_function", inp, Tout)
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func} of type {type(func)}.")
    several = isinstance(Tout, list | builtins.tuple)
    declared = list(Tout) if several else [Tout]
    if has_composites(inp, declared):
        return call_with_composites(py_function, func, inp, Tout)
    specs = list(map(as_spec, declared))

    def make(value: Any, spec: Any) -> Tensor:
        return to_tensor(value, dtype=spec.dtype)

    def call(tensors: Any) -> Any:
        result = _call(func, tensors)
        try:
            return _outputs(result, specs if several else specs[0], make)
        except (ValueError, TypeError) as error:
            raise errors.InvalidArgumentError(f"{type(error).__name__}: {error}") from error

    return _at_every_run(call, inp, declared, several, differentiable=True)


def _at_every_run(call: Any, inp: Any, declared: list[Any], several: bool, differentiable: bool) -> Any:
    """Calls `call(inp)`; during tracing, adds the call to the graph."""
    inputs = [to_tensor(x) for x in inp]
    check_unbatched("a Python function", *inputs)
    if dispatch.thread.trace is None:
        return call(inputs)
    from ...graph.control_flow.python_calls import traced_call

    def listed(tensors: Any) -> list[Tensor]:
        result = call(tensors)
        return result if isinstance(result, list) else [result]

    results = traced_call(listed, inputs, declared, differentiable)
    return results if several or len(results) != 1 else results[0]


@overload
def numpy_function(  # type: ignore[overload-overlap]
    func: Callable[..., Any], inp: Sequence[ValueLike], Tout: DTypeLike | TypeSpec,
    stateful: bool = True, name: str | None = None,
) -> Tensor: ...  # fmt: skip
@overload
def numpy_function(
    func: Callable[..., Any], inp: Sequence[ValueLike], Tout: Sequence[DTypeLike | TypeSpec],
    stateful: bool = True, name: str | None = None,
) -> list[Tensor]: ...  # fmt: skip
@overload
def numpy_function(
    func: None = None, inp: None = None, *, Tout: object, stateful: bool = True, name: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...
def numpy_function(
    func: Any = None, inp: Any = None, Tout: Any = None, stateful: bool = True, name: str | None = None
) -> Any:
    """Calls `func(*inp)` with NumPy arrays; no gradient flows through it.

    Args:
      Tout: the dtype of the result, or a list of dtypes for a list of results.

    >>> float(tf.numpy_function(lambda x: x + 1, [tf.constant(3.0)], tf.float32))
    4.0

    Without `func`, it is a decorator, like `tf.py_function`.
    """
    if func is None:
        return _decorator(numpy_function, inp, Tout)
    _check_call("numpy_function", inp, Tout)
    declared = list(Tout) if isinstance(Tout, list | builtins.tuple) else [Tout]

    inp = [x if is_tensor_like(x) else np.asarray(x) for x in inp]  # Python numbers are converted by NumPy

    in_graph = dispatch.thread.trace is not None

    def call(tensors: Any) -> Any:
        arrays = [np.asarray(x.numpy()) for x in tensors]
        if in_graph:
            return _arrays_declared(_call(func, arrays), declared)
        result = func(*arrays)  # in eager execution, the results are returned as they are, whatever `Tout` is
        found = [None if value is None else to_tensor(value) for value in nest.flatten(result)]
        return found[0] if len(found) == 1 else found

    return _at_every_run(call, inp, declared, isinstance(Tout, list | builtins.tuple), differentiable=False)


def _arrays_declared(result: Any, declared: list[Any]) -> list[Tensor]:
    """Returns the results of a NumPy function as arrays, after checking them against the declaration."""
    values = result if isinstance(result, list | builtins.tuple) else [] if result is None else [result]
    if len(values) != len(declared):
        raise errors.InvalidArgumentError(
            f"the function returns {len(values)} values, but expects to see {len(declared)} values: as many as Tout has"
        )
    found = [to_tensor(np.asarray(value)) for value in values]
    for i, (y, spec) in enumerate(zip(found, map(as_spec, declared), strict=True)):
        if y.dtype is not spec.dtype:
            raise errors.InvalidArgumentError(
                f"{i}-th value returned by the function is {y.dtype.kernel_name()}, but expects "
                f"{spec.dtype.kernel_name()}, as Tout says. Return an array with .astype(...)"
            )
    return found


def print(*inputs: Any, **kwargs: Any) -> None:
    """Prints values, tensors in short form, to `output_stream` (standard error by default).

    Keyword arguments: `output_stream` (`sys.stdout`, `sys.stderr`, "file://path" or a logging level), `summarize` (the
    number of entries at each end of a dimension, 3 by default; -1 for all), `sep`, `end`, `name`.

    >>> import sys
    >>> tf.print("x =", tf.constant([1.0, 2.5]), output_stream=sys.stdout)
    x = [1 2.5]
    """
    stream = kwargs.pop("output_stream", sys.stderr)
    summarize = kwargs.pop("summarize", 3)
    sep, end = kwargs.pop("sep", " "), kwargs.pop("end", "\n")
    kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    count = 3 if summarize is None else summarize
    if isinstance(stream, int) and stream in _LEVELS:
        stream = _Logged(_LEVELS[stream])
    if not hasattr(stream, "write") and not (isinstance(stream, str) and stream.startswith("file://")):
        raise ValueError(
            f"Unsupported output stream, logging level, or file.{stream}. Supported streams are sys.stdout, "
            "sys.stderr, the levels INFO, WARN and ERROR of logging, and 'file://<filepath>'."
        )
    structures: list[Any] = [
        x if isinstance(x, str) else nest.map_structure(lambda part: _read(part, count), x) for x in inputs
    ]
    leaves = nest.flatten(structures)
    tensors = [x for leaf in leaves for x in _tensors_to_print(leaf)]
    alone = len(structures) == 1 and isinstance(structures[0], Tensor) and not structures[0].dims

    def write(*arrays: Any) -> None:
        given = iter(arrays)
        shown: list[Any] = []
        for leaf in leaves:
            if isinstance(leaf, _Text):
                shown.append(_Shown(np.asarray(next(given)).item().decode(errors="replace")))
                continue
            parts = [summary(wrap(next(given), x.dtype), count) for x in _tensors_to_print(leaf)]
            if len(parts) == 3:
                parts = ["'SparseTensor(indices={}, values={}, shape={})'".format(*parts)]
            shown.append(_Shown(parts[0]) if parts else leaf)
        if alone and structures[0].dtype is string:  # a single text, not one among others
            shown = [np.asarray(arrays[0]).item().decode(errors="replace")]
        _write(stream, sep.join(map(_text, nest.pack_sequence_as(structures, shown))) + end)

    trace = dispatch.thread.trace
    if trace is None:
        check_unbatched("tf.print", *tensors)
        write(*(x.array for x in tensors))
    else:
        from ...graph.ir.effects import output

        trace.run(output, tensors, {"write": write})


# The levels of TensorFlow's logging, which are Python's, and those of absl.
_LEVELS = {20: logging.INFO, 30: logging.WARNING, 40: logging.ERROR}
_LEVELS |= {0: logging.INFO, -1: logging.WARNING, -2: logging.ERROR}


class _Logged:
    """A stream that logs every text as a message."""

    def __init__(self, level: int) -> None:
        self._level = level

    def write(self, text: str) -> None:
        logging.getLogger("gradtape").log(self._level, text.rstrip("\n"))


def _read(value: Any, count: int) -> Any:
    """Returns the tensor of a tensor or variable, the text of a ragged tensor, anything else unchanged."""
    if hasattr(value, "_as_text"):
        return _Text(value._as_text(count))
    return to_tensor(value) if is_tensor_like(value) else value


class _Text:
    """Text to print."""

    def __init__(self, text: Tensor) -> None:
        self.text = text


def _tensors_to_print(leaf: Any) -> list[Tensor]:
    """Returns the tensors to print for one part of the output."""
    if isinstance(leaf, _Text):
        return [leaf.text]
    if isinstance(leaf, SparseTensor):
        return [leaf.indices, leaf.values, leaf.dense_shape]
    return [leaf] if isinstance(leaf, Tensor) else []


def _text(x: Any) -> str:
    return x if isinstance(x, str) else pprint.pformat(x)


def _write(stream: Any, text: str) -> None:
    if isinstance(stream, str):
        with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:
            file.write(text)
    else:
        stream.write(text)


class _Shown:
    """Represents a tensor in a printed structure."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def summary(x: Tensor, count: int) -> str:
    """Formats a tensor as `tf.print` does: `count` entries at each end of every dimension, or all if negative."""
    array = np.asarray(x.array)
    return _summary(array, count, x.dtype is string, 0)


def _summary(array: Any, count: int, text: bool, depth: int) -> str:
    if not array.ndim:
        value = array.item() if text else array[()]
        return f'"{_escape(value)}"' if text else _number(value)
    size = len(array)
    indices: list[Any] = list(range(size))
    if 0 <= count and size > 2 * count:
        indices = [*range(count), None, *range(size - count, size)]
    parts = ["..." if i is None else _summary(array[i, ...], count, text, depth + 1) for i in indices]
    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (depth + 1)
    return f"[{between.join(parts)}]"


def _escape(text: bytes) -> str:
    """Escapes a text as in C string literals."""
    known = {c: f"\\{c}" for c in "\"'\\"} | {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return "".join(
        known.get(c) or (c if c >= " " and c != "\x7f" else f"\\{ord(c):03o}") for c in text.decode(errors="replace")
    )


def _number(value: Any) -> str:
    """Returns the shorter of TensorFlow's two formats of a number that round-trips."""
    if isinstance(value, np.bool_ | np.integer):
        return str(int(value))
    if isinstance(value, np.complexfloating):
        return f"({_number(value.real)},{_number(value.imag)})"
    if isinstance(value, np.float64):
        short = f"{value:.15g}"
        return short if float(short) == value or value != value else f"{value:.17g}"
    single = np.float32(value)
    short = f"{single:.6g}"
    return short if np.float32(short) == single or single != single else f"{single:.9g}"


def print_values(x: Tensor, count: int) -> str:
    """Formats the first `count` values of a tensor (all if negative), as assertions do."""
    flat = np.ravel(x.array).tolist()
    shown = flat if count < 0 or len(flat) <= count else flat[:count]
    return ", ".join(map(str, shown)) + (", ..." if len(shown) < len(flat) else "")
