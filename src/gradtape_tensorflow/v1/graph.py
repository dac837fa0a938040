"""`tf.compat.v1`: the default graph, sizes as objects, switches, and names that need a session and raise an error."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gradtape.api.compat import dimension_at_index
from gradtape.api.namespace import resolve
from gradtape.api.random.draws import set_seed
from gradtape.api.runtime.graphs import Graph, default, graph_of_trace
from gradtape.api.runtime.operations import INSTEAD
from gradtape.core import dtypes, log_ignored
from gradtape.core.shapes import Dimension, TensorShape
from gradtape.core.slices import IndexedSlices
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import DTypeLike, ShapeLike, ValueLike
from gradtape.engine.run.dispatch import thread
from gradtape.engine.run.randomness import set_graph_seed
from gradtape.graph.trace.scratch import ScratchTrace
from gradtape.sparse.tensor import SparseTensor, SparseTensorValue, made_sparse

from ..graph_defs.operations import add_placeholder

NAMESPACES = ("compat.v1",)
__all__ = [
    "Dimension", "Print", "SparseTensorValue", "colocate_with", "container", "convert_to_tensor_or_indexed_slices",
    "convert_to_tensor_or_sparse_tensor", "dimension_at_index", "dimension_value", "disable_control_flow_v2",
    "disable_eager_execution", "disable_resource_variables", "disable_tensor_equality", "disable_v2_behavior",
    "disable_v2_tensorshape", "enable_control_flow_v2", "enable_eager_execution", "enable_resource_variables",
    "enable_tensor_equality", "enable_v2_behavior", "enable_v2_tensorshape", "get_default_graph", "placeholder",
    "reset_default_graph", "set_random_seed", "setdiff1d", "sparse_placeholder",
]  # fmt: skip


def dimension_value(dimension: Any) -> int | None:
    """Returns the size itself, or None if it is unknown.

    >>> tf.compat.v1.dimension_value(tf.compat.v1.Dimension(3))
    3
    """
    return dimension.value if isinstance(dimension, Dimension) else dimension


def placeholder(dtype: DTypeLike, shape: ShapeLike | None = None, name: str | None = None) -> Any:
    """Returns an input of the current graph, which can be fed; raises TensorFlow's error in eager programs.

    >>> tf.compat.v1.placeholder(tf.float32)
    Traceback (most recent call last):
    RuntimeError: tf.placeholder() is not compatible with eager execution. Make it an argument of a function
    """
    trace = thread.trace
    if isinstance(trace, ScratchTrace):
        return trace.placeholder(dtypes.as_dtype(dtype), TensorShape(shape), name or "Placeholder")
    if trace is None and default.is_entered():
        return add_placeholder(default.graph, dtypes.as_dtype(dtype), TensorShape(shape), name or "Placeholder")
    raise RuntimeError("tf.placeholder() is not compatible with eager execution. Make it an argument of a function")


def sparse_placeholder(dtype: DTypeLike, shape: ShapeLike | None = None, name: str | None = None) -> SparseTensor:
    """Returns an input of the scratch graph; raises TensorFlow's error in eager programs.

    >>> tf.compat.v1.sparse_placeholder(tf.float32)
    Traceback (most recent call last):
    RuntimeError: `sparse_placeholder` is not compatible with eager execution. Make it an argument of a function
    """
    trace = thread.trace
    if isinstance(trace, ScratchTrace):
        return trace.sparse_placeholder(dtypes.as_dtype(dtype), TensorShape(shape))
    raise RuntimeError("`sparse_placeholder` is not compatible with eager execution. Make it an argument of a function")


def _switch(name: str, on: bool) -> Callable[[], None]:
    def function() -> None:
        if not on:
            raise RuntimeError(f"tf.compat.v1.{name}() asks for TensorFlow 1: {INSTEAD}")

    function.__name__ = function.__qualname__ = name
    what = "Nothing to do: there is no other." if on else "Raises: what it asks for is not there."
    expected = (
        ""
        if on
        else "\n    Traceback (most recent call last):\n    RuntimeError: "
        + (f"tf.compat.v1.{name}() asks for TensorFlow 1: {INSTEAD}")
    )
    function.__doc__ = f"""{what}

    >>> tf.compat.v1.{name}(){expected}
    """
    return function


disable_eager_execution = _switch("disable_eager_execution", False)
disable_v2_behavior = _switch("disable_v2_behavior", False)
disable_v2_tensorshape = _switch("disable_v2_tensorshape", False)
disable_tensor_equality = _switch("disable_tensor_equality", False)
disable_control_flow_v2 = _switch("disable_control_flow_v2", False)
disable_resource_variables = _switch("disable_resource_variables", False)
enable_control_flow_v2 = _switch("enable_control_flow_v2", True)
enable_tensor_equality = _switch("enable_tensor_equality", True)
enable_resource_variables = _switch("enable_resource_variables", True)
enable_v2_tensorshape = _switch("enable_v2_tensorshape", True)


def colocate_with(op: Any, ignore_existing: bool = False) -> contextlib.AbstractContextManager[None]:
    """A context without effect: `tf.device` determines the placement.

    >>> with tf.compat.v1.colocate_with(tf.constant(1.0)):
    ...     pass
    """
    return contextlib.nullcontext()


def container(container_name: str) -> contextlib.AbstractContextManager[str]:
    """A context without effect: variables belong to the objects that reference them.

    >>> with tf.compat.v1.container("mine"):
    ...     pass
    """
    return contextlib.nullcontext(container_name)


def convert_to_tensor_or_indexed_slices(
    value: Any, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor | IndexedSlices:
    """Converts a value to a tensor, unless it is an `IndexedSlices`.

    >>> tf.compat.v1.convert_to_tensor_or_indexed_slices([1.0]).shape
    TensorShape([1])
    """
    return value if isinstance(value, IndexedSlices) else resolve("convert_to_tensor")(value, dtype)


def convert_to_tensor_or_sparse_tensor(
    value: Any, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor | SparseTensor:
    """Converts a value to a tensor, unless it is a sparse tensor.

    >>> tf.compat.v1.convert_to_tensor_or_sparse_tensor([1.0]).shape
    TensorShape([1])
    """
    value = made_sparse(value)
    return value if isinstance(value, SparseTensor) else resolve("convert_to_tensor")(value, dtype)


class ListDiff(NamedTuple):
    """The result of `setdiff1d`."""

    out: Any
    idx: Any


def setdiff1d(x: ValueLike, y: ValueLike, index_dtype: DTypeLike = dtypes.int32, name: str | None = None) -> ListDiff:
    """Returns the entries of one list that are not in another, and their indices.

    >>> tf.compat.v1.setdiff1d([1, 2, 3], [2]).out.numpy().tolist()
    [1, 3]
    """
    values, others = resolve("convert_to_tensor")(x), resolve("convert_to_tensor")(y)
    found = resolve("reduce_any")(resolve("equal")(values[:, None], others[None]), axis=1)
    places = resolve("reshape")(resolve("where")(~found), [-1])
    return ListDiff(resolve("gather")(values, places), resolve("cast")(places, index_dtype))


def Print(
    input_: ValueLike, data: Sequence[ValueLike], message: str | None = None, first_n: int | None = None,
    summarize: int | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Prints values to standard error and returns `input_`.

    >>> float(tf.compat.v1.Print(tf.constant(2.0), [], "here"))
    2.0
    """
    log_ignored("compat.v1.Print", first_n=first_n)
    resolve("print")(message or "", *data, summarize=3 if summarize is None else summarize)
    return resolve("identity")(input_)


def get_default_graph() -> Graph:
    """Returns the graph of the traced function, or that of eager execution.

    >>> tf.compat.v1.get_default_graph() is tf.compat.v1.get_default_graph()
    True
    """
    return graph_of_trace() or default.graph


def reset_default_graph() -> None:
    """Clears the names used in eager execution.

    >>> tf.compat.v1.reset_default_graph()
    """
    default.graph = Graph()


def enable_eager_execution(config: Any = None, device_policy: Any = None, execution_mode: Any = None) -> None:
    """Does nothing: execution is always eager.

    >>> tf.compat.v1.enable_eager_execution()
    """


def enable_v2_behavior() -> None:
    """Does nothing: there is no other behavior.

    >>> tf.compat.v1.enable_v2_behavior()
    """


def set_random_seed(seed: int) -> None:
    """Sets the seed of the graph: inside a function or `tf.Graph`, its own; otherwise as `tf.random.set_seed`.

    >>> tf.compat.v1.set_random_seed(1)
    """
    if not set_graph_seed(seed):
        set_seed(seed)
