"""Interprets a function of a SavedModel's library: runs each node with the op of `tf.raw_ops` of the same name.

Inside a `tf.function`, the ops are traced like those of any Python function, so loaded functions are compiled,
differentiated and retraced for other shapes without special rules.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from ..api.io.bytes import single
from ..api.namespace import resolve
from ..api.random.generator import Generator
from ..api.raw_ops.functions import op_named
from ..api.raw_ops.rows import rows
from ..api.strings.strings import text_tensor
from ..core import dtypes, errors
from ..core.dtypes import DType
from ..core.locks import cached_property
from ..core.protos.records import Record
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..engine.run.convert import to_array, to_tensor
from ..state.archive import is_inside
from ..state.tensor_array import TensorArray
from .node_definitions import IGNORED, DefinedNode, attribute_of, dtype_of, unknown_op
from .tables import LoadedTable
from .validation import (
    called_functions,
    check_attributes,
    check_callees,
    check_calls,
    check_dtypes,
    check_inputs,
    dtypes_of,
)

LOOPS = ("While", "StatelessWhile")
_GRADIENT = "_gradient_op_type"  # the attribute that names a gradient
# Exceptions of ops for attributes and values that no program passes; TensorFlow's kernels raise a single error for
# them.
_MISFITS = (AttributeError, LookupError, OverflowError, RecursionError, TypeError, UnicodeError)

Source = tuple[str, int]  # a node or an input, and the index of its output
Frames = dict[str, dict[str, list[Any]]]  # the functions that are running, by name, with the outputs of their nodes


class FileAccess(NamedTuple):
    """The files that functions of a SavedModel may access: they may read those of its folder."""

    folder: str
    anywhere: bool = False

    def check(self, node: Node, path: bytes, writes: bool = False) -> bytes:
        """Returns the path of a file that a node may access; raises `PermissionDeniedError` otherwise."""
        if not self.anywhere and (writes or not is_inside(os.fsdecode(path), self.folder)):
            raise errors.PermissionDeniedError(
                f"The node {node.name} ({node.op}) of the SavedModel in {self.folder} would "
                f"{'write' if writes else 'read'} the file {os.fsdecode(path)!r}. A function that was loaded reads "
                "files of its own SavedModel alone, and writes none. If you trust the model, load it with "
                "options=tf.saved_model.LoadOptions(allow_file_access=True)"
            )
        return path


class UnknownResource:
    """A resource of an unsupported kind, such as a dataset: using it raises the error."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        raise self._error


class CapturedTensor(NamedTuple):
    """A tensor of a function, as `node:output`, captured by the function of a gradient."""

    name: str
    function: str


class GradientFunction(Protocol):
    """A function of the cotangents of a node's outputs and of captures that returns the cotangents of its inputs."""

    captured: list[Any]

    def run_with(self, tensors: Sequence[Any], captured: Sequence[Any]) -> Any:
        """Runs the function."""


class Library:
    """The functions of a graph by name."""

    def __init__(self, graph: Record | None, access: FileAccess) -> None:
        library = None if graph is None else graph.library
        functions = () if library is None else library.function
        self.access = access
        self._functions = {f.signature.name: GraphFunction(f, self) for f in functions}
        check_calls({f.signature.name: f.node_def for f in functions})
        gradients = () if library is None else library.registered_gradients
        self.registered_gradients = {g.registered_op_type: g.gradient_func for g in gradients}
        self.gradients: dict[str, GradientFunction] = {}  # by the op types that nodes name
        self.constants = {node.name: node for node in (() if graph is None else graph.node) if node.op == "Const"}

    def gradient_captures(self, node: Record) -> list[CapturedTensor]:
        """Returns the tensors that the gradient of a node captures: from its function, or from a caller of it."""
        gradient = self.gradients.get(attribute_of(node, _GRADIENT)) if node.op == "IdentityN" else None
        return [] if gradient is None else [x for x in gradient.captured if isinstance(x, CapturedTensor)]

    def __getitem__(self, name: str) -> GraphFunction:
        if name not in self._functions:
            raise errors.DataLossError(f"the SavedModel has no function {name!r}, which another one calls")
        return self._functions[name]

    def constant(self, name: str) -> Tensor:
        """Returns the value of a constant of the enclosing graph."""
        if name not in self.constants:
            raise errors.DataLossError(f"the graph of the SavedModel has no constant {name!r}")
        return Node(self.constants[name], self).attr("value")


