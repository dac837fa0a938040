"""A function of a SavedModel's library, run: node by node, each by the op of `tf.raw_ops` that has its name.

Inside a `tf.function` the ops are traced like those of any Python function, so what is loaded is compiled,
differentiated and traced again for other shapes without a rule of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

from ...core import dtypes, errors
from ...core.dtypes import DType
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...engine.run.convert import to_array, to_tensor
from ...state.tensor_array import TensorArray
from ..io.tensors import parsed
from ..namespace import resolve
from ..random.generator import Generator
from ..raw.definitions import Argument, Definition, definition_of
from ..raw.made import op_named
from ..raw.rows import rows
from .format.protos import Record
from .format.structures import shape_of
from .tables import LoadedTable

_IGNORED = ("DisableCopyOnRead",)  # nodes without outputs that mean nothing here


class Library:
    """The functions of a graph, by their names."""

    def __init__(self, graph: Record | None) -> None:
        library = None if graph is None else graph.library
        functions = () if library is None else library.function
        self._functions = {f.signature.name: GraphFunction(f, self) for f in functions}
        gradients = () if library is None else library.registered_gradients
        self.gradients = {g.registered_op_type: g.gradient_func for g in gradients}
        self.constants = {node.name: node for node in (() if graph is None else graph.node) if node.op == "Const"}

    def __getitem__(self, name: str) -> GraphFunction:
        if name not in self._functions:
            raise errors.DataLossError(f"the SavedModel has no function {name!r}, which another one calls")
        return self._functions[name]

    def constant(self, name: str) -> Tensor:
        """The value of a constant of the graph around the functions."""
        if name not in self.constants:
            raise errors.DataLossError(f"the graph of the SavedModel has no constant {name!r}")
        return attribute(self.constants[name].attr["value"])


def attribute(value: Record) -> Any:
    """The Python value of an `AttrValue`."""
    for kind, found in value.values.items():
        if kind == "list":
            return _listed(found)
        return _ATTRIBUTES[kind](found)
    return None


def _listed(value: Record) -> list[Any]:
    for kind, found in value.values.items():
        return [_ATTRIBUTES[kind](one) for one in found]
    return []


def _text(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


_ATTRIBUTES: dict[str, Callable[[Any], Any]] = {
    "s": _text, "i": int, "f": float, "b": bool, "type": DType, "shape": shape_of, "tensor": parsed,
    "func": lambda function: function.name, "placeholder": str,
}  # fmt: skip


class GraphFunction:
    """A function of the library."""

    def __init__(self, proto: Record, library: Library) -> None:
        self.name = proto.signature.name
        self._proto, self._library = proto, library
        self.inputs = [argument.name for argument in proto.signature.input_arg]
        self.dtypes = [argument.type for argument in proto.signature.input_arg]
        self._results = [proto.ret[argument.name] for argument in proto.signature.output_arg]

    @cached_property
    def _steps(self) -> list[Node]:
        """The nodes that outputs and effects depend on, in an order in which each comes after what it uses."""
        nodes = {node.name: Node(node, self._library) for node in self._proto.node_def}
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
            before = [other for other in node.before if other not in ordered and other in nodes]
            if name in under_way and before:
                raise errors.DataLossError(f"the nodes of the function {self.name} depend on each other in a circle")
            under_way.add(name)
            if before:
                waiting += before
            else:
                ordered[name] = node
                waiting.pop()
        return list(ordered.values())

    def __call__(self, *values: Any) -> list[Any]:
        """The outputs for these inputs: tensors, and variables where it takes a resource."""
        if len(values) != len(self.inputs):
            raise errors.InvalidArgumentError(
                f"the function {self.name} of the SavedModel takes {len(self.inputs)} inputs, got {len(values)}"
            )
        made: dict[str, Any] = dict(zip(self.inputs, values, strict=True))
        outputs: dict[str, tuple[Node, list[Any]]] = {}

        def find(reference: str) -> Any:
            name, *place = reference.split(":")
            if name in made and not place:
                return made[name]
            node, found = outputs[name]
            return found[node.place_of(place)]

        for node in self._steps:
            outputs[node.name] = (node, node.run([find(reference) for reference in node.inputs], self.name))
        return [find(reference) for reference in self._results]


def _name(reference: str) -> str:
    return reference.lstrip("^").partition(":")[0]


class Node:
    """A node of a function."""

    def __init__(self, proto: Record, library: Library) -> None:
        self.name, self.op = proto.name, proto.op
        self.inputs = [reference for reference in proto.input if not reference.startswith("^")]
        self.before = list(map(_name, proto.input))
        self._attrs, self._library = proto.attr, library

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute as a Python value."""
        return attribute(self._attrs[name]) if name in self._attrs else default

    def function(self, name: str) -> GraphFunction:
        """The function that an attribute names."""
        return self._library[self.attr(name)]

    @cached_property
    def definition(self) -> Definition:
        """What TensorFlow says of the op."""
        found = definition_of(self.op)
        if found is None:
            raise _unknown(self.op, self.name)
        return found

    def place_of(self, place: list[str]) -> int:
        """Which of the outputs `name:index` is."""
        start = 0
        for argument in self.definition.outputs:
            if argument.name == place[0]:
                return start + int(place[1])
            start += self._count(argument)
        raise errors.DataLossError(f"the node {self.name} ({self.op}) has no output {place[0]!r}")

    def _count(self, argument: Argument) -> int:
        if argument.several:
            return len(self.attr(argument.several, ()))
        return int(self.attr(argument.number)) if argument.number else 1

    def run(self, values: list[Any], function: str) -> list[Any]:
        """The outputs, all in one row."""
        if self.op in _IGNORED:
            return []
        if self.op == "Identity" and not isinstance(values[0], Tensor):
            return values  # a list of tensors, or a variable
        special = SPECIAL.get(self.op)
        if special is not None:
            return special(self, values)
        if self.op not in rows():
            raise _unknown(self.op, f"{function}/{self.name}")
        op = op_named(self.op)
        accepted = inspect.signature(op).parameters
        names = self.definition.names
        given: dict[str, Any] = {names[n]: self.attr(n) for n in self._attrs if names.get(n) in accepted}
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
        if rows()[self.op].outputs is not None:
            return list(result or ())
        return list(result) if isinstance(result, list | tuple) else [result]


