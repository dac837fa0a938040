"""Validates the functions of a SavedModel before any of their nodes runs.

A node is checked against TensorFlow's definition of its op: the types of its attributes, the number and dtypes of its
inputs, and the functions that it calls. A valid node can still fail for the shapes and values of tensors; the op then
raises its usual error. An invalid node means a damaged file: `DataLossError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..api.catalogue.definitions import Argument, Definition
from ..core import errors
from ..core.dtypes import DType, as_dtype
from ..core.protos.records import Record

MAX_EXPANDED_NODES = 1_000_000  # nodes that one call runs, without loops: nested calls can multiply them
_MAX_OUTPUTS = 1 << 16  # of one node
_FIELDS = {"string": "s", "int": "i", "float": "f", "bool": "b", "type": "type", "shape": "shape", "tensor": "tensor",
           "func": "func"}  # fmt: skip
# The functions that a node calls: the attribute, and the attributes with its input and output dtypes.
_CALLS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "PartitionedCall": (("f", "Tin", "Tout"),), "StatefulPartitionedCall": (("f", "Tin", "Tout"),),
    "If": (("then_branch", "Tin", "Tout"), ("else_branch", "Tin", "Tout")),
    "StatelessIf": (("then_branch", "Tin", "Tout"), ("else_branch", "Tin", "Tout")),
    "Case": (("branches", "Tin", "Tout"),), "StatelessCase": (("branches", "Tin", "Tout"),),
    "While": (("cond", "T", ""), ("body", "T", "T")), "StatelessWhile": (("cond", "T", ""), ("body", "T", "T")),
}  # fmt: skip


def called_functions(nodes: Iterable[Record]) -> list[str]:
    """Returns the names of the functions in the attributes of some nodes."""
    found = []
    for node in nodes:
        for value in node.attr.values():
            if "func" in value:
                found.append(value.func.name)
            elif "list" in value:
                found += [function.name for function in value.list.values.get("func", ())]
    return found


def check_calls(functions: Mapping[str, Sequence[Record]]) -> None:
    """Raises an error if functions, given as their nodes, are recursive, or if one call would run too many nodes."""
    calls = {name: [f for f in called_functions(nodes) if f in functions] for name, nodes in functions.items()}
    sizes: dict[str, int] = {}
    for start in calls:
        path: dict[str, None] = {}  # the functions whose callees are being visited, outermost first
        waiting = [start]
        while waiting:
            name = waiting[-1]
            if name in sizes:
                waiting.pop()
                continue
            below = [callee for callee in calls[name] if callee not in sizes]
            if below:
                path[name] = None
                if any(callee in path for callee in below):
                    raise errors.DataLossError(f"the function {name} of the SavedModel calls itself")
                waiting.append(below[0])
                continue
            size = len(functions[name]) + sum(sizes[callee] for callee in calls[name])
            if size > MAX_EXPANDED_NODES:
                raise errors.DataLossError(
                    f"a call of the function {name} of the SavedModel would run more than {MAX_EXPANDED_NODES} nodes"
                )
            sizes[name] = size
            path.pop(name, None)
            waiting.pop()


def check_attributes(node: Any, definition: Definition, attrs: Mapping[str, Record]) -> None:
    """Raises an error unless the attributes of a node have the types that its op defines."""
    for name, kind in definition.attributes.items():
        if name not in attrs:
            continue
        inner = kind.removeprefix("list(").removesuffix(")")
        values = attrs[name].values
        if inner != kind:
            values = values["list"].values if "list" in values else {"": None}
            fits = {key for key, value in values.items() if value != []} <= {_FIELDS[inner]}
        else:
            fits = set(values) == {_FIELDS[kind]}
        if not fits:
            raise errors.DataLossError(
                f"the attribute {name} of the node {node.name} ({node.op}) is no {kind}: {attrs[name].values}"
            )


def dtypes_of(node: Any, arguments: Sequence[Argument], definition: Definition) -> list[DType]:
    """Returns the dtypes of a node's inputs or outputs, according to its attributes."""
    found: list[DType] = []
    for argument in arguments:
        if argument.several:
            found += _attribute(node, argument.several)
            continue
        count = _attribute(node, argument.number) if argument.number else 1
        if not 0 <= count <= _MAX_OUTPUTS:
            raise errors.DataLossError(f"{argument.number} of the node {node.name} ({node.op}) is {count}")
        if argument.dtype in definition.attributes:
            default = definition.defaults.get(argument.dtype)
            given = node.attr(argument.dtype) is not None or not default
            dtype = _attribute(node, argument.dtype) if given else as_dtype(default)
        else:
            dtype = as_dtype(argument.dtype)
        found += [dtype] * count
    return found


def _attribute(node: Any, name: str) -> Any:
    value = node.attr(name)
    if value is None:
        raise errors.DataLossError(f"the node {node.name} ({node.op}) has no attribute {name}")
    return value


def check_inputs(node: Any, wanted: Sequence[DType], given: Sequence[DType]) -> None:
    """Raises an error unless a node gets tensors of its input dtypes."""
    if list(wanted) != list(given):
        raise errors.DataLossError(
            f"the node {node.name} ({node.op}) takes {_names(wanted)}, and is given {_names(given)}"
        )


def check_callees(node: Any) -> None:
    """Raises an error unless the functions that a node calls have the inputs and outputs that it declares."""
    for attribute, takes, gives in _CALLS.get(node.op, ()):
        names = _attribute(node, attribute)
        for name in [names] if isinstance(names, str) else names:
            function = node.library[name]
            check_dtypes(f"the function {name}, as the node {node.name} calls it,", "takes",
                         _attribute(node, takes), function.dtypes)  # fmt: skip
            if gives:
                check_dtypes(f"the function {name}, as the node {node.name} calls it,", "gives",
                             _attribute(node, gives), function.output_dtypes)  # fmt: skip
            elif len(function.output_dtypes) != 1:
                raise errors.DataLossError(f"the condition {name} of the loop {node.name} must give one tensor")


def check_dtypes(who: str, verb: str, wanted: Sequence[DType], found: Sequence[DType]) -> None:
    """Raises an error unless a function has input or output tensors of these dtypes."""
    if list(wanted) != list(found):
        raise errors.DataLossError(f"{who} {verb} {_names(wanted)}, and its definition says {_names(found)}")


def _names(dtypes: Sequence[DType]) -> str:
    return f"[{', '.join(dtype.name for dtype in dtypes)}]"