class GraphFunction:
    """A function of the library."""

    def __init__(self, proto: Record, library: Library) -> None:
        self.name = proto.signature.name
        self._proto, self._library = proto, library
        self.inputs = [argument.name for argument in proto.signature.input_arg]
        self.dtypes = [dtype_of(argument.type) for argument in proto.signature.input_arg]
        self.output_dtypes = [dtype_of(argument.type) for argument in proto.signature.output_arg]
        self._results = [proto.ret[argument.name] for argument in proto.signature.output_arg]

    @cached_property
    def captured(self) -> set[CapturedTensor]:
        """The tensors of callers that gradients in this function, or in its callees, capture."""
        found = {tensor for node in self._proto.node_def for tensor in self._library.gradient_captures(node)}
        for callee in called_functions(self._proto.node_def):
            found |= self._library[callee].captured
        return {tensor for tensor in found if tensor.function != self.name}

    @cached_property
    def _steps(self) -> list[Node]:
        """The nodes that outputs and side effects depend on, in topological order."""
        nodes = {node.name: Node(node, self._library, self.name) for node in self._proto.node_def}
        if len({*nodes, *self.inputs}) != len(self._proto.node_def) + len(self.inputs):
            raise errors.DataLossError(f"two nodes or inputs of the function {self.name} have the same name")
        ordered: dict[str, Node] = {}
        waiting = [*self._proto.control_ret.values(), *map(_name, self._results)][::-1]
        under_way: set[str] = set()
        while waiting:
            name = waiting[-1]
            node = nodes.get(name)
            if name in ordered or node is None:
                if node is None and name not in self.inputs:
                    raise errors.DataLossError(f"the function {self.name} has no node {name!r}, which it uses")
                waiting.pop()
                continue
            before = [other for other in node.before if other not in ordered and other not in self.inputs]
            if name in under_way and before:
                raise errors.DataLossError(f"the nodes of the function {self.name} depend on each other in a circle")
            under_way.add(name)
            if before:
                waiting += before
            else:
                ordered[name] = node
                waiting.pop()
        return list(ordered.values())

    @cached_property
    def _plan(self) -> tuple[list[tuple[Node, list[Source]]], list[Source]]:
        """The nodes with the sources of their inputs, and the sources of the outputs; all are validated."""
        nodes = {node.name: node for node in self._steps}
        known = {name: [dtype] for name, dtype in zip(self.inputs, self.dtypes, strict=True)}

        def source(reference: str) -> Source:
            name, *place = reference.split(":")
            if name in nodes:
                return name, nodes[name].place_of(place)
            if place not in ([], ["0"]):
                raise errors.DataLossError(f"{reference!r} in the function {self.name} is no input of it")
            return name, 0

        def dtype(found: Source) -> DType:
            return known[found[0]][found[1]]

        plan = []
        for node in self._steps:
            sources = [source(reference) for reference in node.inputs]
            node.check([dtype(one) for one in sources], self.name)
            for captured in node.captures:
                name, place = captured
                if not 0 <= place < len(known[name]):
                    raise errors.DataLossError(f"the node {name} of the function {self.name} has no output {place}")
            known[node.name] = node.output_dtypes
            plan.append((node, sources))
        results = [source(reference) for reference in self._results]
        check_dtypes(f"the function {self.name}", "gives", [dtype(one) for one in results], self.output_dtypes)
        return plan, results

    def has_loops(self) -> bool:
        """Whether a call may repeat nodes."""
        waiting, seen = [self], {self.name}
        while waiting:
            nodes = waiting.pop()._proto.node_def
            if any(node.op in LOOPS for node in nodes):
                return True
            further = {*called_functions(nodes)} - seen
            seen |= further
            waiting += [self._library[name] for name in further]
        return False

    def __call__(self, *values: Any) -> list[Any]:
        """Returns the outputs for these inputs: tensors, and variables for resources."""
        return self.run(values, {})

    def run(self, values: Sequence[Any], callers: Frames) -> list[Any]:
        """Returns the outputs when called by these functions, whose tensors gradients may capture."""
        if len(values) != len(self.inputs):
            raise errors.InvalidArgumentError(
                f"the function {self.name} of the SavedModel takes {len(self.inputs)} inputs, got {len(values)}"
            )
        plan, results = self._plan
        made: dict[str, list[Any]] = {name: [value] for name, value in zip(self.inputs, values, strict=True)}
        frames = {**callers, self.name: made}
        for node, sources in plan:
            given = [made[name][at] for name, at in sources]
            if node.gradient_type is None:
                made[node.name] = node.run(given, self.name, frames)
            else:
                made[node.name] = node.run_with_gradient(given, frames)
        return [made[name][at] for name, at in results]


