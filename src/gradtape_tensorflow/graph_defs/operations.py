"""Operations that a `NodeDef` defines, their definitions, the shapes of their outputs, and functions that run them."""

from __future__ import annotations

import ast
import weakref
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from gradtape.api.catalogue.definitions import Argument, Definition, definition_of
from gradtape.api.runtime.graphs import Graph
from gradtape.api.runtime.operations import GraphTensor, Operation
from gradtape.core import dtypes, errors
from gradtape.core.dtypes import DType, as_dtype
from gradtape.core.protos.records import decoded, encoded
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import Tensor
from gradtape.engine.run import dispatch
from gradtape.graph.trace.scratch import ScratchTrace
from gradtape.saved_model.interpretation import FileAccess, GraphFunction, Library, Node
from gradtape.saved_model.node_definitions import DefinedNode
from gradtape.saved_model.writing.writer import attribute

from ..protos.generated import message_class

SHAPES = "_output_shapes"  # the attribute with the shapes of a node's outputs
ACCESS = FileAccess("(the GraphDef)")  # nodes read and write no files
_FIELDS: dict[str, Callable[[Any], Any]] = {
    "s": bytes,
    "i": int,
    "f": float,
    "b": bool,
    "type": DType,
    "placeholder": str,
}


class DefinedOperation(Operation):
    """An operation of a graph that was imported."""

    def __init__(self, graph: Graph, node_def: Any) -> None:
        self.graph, self.name, self.type, self.device = graph, node_def.name, node_def.op, node_def.device  # type: ignore[assignment]
        hints = [TensorShape(shape) for shape in node_def.attr[SHAPES].list.shape] if SHAPES in node_def.attr else []
        self.node_def = message_class("NodeDef")()
        self.node_def.CopyFrom(node_def)
        self.node_def.attr.pop(SHAPES, None)
        add_defaults(self.node_def)
        self._record = decoded("NodeDef", self.node_def.SerializeToString())
        node = DefinedNode(self._record)
        self.output_names, kinds = node.output_names, node.output_dtypes
        known = hints if len(hints) == len(kinds) else [None] * len(kinds)
        pairs = enumerate(zip(kinds, known, strict=True))
        scalar = TensorShape([])
        self.outputs = [GraphTensor(self, i, kind, scalar if kind in _HANDLES else shape) for i, (kind, shape) in pairs]

    @property
    def op_def(self) -> Any:
        """The definition of the op."""
        return op_def(self.type)

    @property
    def inputs(self) -> tuple[GraphTensor, ...]:  # type: ignore[override]
        """The tensors that the operation takes."""
        names = [name for name in self.node_def.input if not name.startswith("^")]
        return tuple(self.graph.get_tensor_by_name(tensor_name(name)) for name in names)  # type: ignore[attr-defined]

    @property
    def control_inputs(self) -> list[Operation]:  # type: ignore[override]
        """The operations that run before this one."""
        names = [name[1:] for name in self.node_def.input if name.startswith("^")]
        return [self.graph.get_operation_by_name(name) for name in names]  # type: ignore[attr-defined]

    def get_attr(self, name: str) -> Any:
        """Returns an attribute: a dtype, a number, bytes, a message of a tensor, shape or function, or a list."""
        if name not in self.node_def.attr:
            raise ValueError(f"Operation {self.name!r} has no attr named {name!r}.")
        value = self.node_def.attr[name]
        kind = value.WhichOneof("value")
        if kind == "list":
            found = [(field.name, one) for field, many in value.list.ListFields() for one in many]
            return [_FIELDS.get(field, lambda x: x)(one) for field, one in found]
        return None if kind is None else _FIELDS.get(kind, lambda x: x)(getattr(value, kind))

    def infer_shapes(self) -> list[TensorShape]:
        """Returns the shapes of the outputs: what the op returns for inputs of two sizes."""
        found = _inferences.setdefault(self.graph, _Inference()).outputs(self)
        return [x.shape if isinstance(x, Tensor) else TensorShape(None) for x in found]

    def known_shape(self, index: int) -> TensorShape | None:
        """Returns the shape of an output unless it has to be inferred."""
        return self.outputs[index]._shape

    def run(self, values: Sequence[Any]) -> list[Any]:
        """Returns the outputs for these inputs."""
        return Node(self._record, library_of(self.graph)).run(list(values), "the graph", {})  # type: ignore[arg-type]


