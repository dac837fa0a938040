"""The graph of a traced function: nodes in execution order, each an op applied to values defined before it (SSA form).

A graph is pure except for its effects: a variable's value enters as an input and leaves as an update, which the caller
applies after the run has succeeded. Nodes whose op is an effect (a print, a random draw) stay in program order. Graphs
are immutable: passes return new ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes
from ...core.dtypes import DType
from ...core.locks import cached_property
from ...core.protocols import Attrs as Attrs
from ...core.protocols import Line
from ...core.tensor import Tensor, wrap
from ...engine.registry.devices import REAL
from ...engine.registry.op import Op, Unregistered
from ...engine.run import dispatch
from ...engine.run.namespace import ops
from ...engine.run.randomness import Draw, Stream
from ...engine.run.trace_protocol import TraceStreams

GraphOp = Op | Unregistered  # the op of a node
Saved = tuple[Any, ...]  # what an op keeps for its rule
Parents = Sequence[int]  # the positions of an op's inputs on a tape, negative if they are not on it

_NEVER = wrap(np.False_, dtypes.bool)


class Value:
    """A value of a graph: its shape and dtype, and its array if it is a constant."""

    __slots__ = ("constant", "dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: DType, constant: Any = None) -> None:
        self.shape, self.dtype, self.constant = shape, dtype, constant

    def __repr__(self) -> str:
        return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"


class Node(NamedTuple):
    """`outputs = op(*inputs, **attrs)`; `several` says whether the op's kernel returns a tuple."""

    op: Any
    inputs: tuple[Value, ...]
    attrs: dict[str, Any]
    outputs: tuple[Value, ...]
    several: bool = False
    line: Line | None = None

    def on(self, found: dict[Value, Value]) -> Node:
        """Returns the node with each input that is a key of `found` replaced."""
        if found.keys().isdisjoint(self.inputs):
            return self
        return self._replace(inputs=tuple([found.get(v, v) for v in self.inputs]))

    @property
    def effect(self) -> bool:
        """Whether running the node, or a graph inside it, has a side effect."""
        return getattr(self.op, "effect", False) or any(g.has_effects for g in subgraphs(self))


def maker(nodes: Iterable[Node], value: Value) -> Node | None:
    """Returns the node that produces the value, or None for an input."""
    return next((node for node in nodes if value in node.outputs), None)


def unique(name: str, taken: Container[str]) -> str:
    """Returns the name, with a numeric suffix if it is already taken."""
    return next(n for n in chain([name], (f"{name}_{i}" for i in count(1))) if n not in taken)


def subgraphs(node: Node) -> Iterator[Graph]:
    """Iterate over the graphs that a node runs: the branches of a cond, the condition and body of a loop."""
    return graphs_in(node.attrs)


def graphs_in(attrs: dict[str, Any]) -> Iterator[Graph]:
    """Iterate over the graphs among a node's attributes."""
    for value in attrs.values():
        yield from (g for g in _as_tuple(value) if isinstance(g, Graph))


def all_nodes(graph: Graph) -> Iterator[Node]:
    """Iterate over the nodes of a graph and of its nested graphs."""
    for node in graph.nodes:
        yield node
        for inner in subgraphs(node):
            yield from all_nodes(inner)