def _name(reference: str) -> str:
    return reference.removeprefix("^").partition(":")[0]


def _graph_source(name: str) -> Source:
    """Resolves a tensor's name in a graph, `node:output`."""
    node, _, place = name.partition(":")
    if not place.isdecimal():
        raise errors.DataLossError(f"{name!r} is no name of a tensor")
    return node, int(place)


class Node(DefinedNode):
    """A node of a function."""

    def __init__(self, proto: Record, library: Library, function: str = "") -> None:
        super().__init__(proto)
        self.inputs = [reference for reference in proto.input if not reference.startswith("^")]
        self._attrs, self.library = proto.attr, library
        # The gradient of `tf.custom_gradient`, which TensorFlow attaches to a node that forwards results and arguments.
        self.gradient_type: str | None = self.attr(_GRADIENT) if self.op == "IdentityN" else None
        captured = {*library.gradient_captures(proto)}
        for callee in called_functions([proto]):
            captured |= library[callee].captured
        # Tensors of the enclosing function that gradients of this node, or of functions it calls, capture.
        self.captures: list[Source] = [_graph_source(one.name) for one in captured if one.function == function]
        self.before = [*map(_name, proto.input), *sorted(name for name, _ in self.captures)]

    def function(self, name: str) -> GraphFunction:
        """Returns the function named by an attribute."""
        return self.library[self.attr(name)]

    def check(self, given: Sequence[DType], function: str) -> None:
        """Raises an error unless the node matches its op's definition, for inputs of these dtypes."""
        if self.op in IGNORED:
            return
        if self.op not in CALLERS and self.op not in SPECIAL and self.op not in rows():
            raise unknown_op(self.op, f"{function}/{self.name}")
        check_attributes(self, self.definition, self._attrs)
        check_inputs(self, dtypes_of(self, self.definition.inputs, self.definition), given)
        check_callees(self)

    @cached_property
    def _arguments(self) -> tuple[Callable[..., Any], dict[str, Any]]:
        """The op, and the attributes to call it with."""
        op = op_named(self.op)
        accepted = inspect.signature(op).parameters
        names = self.definition.names
        given: dict[str, Any] = {names[n]: self.attr(n) for n in self._attrs if names.get(n) in accepted}
        inputs = {argument.name for argument in self.definition.inputs}
        missing = [p.name for p in accepted.values() if p.default is p.empty and p.name not in {*given, *inputs}]
        if missing:
            raise errors.DataLossError(f"the node {self.name} ({self.op}) has no attribute {', '.join(missing)}")
        return op, given

    def run(self, values: list[Any], function: str, frames: Frames) -> list[Any]:
        """Runs the node; returns all outputs, flattened."""
        if self.op in IGNORED:
            return []
        if self.op == "Identity" and not isinstance(values[0], Tensor):
            return values  # a list of tensors, or a variable
        try:
            return self._outputs(values, frames)
        except _MISFITS as error:
            raise errors.InvalidArgumentError(
                f"the node {function}/{self.name} ({self.op}) of the SavedModel cannot run: "
                f"{type(error).__name__}: {error}"
            ) from error

    def run_with_gradient(self, values: list[Any], frames: Frames) -> list[Any]:
        """Forwards the values; their gradient is the registered function."""
        kind, gradient = self.gradient_type, self.library.gradients.get(self.gradient_type or "")

        def rule(*cotangents: Any) -> Any:
            if gradient is None:
                raise LookupError(
                    f"the SavedModel has no gradient {kind!r}, which the node {self.name} names: it was saved without "
                    "its custom gradients (SaveOptions.experimental_custom_gradients), or they could not be traced"
                )
            used = [self._captured(x, frames) if isinstance(x, CapturedTensor) else x for x in gradient.captured]
            return gradient.run_with(cotangents, used)

        def call(*xs: Any) -> Any:
            return tuple(resolve("identity")(x) for x in xs), rule

        return list(resolve("custom_gradient")(call)(*values))

    def _captured(self, tensor: CapturedTensor, frames: Frames) -> Any:
        """Returns the value of a tensor that the gradient captures."""
        name, at = _graph_source(tensor.name)
        outputs = frames.get(tensor.function, {}).get(name, ())
        if not at < len(outputs):
            raise errors.DataLossError(
                f"the gradient of the node {self.name} uses the tensor {tensor.name} of {tensor.function}, which is "
                "no function around it, or has no such tensor"
            )
        return outputs[at]

    def _outputs(self, values: list[Any], frames: Frames) -> list[Any]:
        caller = CALLERS.get(self.op)
        if caller is not None:
            return caller(self, values, frames)
        special = SPECIAL.get(self.op)
        if special is not None:
            return special(self, values)
        op, attrs = self._arguments
        given = dict(attrs)
        at = 0
        for argument in self.definition.inputs:
            if argument.several or argument.number:
                count = self._count(argument)
                given[argument.name] = values[at : at + count]
                at += count
            else:
                given[argument.name] = values[at]
                at += 1
        result = op(**given)
        if len(self.definition.outputs) != 1:
            return list(result or ())
        return list(result) if isinstance(result, list | tuple) else [result]