def library_of(graph: Graph, *others: Any) -> Library:
    """Returns the functions of a graph, and other `FunctionDef`s, so that they can be run."""
    holder = message_class("GraphDef")()
    holder.library.function.extend([*(function.definition for function in graph._functions.values()), *others])
    return Library(decoded("GraphDef", holder.SerializeToString()), ACCESS)


def add_placeholder(graph: Graph, dtype: DType, shape: TensorShape, name: str) -> GraphTensor:
    """Adds an input to a graph."""
    node = message_class("NodeDef")(name=graph.unique_name(name), op="Placeholder")
    node.attr["dtype"].type = dtype.as_datatype_enum
    node.attr["shape"].shape.CopyFrom(shape.as_proto())
    operation = DefinedOperation(graph, node)
    graph.add_operation(operation)
    return operation.outputs[0]


def tensor_name(reference: str) -> str:
    """Returns the name of a tensor to which a node of a graph refers; that of a first output may omit its index."""
    return reference if ":" in reference else f"{reference}:0"


class _Inference:
    """Runs operations of a graph on tensors of zeros: `ScratchTrace` finds sizes that depend on unknown ones."""

    def __init__(self) -> None:
        with dispatch.traced_by(None):
            self._trace = ScratchTrace("shapes")
        self._made: dict[str, list[Any]] = {}

    def outputs(self, operation: DefinedOperation) -> list[Any]:
        """Returns the outputs as tensors without values; None for one that is not known."""
        waiting = [operation]
        while waiting:
            step = waiting[-1]
            if step.name in self._made:
                waiting.pop()
                continue
            known = None if step is operation else self._placeholders(step)
            missing = [] if known is not None else [x.op for x in step.inputs if x.op.name not in self._made]
            if missing:
                waiting += missing  # type: ignore[arg-type]
            else:
                self._made[step.name] = self._run(step) if known is None else known
        return self._made[operation.name]

    def _placeholders(self, step: DefinedOperation) -> list[Any] | None:
        """Returns placeholders for an operation whose shapes are known and whose values do not determine others."""
        shapes = [step.known_shape(i) for i in range(len(step.outputs))]
        if any(x.dtype.is_integer or x.dtype in _HANDLES for x in step.outputs):  # integers may be sizes
            return None
        found = [shape for shape in shapes if shape is not None]
        if len(found) < len(shapes):
            return None
        return [self._trace.placeholder(x.dtype, shape) for x, shape in zip(step.outputs, found, strict=True)]

    def _run(self, step: DefinedOperation) -> list[Any]:
        if step.type == "Placeholder":
            tensor = step.outputs[0]
            if tensor.dtype in _HANDLES:
                return [None]
            attrs = step.node_def.attr
            stated = TensorShape(attrs["shape"].shape if "shape" in attrs else None)
            return [self._trace.placeholder(tensor.dtype, step.known_shape(0) or stated)]
        values = [self._made[x.op.name][x.value_index] for x in step.inputs]
        if any(value is None for value in values):
            return [None] * len(step.outputs)
        try:
            with dispatch.traced_by(self._trace):
                found = step.run(values)
        except (errors.OpError, ArithmeticError, LookupError, TypeError, ValueError):
            return [None] * len(step.outputs)  # the op is not there, or needs other values
        for i, (output, value) in enumerate(zip(step.outputs, found, strict=False)):
            if step.type in _SHAPED_BY_VALUES and isinstance(value, Tensor):
                found[i] = value = self._trace.placeholder(value.dtype, TensorShape([None] * len(value.shape)))
            if output._shape is None and isinstance(value, Tensor):
                output._shape = value.shape
        return self._placeholders(step) or found  # zeros take no memory


_HANDLES = (dtypes.resource, dtypes.variant)
_SHAPED_BY_VALUES = frozenset(
    """
    DynamicPartition ListDiff NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4
    NonMaxSuppressionV5 StringSplit StringSplitV2 Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2 Where
    """.split()
)  # ops of which zeros do not show the sizes of the outputs
_inferences: weakref.WeakKeyDictionary[Any, _Inference] = weakref.WeakKeyDictionary()  # by graph


