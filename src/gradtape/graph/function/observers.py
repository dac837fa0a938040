"""A graph that somebody looks on to: it runs as if they did not, and NumPy runs it once more for them.

Whoever looks at values in the middle keeps them from being fused, written over or left out, and so changes last digits.
So a program for running has no nodes that look; after a run they are run by themselves, with all that leads to them, on
what the variables held before and with what the effects of the run have given.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...engine.run import dispatch
from ...engine.run.source_lines import caller
from ..executors.numpy import executor
from ..ir.effects import ObserverOp, is_imagined, recording, replaying
from ..ir.graph import Graph, Node, all_nodes, subgraphs
from ..passes.optimize import dead_code, optimize
from ..trace.trace import value_of

logger = logging.getLogger("gradtape")


def is_watched(graph: Graph) -> bool:
    """Whether there are nodes that look."""
    return any(isinstance(node.op, ObserverOp) for node in all_nodes(graph))


def unwatched(graph: Graph) -> Graph:
    """The graph without the nodes that look, and what only they need."""
    if not is_watched(graph):
        return graph

    def inside(value: Any) -> Any:
        if isinstance(value, Graph):
            return unwatched(value)
        return tuple(map(inside, value)) if type(value) is tuple else value

    nodes = [
        node._replace(attrs={k: inside(v) for k, v in node.attrs.items()}) if any(subgraphs(node)) else node
        for node in graph.nodes
        if not isinstance(node.op, ObserverOp)
    ]
    return dead_code(graph.substituted(nodes))


def look(
    tensors: Sequence[Any], see: Callable[[Sequence[Any]], None], wanted: Callable[[], bool], passed: Callable[[], None]
) -> None:
    """Adds a node to the graph that is being traced: `see` gets the arrays of the tensors in each run, if `wanted`.

    Else it is told, by `passed`, that there was a run. Inside of a branch or a loop, a run is one of these.
    """
    trace = dispatch.thread.trace
    places = tuple([trace.place_of(x) for x in tensors])
    attrs: dict[str, Any] = {"see": see, "wanted": wanted, "passed": passed}
    trace.nodes.append(Node(_shown, places, attrs, (), True, trace.line or caller()))
    if not trace.awaits:
        _show(*[value_of(x).array for x in tensors], **attrs)


def _show(*arrays: Any, see: Any, wanted: Callable[[], bool], passed: Callable[[], None]) -> tuple[()]:
    def show() -> None:
        see(arrays) if wanted() else passed()

    if not is_imagined():
        trace = dispatch.thread.trace
        if trace is None:
            show()
        else:
            trace.outermost.shows.append(show)
    return ()


_shown = ObserverOp("look", _show)


class Watched:
    """A program, and beside it one that looks."""

    def __init__(self, program: Any, graph: Graph) -> None:
        self._program = program
        self._variables = [variable for variable, _ in graph.variables]
        self._graph = replace(graph, outputs=(), updates=())
        own = [node.attrs for node in graph.nodes if isinstance(node.op, ObserverOp)]
        self._wanted, self._passed = [attrs["wanted"] for attrs in own], [attrs["passed"] for attrs in own]
        self._always = any(is_watched(inner) for node in graph.nodes for inner in subgraphs(node))
        self._looks: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._program, name)

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Runs the program, and then shows it."""
        if not self._always and not any([wanted() for wanted in self._wanted]):
            results: Sequence[Any] = self._program(arrays)
            for passed in self._passed:
                passed()
            return results
        held = [np.array(variable._settled()) for variable in self._variables]  # XLA may give their memory away
        with recording() as done:
            results = self._program(arrays)
        try:
            if self._looks is None:
                self._looks = executor.compile_graph(optimize(self._graph), None)
            with replaying(done):
                self._looks(*arrays, *held)
        except Exception as error:  # an index out of range, say, which XLA takes as it is
            logger.debug("a run of %s cannot be looked at: %s", self._graph.name, error)
        return results
