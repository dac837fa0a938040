"""Tensors that a function uses without being given them: constants of its graph, until somebody follows one.

A tape may watch such a tensor in one call and not in another. So the tensors that can be found from the function are
marked while it is traced, and what is computed from them is part of the graph, though it is the same in every run.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ..engine import dispatch
from ..tensor import Tensor
from ..variable import Variable
from .graph import Graph, Value
from .trace import Trace

_LARGE = 1000  # containers of more entries hold data, and are not searched
# What is of these types, or of types made of them, holds no tensors that a tape could watch.
_PLAIN = (str, bytes, int, float, complex, type(None), type, types.ModuleType, types.BuiltinFunctionType)


def tensors_around(f: Any) -> list[Tensor]:
    """The differentiable tensors in the closures and globals that `f` uses, and in the objects and functions there."""
    return [x for x in _around(f) if type(x) is Tensor and x.dtype.differentiable]


def variables_around(f: Any) -> list[Variable]:
    """The variables there."""
    return [x for x in _around(f) if isinstance(x, Variable)]


def _around(f: Any) -> list[Any]:
    found: list[Any] = []
    seen: set[int] = set()
    todo: list[tuple[Any, Sequence[str]]] = [(f, ())]
    while todo:
        value, names = todo.pop()
        kind = type(value)
        if kind in _PLAIN or id(value) in seen or isinstance(value, _PLAIN):
            continue
        seen.add(id(value))
        if kind is Tensor or isinstance(value, Variable):
            found.append(value)
        elif isinstance(value, list | tuple | dict):
            if len(value) <= _LARGE:
                parts = value.values() if isinstance(value, dict) else value
                todo += [(x, names) for x in parts if type(x) not in _PLAIN]
        elif isinstance(value, types.FunctionType):
            todo += _used_by(value)
        elif isinstance(value, types.MethodType):
            todo += [(value.__func__, ()), (value.__self__, _names(value.__func__.__code__))]
        elif isinstance(value, functools.partial):
            todo += [(x, names) for x in (value.func, value.args, value.keywords)]
        elif isinstance(getattr(value, "python_function", None), types.FunctionType | types.MethodType):
            todo.append((value.python_function, ()))
        elif names:
            attributes = getattr(value, "__dict__", {})
            todo += [(attributes[name], names) for name in names if name in attributes]
    return found


def _used_by(f: types.FunctionType) -> Iterator[tuple[Any, Sequence[str]]]:
    names = _names(f.__code__)
    for cell in f.__closure__ or ():
        try:
            value = cell.cell_contents
        except ValueError:  # a name that has no value yet
            continue
        if type(value) not in _PLAIN:
            yield value, names
    for name in names:
        if name in f.__globals__:
            yield f.__globals__[name], names


@functools.lru_cache(maxsize=1024)
def _names(code: types.CodeType) -> tuple[str, ...]:
    """The globals and attributes that a function uses, and the functions in it."""
    inner = [name for part in code.co_consts if isinstance(part, types.CodeType) for name in _names(part)]
    return (*code.co_names, *inner)


@contextmanager
def following(trace: Trace, tensors: Sequence[Tensor]) -> Iterator[None]:
    """Inside the block the trace follows these tensors."""
    before = [x.mark for x in tensors]
    for x in tensors:
        trace.follow(x)
        trace.followed[trace.place_of(x)] = x
    try:
        yield
    finally:
        for x, mark in zip(tensors, before, strict=True):
            x.mark = mark


def is_followed(x: Tensor) -> bool:
    """Whether the tape or the function in which `x` is used now takes it for more than a constant."""
    if x.mark is None:
        return False
    thread = dispatch.thread
    if any(dispatch.note(x.marks, recorder.key) is not None for recorder in thread.recorders):
        return True
    return thread.trace is not None and thread.trace.is_followed(x)


def opened(graph: Graph, constants: Sequence[Value]) -> Graph:
    """The graph with these constants of it as further inputs."""
    given = {value: Value(value.shape, value.dtype) for value in constants}
    nodes = [node._replace(inputs=tuple(given.get(v, v) for v in node.inputs)) for node in graph.nodes]
    graph = graph.substituted(nodes, given)
    return replace(graph, inputs=(*graph.inputs, *given.values()))
