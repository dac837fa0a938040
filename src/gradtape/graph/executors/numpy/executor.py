"""A graph as straight-line Python: one line a node, a call of its kernel on bare NumPy arrays.

A value is let go after its last use. The source is what a debugger and a traceback show; an error of a kernel becomes
the one eager execution raises, and names the user's line.
"""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any

import numpy as np

from ....engine.run import dispatch, modes
from ...ir.graph import Graph
from ...passes.fused_ops import with_fused_ops
from ...passes.optimize import common_subexpressions, dead_code
from .fusion import fused
from .lowering import in_single, lowered
from .memory_planning import plan_memory
from .program import ProgramWriter, is_name

_number = itertools.count(1).__next__
_unused_files: dict[str, list[str]] = {}  # by the name of the function: file names that no code has any more
_compiled: weakref.WeakKeyDictionary[Graph, Callable[..., tuple[Any, ...]]] = weakref.WeakKeyDictionary()


def compiled(graph: Graph) -> Callable[..., tuple[Any, ...]]:
    """`compile_graph(graph)`, made once for each graph."""
    run = _compiled.get(graph)
    if run is None:
        run = _compiled[graph] = compile_graph(graph)
    return run


def compile_graph(graph: Graph, budget: int | float | None = None) -> Callable[..., tuple[Any, ...]]:
    """A function from the arrays of `graph.all_inputs` to a tuple of the arrays of `graph.all_outputs`.

    A run of it holds no more than the budget, if there is one: see `plan_memory`.
    """
    graph = prepared(graph)
    return written(graph if budget is None else plan_memory(graph, budget))


def prepared(graph: Graph) -> Graph:
    """The graph with the nodes that are to be lines of the program."""
    graph = in_single(graph)
    if modes.checks_values():  # each op is to be run by its kernel, which checks what it returns
        return dead_code(common_subexpressions(graph))
    return fused(dead_code(common_subexpressions(lowered(with_fused_ops(graph)))))


def written(graph: Graph) -> Callable[..., tuple[Any, ...]]:
    """The same function for a graph that is prepared: one line a node."""
    program = ProgramWriter(graph)
    name = graph.name if is_name(graph.name) else "graph"
    if name in {*program.globals, "LinAlgError", "located"}:
        name = f"graph_of_{name}"
    parameters = ", ".join(program.names[v] for v in graph.all_inputs)
    returned = "".join(f"{program.name(v)}, " for v in graph.all_outputs)
    source = "\n".join([
        f"def {name}({parameters}):",
        "    try:",
        *(f"        {line}" for line in program.lines),
        f"        return ({returned})",
        "    except (ValueError, LinAlgError) as error:",
        "        raise located(error) from error",
        "",
    ])  # fmt: skip
    nodes = dict(enumerate(program.lined, 3))

    def located(error: Exception) -> Exception:
        trace = error.__traceback__
        node = None if trace is None else nodes.get(trace.tb_lineno)
        if node is None:
            return error
        failure = dispatch.failure(node.op, [v.shape for v in node.inputs], error)
        line = node.line
        return failure if line is None else type(failure)(f"{failure} (defined at {line[0]}:{line[1]})")

    names = {"LinAlgError": np.linalg.LinAlgError, "located": located, **program.globals}
    # The name makes NumPy warnings count as ours, which the front door keeps quiet.
    names["__name__"] = __name__
    exec(_compiled_source(source, name), names)
    # A function that is found in its own globals would wait for the collector.
    run: Callable[..., tuple[Any, ...]] = names.pop(name)
    return run


def _compiled_source(source: str, name: str) -> CodeType:
    """The code of a module that defines the function `name`; tracebacks and debuggers find its source in `linecache`.

    `linecache.checkcache` raises if an entry is removed while it goes through them, as by the collector or by another
    thread. So entries are not removed, but overwritten: when the code is gone and another function of that name is
    compiled. A frame, and with it a traceback, keeps its code.
    """
    unused = _unused_files.setdefault(name, [])
    try:
        filename = unused.pop()
    except IndexError:
        filename = f"<gradtape graph {name} {_number()}>"
    code = compile(source, filename, "exec")
    # Without a time of change, the entry is never out of date.
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    own = next(constant for constant in code.co_consts if isinstance(constant, CodeType))
    weakref.finalize(own, unused.append, filename).atexit = False
    return code