def _unknown(op: str, where: str) -> errors.UnimplementedError:
    return errors.UnimplementedError(
        f"The loaded function uses TensorFlow's op {op} (node {where}), which gradtape does not have: dir(tf.raw_ops) "
        "lists what it has. Functions of the SavedModel that do not use it can be called"
    )


# Ops that call functions of the library, and those of lists, which are arrays of tensors here.


def _called(node: Node, values: list[Any]) -> list[Any]:
    return node.function("f")(*values)


def _cond(node: Node, values: list[Any]) -> list[Any]:
    test = to_tensor(values[0])
    if test.dtype is not dtypes.bool:
        test = resolve("not_equal")(test, resolve("zeros_like")(test))
    then, other = node.function("then_branch"), node.function("else_branch")
    return list(resolve("cond")(test, lambda: tuple(then(*values[1:])), lambda: tuple(other(*values[1:]))))


def _case(node: Node, values: list[Any]) -> list[Any]:
    branches = [node._library[name] for name in node.attr("branches")]
    return list(resolve("switch_case")(values[0], [partial(_as_tuple, branch, values[1:]) for branch in branches]))


def _as_tuple(branch: GraphFunction, values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(branch(*values))


def _loop(node: Node, values: list[Any]) -> list[Any]:
    """A loop over what changes in it: a variable is the same in every round."""
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
        lambda *parts: test(*whole(parts))[0],
        lambda *parts: [y for i, y in enumerate(body(*whole(parts))) if i in carried],
        state,
        shape_invariants=open_shapes if any(shape is not None for shape in open_shapes) else None,
    )
    return whole(last)


