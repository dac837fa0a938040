"""Tensors that a function closes over: constants of its graph, unless a tape or an outer trace tracks them.

A tape may watch such a tensor in one call and not in another. So the tensors reachable from the function carry a tracer
during tracing, and ops on them become nodes, although their values are the same in every run.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ...core.tensor import Tensor
from ...engine.registry.devices import REAL
from ...engine.run import dispatch
from ...state.variable import Variable
from ..ir.graph import Graph, Value
from .trace import Trace

_LARGE = 1000  # larger containers are assumed to hold data, and are not searched
# Instances of these types, and of subclasses, hold no variables and no tensors that a tape could watch.
_PLAIN = (str, bytes, int, float, complex, type(None), type, types.ModuleType, types.BuiltinFunctionType)
_NO_TENSORS = (*_PLAIN, Variable)
_CONTAINERS = (list, tuple, dict)
_FUNCTIONS = (types.FunctionType, types.MethodType)


def tensors_around(f: object) -> list[Tensor]:
    """Returns the differentiable tensors reachable from `f` through closures, globals, attributes and functions."""
    return [x for x in _around(f, _NO_TENSORS) if not isinstance(x, Variable) and x.dtype.differentiable]


def variables_around(f: object) -> list[Variable]:
    """Returns the variables reachable from `f` in the same way."""
    return [x for x in _around(f, _PLAIN) if isinstance(x, Variable)]


def _around(f: object, plain: tuple[type, ...]) -> list[Any]:
    """Returns the tensors and variables reachable from `f`, without searching values of the `plain` types."""
    found: list[Any] = []
    seen: set[int] = set()
    todo: list[tuple[Any, Sequence[str]]] = [(f, ())]
    while todo:
        value, names = todo.pop()
        kind = type(value)
        if kind in plain or id(value) in seen or isinstance(value, plain):
            continue
        seen.add(id(value))
        if kind in REAL or isinstance(value, Variable):
            found.append(value)
        elif kind is types.FunctionType:
            todo += _used_by(value, plain)
        elif isinstance(value, _CONTAINERS):
            if len(value) <= _LARGE:
                parts = value.values() if isinstance(value, dict) else value
                todo += [(x, names) for x in parts if type(x) not in plain]
        elif kind is types.MethodType:
            todo += [(value.__func__, ()), (value.__self__, _names(value.__func__.__code__))]
        elif isinstance(value, functools.partial):
            todo += [(x, names) for x in (value.func, value.args, value.keywords)]
        elif isinstance(getattr(value, "python_function", None), _FUNCTIONS):
            todo.append((value.python_function, ()))
        elif names:
            attributes = getattr(value, "__dict__", {})
            todo += [(attributes[name], names) for name in names if name in attributes]
    return found


def _used_by(f: types.FunctionType, plain: tuple[type, ...]) -> Iterator[tuple[Any, Sequence[str]]]:
    names = _names(f.__code__)
    for cell in f.__closure__ or ():
        try:
            value = cell.cell_contents
        except ValueError:  # an unbound closure variable
            continue
        if type(value) not in plain:
            yield value, names
    for name in names:
        if name in f.__globals__:
            yield f.__globals__[name], names


@functools.lru_cache(maxsize=1024)
def _names(code: types.CodeType) -> tuple[str, ...]:
    """Returns the names of the globals and attributes used by a function and by the functions nested in it."""
    inner = [name for part in code.co_consts if isinstance(part, types.CodeType) for name in _names(part)]
    return (*code.co_names, *inner)


@contextmanager
def tracking(trace: Trace, tensors: Sequence[Tensor]) -> Iterator[None]:
    """In the block, the trace tracks these tensors; restores their tracers afterwards."""
    tracers = [x.tracer for x in tensors]
    for x in tensors:
        trace.add_external(x)
        trace.externals[trace.place_of(x)] = x
    try:
        yield
    finally:
        for x, tracer in zip(tensors, tracers, strict=True):
            x.tracer = tracer


def is_external(x: Tensor) -> bool:
    """Whether an active tape or trace tracks `x`, so that it is more than a constant."""
    if x.tracer is None:
        return False
    thread = dispatch.thread
    if any(dispatch.entry(x.tracers, recorder.key) is not None for recorder in thread.recorders):
        return True
    return thread.trace is not None and thread.trace.is_external(x)


def opened(graph: Graph, constants: Sequence[Value]) -> Graph:
    """Returns the graph with these constants turned into additional inputs."""
    given = {value: Value(value.shape, value.dtype) for value in constants}
    nodes = [node.on(given) for node in graph.nodes]
    graph = graph.substituted(nodes, given)
    return replace(graph, inputs=(*graph.inputs, *given.values()))