def op_def(name: str) -> Any:
    """Returns the `OpDef` of an op, without documentation; raises ValueError for an unknown one."""
    definition = definition_of(name)
    if definition is None:
        raise ValueError(f"Op type not registered {name!r}: gradtape has no definition of it")
    found = message_class("OpDef")(name=name, is_stateful=definition.is_stateful)
    for arguments, given in ((found.input_arg, definition.inputs), (found.output_arg, definition.outputs)):
        for argument in given:
            _describe(arguments.add(name=argument.name), argument, definition)
    for title, kind in definition.attributes.items():
        found.attr.add(name=title, type=kind)
    return found


@cache
def _defaults(name: str) -> dict[str, Any]:
    """Returns the default values of an op's attributes, as `AttrValue`s."""
    definition = definition_of(name)
    kind = message_class("AttrValue")
    found: dict[str, Any] = {}
    if definition is None:
        return found
    for title, text in definition.defaults.items():
        value = text if definition.attributes[title] == "type" else ast.literal_eval(text)
        found[title] = kind.FromString(encoded("AttrValue", attribute(definition.attributes[title], value)))
    return found


def add_defaults(node_def: Any) -> None:
    """Adds the attributes that a node leaves at their default values, as TensorFlow does when it reads a node."""
    for title, value in _defaults(node_def.op).items():
        if title not in node_def.attr:
            node_def.attr[title].CopyFrom(value)


def _describe(found: Any, argument: Argument, definition: Definition) -> None:
    if argument.several:
        found.type_list_attr = argument.several
        return
    if argument.number:
        found.number_attr = argument.number
    if argument.dtype in definition.attributes:
        found.type_attr = argument.dtype
    else:
        found.type = as_dtype(argument.dtype).as_datatype_enum


_UNFED = ("Placeholder", "PlaceholderV2")


def graph_function(graph: Graph, feeds: Sequence[GraphTensor], fetches: Sequence[Any], name: str) -> GraphFunction:
    """Returns the function of a graph from some tensors to others; an operation among `fetches` runs for its effect."""
    definition = message_class("FunctionDef")()
    definition.signature.name = name
    fed = {}
    for i, tensor in enumerate(feeds):
        fed[tensor.name] = f"feed_{i}"
        definition.signature.input_arg.add(name=f"feed_{i}", type=tensor.dtype.as_datatype_enum)
    refer = partial(_reference, graph, fed)
    for i, fetched in enumerate(fetches):
        if isinstance(fetched, GraphTensor):
            definition.signature.output_arg.add(name=f"fetch_{i}", type=fetched.dtype.as_datatype_enum)
            definition.ret[f"fetch_{i}"] = refer(fetched.name)
        else:
            definition.signature.control_output.append(fetched.name)
            definition.control_ret[fetched.name] = fetched.name
    seen: set[str] = set()
    waiting: list[Any] = [fetched.op if isinstance(fetched, GraphTensor) else fetched for fetched in fetches]
    waiting = [op for op in waiting if not all(x.name in fed for x in op.outputs) or not op.outputs]
    while waiting:
        operation = waiting.pop()
        if operation.name in seen:
            continue
        seen.add(operation.name)
        _check_fed(operation)
        node = definition.node_def.add()
        node.CopyFrom(operation.node_def)
        node.input[:] = [one if one.startswith("^") else refer(tensor_name(one)) for one in node.input]
        waiting += [x.op for x in operation.inputs if x.name not in fed] + operation.control_inputs
    return library_of(graph, definition)[name]


def _reference(graph: Graph, fed: dict[str, str], name: str) -> str:
    """Returns a tensor as nodes of a function refer to it: an input, or a node and the name of its output."""
    if name in fed:
        return fed[name]
    tensor = graph.get_tensor_by_name(name)
    assert isinstance(tensor.op, DefinedOperation)
    return f"{tensor.op.name}:{tensor.op.output_names[tensor.value_index]}"


def _check_fed(operation: Any) -> None:
    if operation.type not in _UNFED:
        return
    dtype = operation.outputs[0].dtype
    if dtype is dtypes.resource:
        raise errors.FailedPreconditionError(f"the variable {operation.name!r} of the graph has no value here")
    raise errors.InvalidArgumentError(
        f"You must feed a value for placeholder tensor {operation.name!r} with dtype {dtype.name}"
    )
