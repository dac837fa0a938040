"""Runs a written function and the live one at sizes that the live one was not traced for.

The written program was fitted to a few graphs, so that it might be another function at other sizes. No file is written
unless both agree at the held-out sizes, or the live function rejects them. A run has no side effects: both functions
are traced with values, and what they would assign is compared instead of assigned. As a run enters one branch of a
condition alone, the graphs of the held-out sizes must also fit the program: it is the same when they are merged too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..api.lookup.static_tables import StaticHashTable
from ..core.dtypes import DType
from ..core.protocols import Line
from ..core.protos.records import decoded, encoded
from ..core.tensor import Tensor, wrap
from ..graph.executors.numpy.executor import compile_graph
from ..graph.ir.effects import Effect, imagining, output
from ..graph.ir.graph import Graph, all_nodes
from ..graph.passes.optimize import optimize
from ..graph.trace.trace import Trace
from ..graph.trace.traced import value_of
from .format.options import Asset
from .interpretation import FileAccess, GraphFunction, Library
from .invented_inputs import Run
from .probing import Probed
from .tables import LoadedTable
from .writing.generalisation import Differs, Program, merged
from .writing.library import FunctionLibrary
from .writing.writer import Unsaved, at_line

Results = list[tuple[str, Tensor]]  # outputs and new values of variables, with their descriptions

_DEPENDS = "what it does depends on a size that its input signature leaves open"
_ADVICE = "Give the sizes that matter in the input signature, instead of None"
_HALF, _SINGLE, _DOUBLE = 3e-2, 2e-3, 1e-6  # tolerances: the ops of the file may round differently


def verify(found: Probed, library: FunctionLibrary, name: str, captured: Sequence[Any]) -> None:
    """Raises `Unsaved` unless the function that was written under this name does at all sizes what the live one does.

    `captured` are the variables, assets and tables that the written function takes after its inputs.
    """
    if not found.held_out:
        return
    written = _readable(library, name)
    resources = [_as_loaded(value) for value in captured]
    failure: Exception | None = None
    verified: list[Graph] = []
    for alternatives in found.held_out:
        for run in alternatives:
            try:
                inputs, graph = found.trace(run)
                wanted = _live_results(inputs, graph)
            except Exception as error:  # whatever the function raises for inputs that it does not accept
                failure = error
                continue
            _compare(found, library.freezes, run, inputs, graph, wanted, written, resources)
            verified.append(graph)
            break
    if not verified:
        raise Unsaved(
            "no file is written that has not been run at sizes other than those for which it was traced, and the "
            f"function fails at all that were tried: {type(failure).__name__}: {failure}. {_ADVICE}"
        ) from failure
    _check_relations(found, library, verified)


def _check_relations(found: Probed, library: FunctionLibrary, verified: Sequence[Graph]) -> None:
    """Raises `Unsaved` unless merging the graphs of these sizes, too, leads to the same program."""
    graphs = list(found.graphs)
    program = merged(graphs)
    written = _fingerprints(found, library, program)
    for graph in verified:
        try:
            program = merged([*graphs, graph])
        except Differs as error:
            if error.nested:  # outer steps are run at all sizes, and their results are the same
                raise Unsaved(f"{_DEPENDS}{at_line(error.line)}: {error}. {_ADVICE}") from error
            continue
        graphs.append(graph)
    for own, other in zip(written, _fingerprints(found, library, program), strict=False):
        changed = [line for (number, line), (another, _) in zip(own, other, strict=False) if number != another]
        if changed or len(own) != len(other):
            line = next((line for line in changed if line is not None), None)
            raise Unsaved(f"{_DEPENDS}{at_line(line)}: how it computes a size could not be told. {_ADVICE}")


def _fingerprints(found: Probed, library: FunctionLibrary, program: Program) -> list[list[tuple[int, Line | None]]]:
    """Writes a program; returns hashes of the nodes of each function, and the lines of the user's code for them."""
    scratch = FunctionLibrary(saves_gradients=library.saves_gradients, freezes=library.freezes)
    scratch.function(program, "f", found.names, found.specs)
    return [
        [(hash(encoded("NodeDef", node)), line) for node, line in zip(function["node_def"], lines, strict=True)]
        for function, lines in zip(scratch.functions.values(), scratch.lines.values(), strict=True)
    ]


def _readable(library: FunctionLibrary, name: str) -> GraphFunction:
    """Returns a written function as it is loaded, with those that it calls."""
    needed: dict[str, Any] = {}
    waiting = [name]
    while waiting:
        title = waiting.pop()
        if title not in needed:
            needed[title] = library.functions[title]
            waiting += _callees(needed[title])
    graph = decoded("GraphDef", encoded("GraphDef", {"library": {"function": list(needed.values())}}))
    return Library(graph, FileAccess("", anywhere=True))[name]


