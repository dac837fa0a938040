"""Graphs of functions for TensorBoard: of one function, or of all that are called during a trace."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ...core import dtypes, logger, modes
from ...core.locks import fork_safe_lock
from ...core.protocols import FunctionLike
from ...core.protos.records import encoded
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_tensor
from ...engine.run.dispatch import thread
from ..runtime.operations import FunctionGraph
from .events import plugin_metadata, tensor_event
from .scalars import current, written_as

NAMESPACES = ("summary",)
__all__ = ["graph", "trace_export", "trace_off", "trace_on"]


class _FunctionGraphs(modes.Mode):
    """The graphs of the functions that are called while the mode is active."""

    def __init__(self) -> None:
        self.graphs: dict[int, FunctionGraph] = {}

    def function_called(
        self, function: FunctionLike, args: tuple[Any, ...], kwargs: dict[str, Any], result: object
    ) -> None:
        if thread.trace is None:
            found = function.get_concrete_function(*args, **kwargs).graph
            if isinstance(found, FunctionGraph):
                self.graphs.setdefault(id(found.nodes), found)


_lock = fork_safe_lock()


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: str | None = None) -> None:
    """Starts recording the graphs of called functions for `trace_export`. There is no profiler.

    >>> tf.summary.trace_on()
    >>> tf.summary.trace_off()
    """
    if thread.trace is not None:
        logger.warning("Cannot enable trace inside a tf.function.")
        return
    with _lock:
        if modes.innermost(_FunctionGraphs) is not None:
            logger.warning("Trace already enabled")
            return
        if profiler:
            logger.warning("trace_on: there is no profiler, only graphs are noted; `tape.profile()` tells times")
        modes.enter(_FunctionGraphs())


def trace_off() -> None:
    """Stops the trace and discards its graphs.

    >>> tf.summary.trace_off()
    """
    with _lock:
        tracing = modes.innermost(_FunctionGraphs)
        if tracing is not None:
            modes.leave(tracing)


def trace_export(name: str, step: TensorLike | None = None, profiler_outdir: str | None = None) -> None:
    """Stops the trace and writes its graphs, if there is a writer.

    >>> import tempfile
    >>> tf.summary.trace_on()
    >>> _ = tf.function(lambda x: 2.0 * x)(1.0)
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
    ...     tf.summary.trace_export("double", step=0)
    """
    if thread.trace is not None:
        logger.warning("Cannot export trace inside a tf.function.")
        return
    tracing = modes.innermost(_FunctionGraphs)
    if tracing is None:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    graphs = [{"pre_optimization_graph": _graph_values(one)} for one in tracing.graphs.values()]
    found = encoded("RunMetadata", {"function_graphs": graphs})

    def event(tag: str, _: Tensor) -> Any:
        metadata = plugin_metadata("graph_run_metadata_graph", content=b"1")
        return tensor_event(tag, np.array(found, object), dtypes.string, metadata)

    written_as(name, step, lambda: to_tensor(0), event)
    trace_off()


def graph(graph_data: Any) -> Tensor:
    """Writes a graph (a concrete function's or its `as_graph_def()`) for TensorBoard; returns whether it was written.

    >>> double = tf.function(lambda x: 2.0 * x).get_concrete_function(tf.TensorSpec([], tf.float32))
    >>> bool(tf.summary.graph(double.graph))
    False

    It is not written if there is no writer: see `create_file_writer`.
    """
    is_message = getattr(getattr(graph_data, "DESCRIPTOR", None), "full_name", "") == "tensorflow.GraphDef"
    if not is_message and not isinstance(graph_data, FunctionGraph):
        raise ValueError(
            "Argument 'graph_data' is not tf.Graph or tf.compat.v1.GraphDef. Received "
            f"graph_data={graph_data!r} of type {type(graph_data).__name__}."
        )
    writer = current.writer
    if writer is None or writer._events is None:
        return to_tensor(False)
    from tensorboardX.proto.event_pb2 import Event

    writer._check()
    data = graph_data.SerializeToString() if is_message else encoded("GraphDef", _graph_values(graph_data))
    writer._events.add_event(Event(wall_time=time.time(), graph_def=data))
    return to_tensor(True)


def _graph_values(graph: FunctionGraph) -> dict[str, Any]:
    """Returns the names, op types and inputs of a graph's operations, as a `GraphDef`."""
    steps = [(step, [x.name.removesuffix(":0") for x in step.inputs]) for step in graph.get_operations()]
    return {"node": [{"name": step.name, "op": step.type, "input": inputs} for step, inputs in steps]}