def _open_shape(shapes: Sequence[Any], i: int, value: Any) -> Any:
    """The shape that a tensor of a loop keeps, where it is not its own."""
    if i >= len(shapes) or not isinstance(value, Tensor) or shapes[i].is_fully_defined():
        return None
    return shapes[i]


def _is_carried(value: Any) -> bool:
    return isinstance(value, Tensor | TensorArray)


def _reserved(node: Node, values: list[Any]) -> list[Any]:
    """A list of so many tensors, none of them written yet."""
    return [TensorArray(node.attr("element_dtype"), to_array(values[1]), False, False, element_shape=_shape(values[0]))]


def _empty_list(node: Node, values: list[Any]) -> list[Any]:
    return [TensorArray(node.attr("element_dtype"), 0, True, False, element_shape=_shape(values[0]))]


def _shape(value: Any) -> TensorShape:
    """The shape of a list's entries as ops are given it: -1 is unknown, and alone says nothing at all."""
    sizes = to_array(value)
    return TensorShape([None if n < 0 else int(n) for n in sizes] if sizes.ndim else None)


def _list_of_rows(node: Node, values: list[Any]) -> list[Any]:
    rows = to_tensor(values[0])
    return [TensorArray(rows.dtype, rows.dims[0], False, False).unstack(rows)]


def _entry(node: Node, values: list[Any]) -> list[Any]:
    return [values[0].read(values[1])]


def _written(node: Node, values: list[Any]) -> list[Any]:
    return [values[0].write(values[1], values[2])]


def _appended(node: Node, values: list[Any]) -> list[Any]:
    return [values[0].write(values[0].size(), values[1])]


def _no_value(node: Node, values: list[Any]) -> list[Any]:
    """What a branch gives where another one gives something that is used if it was taken."""
    shape = node.attr("shape")
    return [resolve("zeros")([n or 0 for n in shape] if shape.rank is not None else [], node.attr("dtype"))]


def _new_table(node: Node, values: list[Any]) -> list[Any]:
    return [LoadedTable(node.attr("key_dtype"), node.attr("value_dtype"))]


def _fill_table(node: Node, values: list[Any]) -> list[Any]:
    values[0].fill(values[1], values[2])
    return []


def _fill_table_from_file(node: Node, values: list[Any]) -> list[Any]:
    names = ("key_index", "value_index", "vocab_size", "delimiter")
    values[0].fill_from(values[1], **{name: node.attr(name) for name in names})
    return []


def _read_and_skip(node: Node, values: list[Any]) -> list[Any]:
    """The state of a generator, which is moved on: the node is given the variable, the algorithm and how far."""
    return [Generator(state=values[0], alg=int(to_array(values[1]))).skip(values[2])]


SPECIAL: dict[str, Callable[[Node, list[Any]], list[Any]]] = {
    "PartitionedCall": _called, "StatefulPartitionedCall": _called, "If": _cond, "StatelessIf": _cond, "Case": _case,
    "StatelessCase": _case, "While": _loop, "StatelessWhile": _loop, "TensorListReserve": _reserved,
    "EmptyTensorList": _empty_list, "TensorListFromTensor": _list_of_rows, "TensorListGetItem": _entry,
    "TensorListSetItem": _written, "TensorListPushBack": _appended, "FakeParam": _no_value,
    "TensorListStack": lambda node, values: [values[0].stack()],
    "TensorListLength": lambda node, values: [values[0].size()], "HashTableV2": _new_table,
    "LookupTableImportV2": _fill_table, "InitializeTableFromTextFileV2": _fill_table_from_file,
    "LookupTableFindV2": lambda node, values: [values[0].find(values[1], values[2])],
    "LookupTableSizeV2": lambda node, values: [values[0].size()], "RngReadAndSkip": _read_and_skip,
}  # fmt: skip