def _callees(function: dict[str, Any]) -> Iterator[str]:
    for node in function["node_def"]:
        for value in node["attr"].values():
            if "func" in value:
                yield value["func"]["name"]
            for called in value.get("list", {}).get("func", ()):
                yield called["name"]


def _as_loaded(value: Any) -> Any:
    """Returns what a loaded function captures in place of a resource of the live one."""
    if isinstance(value, StaticHashTable):
        table = LoadedTable(value.key_dtype, value.value_dtype)
        table.fill(*value.export())
        return table
    return value.asset_path if isinstance(value, Asset) else value


def _live_results(inputs: Sequence[Tensor], graph: Graph) -> Results:
    run = compile_graph(optimize(graph))
    with imagining():
        arrays = run(*[x.array for x in inputs], *[variable._storage.host() for variable, _ in graph.variables])
    results = [wrap(array, value.dtype) for array, value in zip(arrays, graph.all_outputs, strict=True)]
    return _described(results[: len(graph.outputs)], [v for v, _ in graph.updates], results[len(graph.outputs) :])


def _written_results(inputs: Sequence[Tensor], written: GraphFunction, resources: Sequence[Any]) -> Results:
    trace = Trace(written.name)
    try:
        with imagining(), trace.entered():
            outputs = [value_of(y) for y in written(*map(trace.input, inputs), *resources)]
            updates = trace.variables.arrays_written()
        values = [Tensor(array, variable.dtype) for variable, array in updates]
        return _described(outputs, [variable for variable, _ in updates], values)
    finally:
        trace.release()


def _described(outputs: Sequence[Tensor], variables: Sequence[Any], values: Sequence[Tensor]) -> Results:
    """Returns the results of a run in an order that does not depend on that of the assignments."""
    updates = sorted(zip(map(id, variables), variables, values, strict=True), key=lambda one: one[0])
    return [(f"output {i}", value) for i, value in enumerate(outputs)] + [
        (f"the new value of {variable.name}", value) for _, variable, value in updates
    ]


def _compare(
    found: Probed, freezes: bool, run: Run, inputs: Sequence[Tensor], graph: Graph, wanted: Results,
    written: GraphFunction, resources: Sequence[Any],
) -> None:  # fmt: skip
    failure: Exception | None = None
    try:
        results = _written_results(inputs, written, resources)
        # Random numbers and times are others in each run.
        same_values = not any(isinstance(node.op, Effect) and node.op is not output for node in all_nodes(graph))
        problem = _difference(wanted, results, same_values)
    except Exception as error:
        failure, problem = error, f"fails with {type(error).__name__}: {error}"
    if problem:
        shapes = ", ".join(str(x.dims) for x in inputs)
        line = at_line(_line(found, freezes, graph))
        raise Unsaved(
            f"{_DEPENDS}{line}: for inputs of shape {shapes}, what would be written {problem}. {_ADVICE}"
        ) from failure


def _difference(wanted: Results, results: Results, same_values: bool) -> str:
    """Returns how the results of the file differ from those of the function."""
    titles, given = [title for title, _ in wanted], [title for title, _ in results]
    if titles != given:
        return f"gives {', '.join(given)}, and the function {', '.join(titles)}"
    for (title, a), (_, b) in zip(wanted, results, strict=True):
        if (a.dtype, a.dims) != (b.dtype, b.dims):
            return f"gives {b.dtype.name} of shape {b.dims} as {title}, and the function {a.dtype.name} of {a.dims}"
        if same_values and not _are_close(np.asarray(a.array), np.asarray(b.array), a.dtype):
            return f"gives other numbers as {title}"
    return ""


def _are_close(a: Any, b: Any, dtype: DType) -> bool:
    if not (dtype.is_floating or dtype.is_complex):
        return np.array_equal(a, b)
    wide: Any = np.complex128 if dtype.is_complex else np.float64
    a, b = a.astype(wide), b.astype(wide)
    tolerance = _HALF if dtype.size < 4 else _SINGLE if dtype.size == 4 or dtype.name == "complex64" else _DOUBLE
    scale = np.max(np.abs(a[np.isfinite(a)]), initial=0.0)
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance * min(scale, 1.0), equal_nan=True))


def _line(found: Probed, freezes: bool, graph: Graph) -> Line | None:
    """Returns the line of the first step that the program does not do as this graph does, or that of the last step."""
    try:
        program = merged([*found.graphs, graph])
        with suppress(TypeError):
            FunctionLibrary(saves_gradients=False, freezes=freezes).function(program, "f", found.names, found.specs)
    except (Differs, Unsaved) as error:
        if error.line is not None:
            return error.line
    return next((node.line for node in reversed(graph.nodes) if node.line is not None), None)
