"""Compiles a graph to straight-line Python source, which `program.py` generates, and to its function.

Debuggers and tracebacks show the source; a kernel's error is converted to the one that eager execution raises, with the
user's line.
"""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any

from ....core import modes
from ....engine.run import dispatch
from ...ir.graph import Graph
from ...passes.fused_ops import with_fused_ops
from ...passes.optimize import common_subexpressions, dead_code
from .fusion import fused
from .lowering import in_single, lowered
from .program import ProgramWriter, is_name

_number = itertools.count(1).__next__
_unused_files: dict[str, list[str]] = {}  # by function name: file names whose code has been freed
_compiled: weakref.WeakKeyDictionary[Graph, Callable[..., tuple[Any, ...]]] = weakref.WeakKeyDictionary()


def compiled(graph: Graph) -> Callable[..., tuple[Any, ...]]:
    """Returns `compile_graph(graph)`, cached per graph."""
    run = _compiled.get(graph)
    if run is None:
        run = _compiled[graph] = compile_graph(graph)
    return run


def compile_graph(graph: Graph, budget: int | float | None = None) -> Callable[..., tuple[Any, ...]]:
    """Returns a function from the arrays of `graph.all_inputs` to a tuple of the arrays of `graph.all_outputs`.

    With a budget, the peak memory of a run is limited: see `plan_memory`.
    """
    graph = prepared(graph)
    if budget is not None:
        from .memory_planning import plan_memory  # imported lazily: few functions need it

        graph = plan_memory(graph, budget)
    return written(graph)


def prepared(graph: Graph) -> Graph:
    """Lower and fuse the graph; each node of the result becomes one line."""
    graph = in_single(graph)
    if modes.checks_values():  # every op must run its own kernel, which checks its results
        return dead_code(common_subexpressions(graph))
    return fused(dead_code(common_subexpressions(lowered(with_fused_ops(graph)))))


def written(graph: Graph) -> Callable[..., tuple[Any, ...]]:
    """Generate and compile the function of a prepared graph."""
    program = ProgramWriter(graph)
    name = graph.name if is_name(graph.name) else "graph"
    if name in {*program.globals, "located"}:
        name = f"graph_of_{name}"
    parameters = ", ".join(program.names[v] for v in graph.all_inputs)
    returned = "".join(f"{program.name(v)}, " for v in graph.all_outputs)
    source = "\n".join([
        f"def {name}({parameters}):",
        "    try:",
        *(f"        {line}" for line in program.lines),
        f"        return ({returned})",
        "    except ValueError as error:",
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

    # With this module name, the package's warning filter for NumPy applies.
    names = {**program.globals, "__name__": __name__, "located": located}
    exec(_compiled_source(source, name), names)
    # A function that is in its own globals is a reference cycle: only the garbage collector would free it.
    return names.pop(name)


def _compiled_source(source: str, name: str) -> CodeType:
    """Compile the source of the function `name`, and register it in `linecache` for tracebacks and debuggers.

    `linecache.checkcache` raises if an entry is removed during its iteration, be it by the garbage collector or by
    another thread. Therefore entries are never removed but overwritten, once their code is freed and another function
    of that name is compiled. A frame, and with it a traceback, keeps its code alive.
    """
    unused = _unused_files.setdefault(name, [])
    try:
        filename = unused.pop()
    except IndexError:
        filename = f"<gradtape graph {name} {_number()}>"
    code = compile(source, filename, "exec")
    # Without a modification time, `linecache` never invalidates the entry.
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    own = next(constant for constant in code.co_consts if isinstance(constant, CodeType))
    weakref.finalize(own, unused.append, filename).atexit = False
    return code