# Ops that call functions of the library, and list ops, which use arrays of tensors.


def _called(node: Node, values: list[Any], frames: Frames) -> list[Any]:
    return node.function("f").run(values, frames)


def _cond(node: Node, values: list[Any], frames: Frames) -> list[Any]:
    test = to_tensor(values[0])
    if test.dtype is not dtypes.bool:
        test = resolve("not_equal")(test, resolve("zeros_like")(test))
    branches = [partial(_as_tuple, node.function(name), values[1:], frames) for name in ("then_branch", "else_branch")]
    return list(resolve("cond")(test, *branches))


def _case(node: Node, values: list[Any], frames: Frames) -> list[Any]:
    branches = [partial(_as_tuple, node.library[name], values[1:], frames) for name in node.attr("branches")]
    return list(resolve("switch_case")(values[0], branches))


def _as_tuple(branch: GraphFunction, values: Sequence[Any], frames: Frames) -> tuple[Any, ...]:
    return tuple(branch.run(values, frames))


def _loop(node: Node, values: list[Any], frames: Frames) -> list[Any]:
    """Loops over the values that change; a variable is the same in every iteration."""
    test, body = node.function("cond"), node.function("body")
    carried = [i for i, value in enumerate(values) if _is_carried(value)]
    state = [values[i] for i in carried]

    def whole(parts: Sequence[Any]) -> list[Any]:
        found = list(values)
        for i, part in zip(carried, parts, strict=True):
            found[i] = part
        return found

    shapes = node.attr("output_shapes") or []
    open_shapes = [_open_shape(shapes, i, value) for i, value in zip(carried, state, strict=True)]
    last = resolve("while_loop")(
        lambda *parts: test.run(whole(parts), frames)[0],
        lambda *parts: [y for i, y in enumerate(body.run(whole(parts), frames)) if i in carried],
        state,
        shape_invariants=open_shapes if any(shape is not None for shape in open_shapes) else None,
    )
    return whole(last)


def _open_shape(shapes: Sequence[Any], i: int, value: Any) -> Any:
    """Returns the shape invariant of a loop tensor, if it is not its own shape."""
    if i >= len(shapes) or not isinstance(value, Tensor) or shapes[i].is_fully_defined():
        return None
    return shapes[i]


def _is_carried(value: Any) -> bool:
    return isinstance(value, Tensor | TensorArray)


def _reserve_list(node: Node, values: list[Any]) -> list[Any]:
    """Creates a list of unwritten tensors."""
    return [TensorArray(node.attr("element_dtype"), to_array(values[1]), False, False, element_shape=_shape(values[0]))]