@dataclass(frozen=True, eq=False)
class Graph:
    """A traced function. `variables` are additional inputs; `updates` are the new values of variables."""

    name: str
    inputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Value, ...]
    variables: tuple[tuple[Any, Value], ...] = ()
    updates: tuple[tuple[Any, Value], ...] = ()

    @property
    def all_inputs(self) -> tuple[Value, ...]:
        """The inputs, then the values of the variables."""
        return (*self.inputs, *(value for _, value in self.variables))

    @property
    def all_outputs(self) -> tuple[Value, ...]:
        """The outputs, then the new values of the variables."""
        return (*self.outputs, *(value for _, value in self.updates))

    @property
    def has_effects(self) -> bool:
        """Whether a run has side effects."""
        return any(node.effect for node in self.nodes)

    @cached_property
    def unneeded(self) -> tuple[tuple[Value, ...], ...]:
        """For each node, the values whose lifetime ends with it."""
        last = {v: i for i, node in enumerate(self.nodes) for v in (*node.inputs, *node.outputs)}
        found: list[list[Value]] = [[] for _ in self.nodes]
        outputs = set(self.all_outputs)
        for value, i in last.items():
            if value.constant is None and value not in outputs:
                found[i].append(value)
        return tuple(map(tuple, found))

    def substituted(self, nodes: Sequence[Node], found: dict[Value, Value] | None = None) -> Graph:
        """Returns this graph with other nodes, and with each output and update that is a key of `found` replaced."""
        at = (found or {}).get
        return replace(
            self,
            nodes=tuple(nodes),
            outputs=tuple(at(v, v) for v in self.outputs),
            updates=tuple((variable, at(v, v)) for variable, v in self.updates),
        )

    def with_subgraphs(self, change: Callable[[Graph], Graph]) -> Graph:
        """Returns this graph with the graphs that its nodes run replaced by `change(graph)`."""

        def changed(value: Any) -> Any:
            if isinstance(value, Graph):
                return change(value)
            return tuple(map(changed, value)) if type(value) is tuple else value

        return self.substituted([
            node._replace(attrs={k: changed(v) for k, v in node.attrs.items()}) if any(subgraphs(node)) else node
            for node in self.nodes
        ])  # fmt: skip

    def verify(self) -> Graph:
        """Check well-formedness: every value is defined once, and before its uses. Returns the graph."""
        known = set(map(id, self.all_inputs))
        if len(known) != len(self.all_inputs):
            raise AssertionError(f"an input of graph {self.name} stands twice")

        def check(value: Value, where: str) -> None:
            if value.constant is None and id(value) not in known:
                raise AssertionError(f"graph {self.name}: {where} uses a {value!r} that no earlier node makes")

        for i, node in enumerate(self.nodes):
            for value in node.inputs:
                check(value, f"node {i} ({node.op.name})")
            for value in node.outputs:
                if id(value) in known or value.constant is not None:
                    raise AssertionError(f"graph {self.name}: node {i} ({node.op.name}) makes a value made before")
                known.add(id(value))
            for inner in subgraphs(node):
                inner.verify()
        for value in self.all_outputs:
            check(value, "the end")
        return self

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def replay(graph: Graph, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Run the graph op by op on tensors of any kind (recorded, batched, traced again) and return its `all_outputs`.

    `inputs` are its `all_inputs`; the caller applies the updates. In a trace, random ops get streams of their own.
    """
    made: dict[Value, Tensor] = dict(zip(graph.all_inputs, inputs, strict=True))

    def tensor(value: Value) -> Tensor:
        return made[value] if value.constant is None else wrap(value.constant, value.dtype)

    trace = dispatch.thread.trace
    tracing = [recorder for recorder in dispatch.thread.recorders if recorder.traces]
    listeners = () if trace is not None else dispatch.listeners()
    streams: dict[int, Stream] = {}
    try:
        for node, unneeded in zip(graph.nodes, graph.unneeded, strict=True):
            inputs = [tensor(v) for v in node.inputs]
            for recorder in listeners:
                recorder.at_node(node.line)
            if trace is None:
                unrolled = getattr(node.op, "unrolled", None)
                if unrolled is None:
                    result = dispatch.run(node.op, inputs, node.attrs)
                    for recorder in tracing if node.effect and not node.outputs else ():
                        recorder.record_check(node.op, inputs, node.attrs)
                else:
                    outputs = unrolled(inputs, node.attrs)
                    result = tuple([_tied(y, inputs) for y in (_distinct(outputs, inputs) if tracing else outputs)])
            else:
                with trace.at_line(node.line):
                    if node.effect:
                        result = trace.run(node.op, inputs, _with_own_streams(node.attrs, streams, trace.random))
                    else:
                        result = dispatch.run(node.op, inputs, node.attrs)
            made.update(zip(node.outputs, result if node.several else (result,), strict=True))
            for value in unneeded:
                del made[value]
    finally:
        for recorder in listeners:
            recorder.at_node(None)
    return [tensor(value) for value in graph.all_outputs]


def _distinct(outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> list[Tensor]:
    """Copy the outputs of a branch or loop that alias an input or each other: on other inputs they may not alias."""
    seen = {id(x) for x in inputs}
    found = []
    for y in outputs:
        found.append(ops.identity(y) if id(y) in seen and type(y) in REAL else y)
        seen.add(id(y))
    return found


def _tied(y: Tensor, inputs: Sequence[Tensor]) -> Tensor:
    """Make an output of a branch or loop depend on all differentiable inputs, if only through a masked-out zero.

    Another branch, or another number of iterations, may depend on them, so the gradient must be zero, not None.
    """
    if not dispatch.thread.recorders or type(y) not in REAL or y.tracer is not None or not y.dtype.differentiable:
        return y
    nothing = wrap(np.zeros((), y.dtype.numpy), y.dtype)
    for x in inputs:
        if type(x) in REAL and x.tracer is not None and x.dtype.differentiable:
            total = ops.cast(ops.sum(x, axis=tuple(range(len(x.dims))), keepdims=False), dtype=y.dtype)
            y = ops.sub(y, ops.where(_NEVER, total, nothing))  # addition would turn -0.0 into 0.0
    return y


def _with_own_streams(attrs: dict[str, Any], streams: dict[int, Stream], random: TraceStreams) -> dict[str, Any]:
    """Returns a node's attributes for another graph, in which its random draws, nested ones too, get new streams."""

    def own(value: Any) -> Any:
        if isinstance(value, Draw):
            stream = streams.get(id(value.stream))
            if stream is None:
                stream = streams[id(value.stream)] = random.stream_for(value.stream)
            return Draw(stream, value.blocks)
        if isinstance(value, Graph):
            if not value.has_effects:
                return value
            nodes = [node._replace(attrs=_with_own_streams(node.attrs, streams, random)) for node in value.nodes]
            return value.substituted(nodes)
        return tuple(map(own, value)) if type(value) is tuple else value

    return {key: own(value) for key, value in attrs.items()}


def _lines(graph: Graph, indent: str = "") -> Iterator[str]:
    names: dict[Value, str] = {}

    def name(value: Value) -> str:
        if value.constant is not None:
            return _constant_text(value)
        return names.setdefault(value, f"t{len(names)}")

    for i, value in enumerate(graph.inputs):
        names[value] = f"x{i}"
    taken = {}
    for variable, value in graph.variables:
        taken[id(variable)] = names[value] = f"{variable.name.partition(':')[0]}"
    arguments = ", ".join(f"{names[v]}: {v!r}" for v in graph.all_inputs)
    yield f"{indent}def {graph.name}({arguments}):"
    inside = f"{indent}    "
    for node in graph.nodes:
        attrs = {k: v for k, v in node.attrs.items() if not any(g is v or g in _as_tuple(v) for g in subgraphs(node))}
        given = [*(name(v) for v in node.inputs), *(f"{k}={_attribute_text(v)}" for k, v in attrs.items())]
        made = ", ".join(f"{name(v)}: {v!r}" for v in node.outputs)
        line = "" if node.line is None else f"  # {os.path.basename(node.line[0])}:{node.line[1]}"
        yield f"{inside}{made}{' = ' if made else ''}{node.op.name}({', '.join(given)}){line}"
        for inner in subgraphs(node):
            yield from _lines(inner, inside + "    ")
    for variable, value in graph.updates:
        yield f"{inside}{taken.get(id(variable), variable.name)}.assign({name(value)})"
    yield f"{inside}return {', '.join(map(name, graph.outputs))}"


def _as_tuple(value: object) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _constant_text(value: Value) -> str:
    array = np.asarray(value.constant)
    return str(array) if array.size == 1 and not array.ndim else f"<constant {value!r}>"


def _attribute_text(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"<{value.dtype}{list(value.shape)}>" if value.size > 8 else str(value.tolist())
    return getattr(value, "__name__", None) or repr(value)
