"""Observer nodes: a graph under observation runs as if unobserved; NumPy then replays the observed part.

Reading intermediate values prevents fusion, in-place writes and dead code elimination, and so changes the last digits.
Therefore a compiled program has no observer nodes; after each run, the observer nodes and their dependencies run
separately, on the variable values from before the run and with the recorded results of its effects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core import logger
from ..executors.numpy import executor
from ..ir.effects import ObserverOp, is_imagined, recording, replaying
from ..ir.graph import Graph, all_nodes, subgraphs
from ..passes.optimize import dead_code, optimize
from ..trace.trace import active_trace, present_trace
from ..trace.traced import value_of


def is_watched(graph: Graph) -> bool:
    """Whether the graph has observer nodes."""
    return any(isinstance(node.op, ObserverOp) for node in all_nodes(graph))


def unwatched(graph: Graph) -> Graph:
    """Returns the graph without observer nodes and without the nodes that only they use."""
    if not is_watched(graph):
        return graph
    graph = graph.with_subgraphs(unwatched)
    return dead_code(graph.substituted([node for node in graph.nodes if not isinstance(node.op, ObserverOp)]))


def look(
    tensors: Sequence[Any], see: Callable[[Sequence[Any]], None], wanted: Callable[[], bool], passed: Callable[[], None]
) -> None:
    """Add an observer node to the current trace: each run passes the arrays to `see` if `wanted()`.

    Otherwise the run calls `passed()`. In a branch or a loop body, each execution of it is one run.
    """
    trace = present_trace()
    attrs: dict[str, Any] = {"see": see, "wanted": wanted, "passed": passed}
    trace.builder.add_node(_shown, list(map(trace.place_of, tensors)), attrs)
    if not trace.evaluator.is_lazy:
        _show(*[value_of(x).array for x in tensors], **attrs)


def _show(*arrays: Any, see: Any, wanted: Callable[[], bool], passed: Callable[[], None]) -> tuple[()]:
    def show() -> None:
        see(arrays) if wanted() else passed()

    if not is_imagined():
        trace = active_trace()
        if trace is None:
            show()
        else:
            trace.outermost.displays.append(show)
    return ()


_shown = ObserverOp("look", _show)


class Watched:
    """A compiled program together with a NumPy program of its observers."""

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
        """Run the program, then its observers if any is wanted."""
        return self._observed(self._program, arrays)

    def run(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Run the program on arrays of XLA, then its observers, which get them on the host."""
        return self._observed(self._program.run, arrays)

    def _observed(self, program: Callable[[Sequence[Any]], Sequence[Any]], arrays: Sequence[Any]) -> Sequence[Any]:
        if not self._always and not any([wanted() for wanted in self._wanted]):
            results = program(arrays)
            for passed in self._passed:
                passed()
            return results
        held = [np.array(variable._storage.host()) for variable in self._variables]  # XLA may donate their memory
        with recording() as done:
            results = program(arrays)
        try:
            if self._looks is None:
                self._looks = executor.compile_graph(optimize(self._graph), None)
            with replaying(done):
                self._looks(*map(np.asarray, arrays), *held)
        except Exception as error:  # e.g. an index out of range, which XLA clamps
            logger.debug("a run of %s cannot be looked at: %s", self._graph.name, error)
        return results