def _empty_list(node: Node, values: list[Any]) -> list[Any]:
    return [TensorArray(node.attr("element_dtype"), 0, True, False, element_shape=_shape(values[0]))]


def _shape(value: Any) -> TensorShape:
    """Converts the shape of a list's entries: -1 is unknown, and a single -1 means an unknown shape."""
    sizes = to_array(value)
    return TensorShape([None if n < 0 else int(n) for n in sizes] if sizes.ndim else None)


def _list_of_rows(node: Node, values: list[Any]) -> list[Any]:
    rows = to_tensor(values[0])
    return [TensorArray(rows.dtype, rows.dims[0], False, False).unstack(rows)]


def _entry(node: Node, values: list[Any]) -> list[Any]:
    return [values[0].read(values[1])]


def _write_element(node: Node, values: list[Any]) -> list[Any]:
    return [values[0].write(values[1], values[2])]


def _append_element(node: Node, values: list[Any]) -> list[Any]:
    return [values[0].write(values[0].size(), values[1])]


def _no_value(node: Node, values: list[Any]) -> list[Any]:
    """Returns the placeholder of a branch for a value that only another branch defines."""
    shape = node.attr("shape")
    return [resolve("zeros")([n or 0 for n in shape] if shape.rank is not None else [], node.attr("dtype"))]


def _new_table(node: Node, values: list[Any]) -> list[Any]:
    return [LoadedTable(node.attr("key_dtype"), node.attr("value_dtype"))]


def _fill_table(node: Node, values: list[Any]) -> list[Any]:
    values[0].fill(values[1], values[2])
    return []


def _fill_table_from_file(node: Node, values: list[Any]) -> list[Any]:
    names = ("key_index", "value_index", "vocab_size", "delimiter")
    path = node.library.access.check(node, single("filename", to_tensor(values[1])))
    values[0].fill_from(path, **{name: node.attr(name) for name in names})
    return []


def _check_path(node: Node, path: Any, writes: bool = False) -> Any:
    """Checks a path when the function runs, because a graph does not know it before."""
    access = node.library.access
    if access.anywhere:
        return path

    def check(text: Tensor) -> bytes:
        return access.check(node, single("filename", text), writes)

    return resolve("py_function")(check, [text_tensor(path)], dtypes.string)


def _read_file(node: Node, values: list[Any]) -> list[Any]:
    return [resolve("io.read_file")(_check_path(node, values[0]))]


def _write_file(node: Node, values: list[Any]) -> list[Any]:
    resolve("io.write_file")(_check_path(node, values[0], writes=True), values[1])
    return []


def _read_and_skip(node: Node, values: list[Any]) -> list[Any]:
    """Returns the state of a generator and advances it: the inputs are the variable, the algorithm and the delta."""
    return [Generator(state=values[0], alg=int(to_array(values[1]))).skip(values[2])]


CALLERS: dict[str, Callable[[Node, list[Any], Frames], list[Any]]] = {
    "PartitionedCall": _called, "StatefulPartitionedCall": _called, "If": _cond, "StatelessIf": _cond, "Case": _case,
    "StatelessCase": _case, "While": _loop, "StatelessWhile": _loop,
}  # fmt: skip
SPECIAL: dict[str, Callable[[Node, list[Any]], list[Any]]] = {
    "TensorListReserve": _reserve_list,
    "EmptyTensorList": _empty_list, "TensorListFromTensor": _list_of_rows, "TensorListGetItem": _entry,
    "TensorListSetItem": _write_element, "TensorListPushBack": _append_element, "FakeParam": _no_value,
    "TensorListStack": lambda node, values: [values[0].stack()],
    "TensorListLength": lambda node, values: [values[0].size()], "HashTableV2": _new_table,
    "LookupTableImportV2": _fill_table, "InitializeTableFromTextFileV2": _fill_table_from_file,
    "LookupTableFindV2": lambda node, values: [values[0].find(values[1], values[2])],
    "LookupTableSizeV2": lambda node, values: [values[0].size()], "RngReadAndSkip": _read_and_skip,
    "ReadFile": _read_file, "WriteFile": _write_file,
}  # fmt: skip
