"""Nodes as TensorFlow's op definitions describe them: attributes as Python values, and the outputs in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..api.catalogue.definitions import Argument, Definition, definition_of
from ..api.io.tensors import parsed
from ..core import errors
from ..core.dtypes import DType
from ..core.locks import cached_property
from ..core.protos.records import Record
from .format.structures import shape_of
from .validation import dtypes_of

IGNORED = ("DisableCopyOnRead",)  # nodes without outputs that have no effect


def attribute(value: Record) -> Any:
    """Returns the Python value of an `AttrValue`."""
    for kind, found in value.values.items():
        if kind == "list":
            return _as_list(found)
        return _ATTRIBUTES[kind](found)
    return None


def attribute_of(node: Record, name: str, default: Any = None) -> Any:
    """Returns an attribute of a node as a Python value."""
    if name not in node.attr:
        return default
    try:
        return attribute(node.attr[name])
    except (TypeError, ValueError, errors.InvalidArgumentError) as error:
        raise errors.DataLossError(f"the attribute {name} of the node {node.name} is damaged: {error}") from error


def _as_list(value: Record) -> list[Any]:
    return [_ATTRIBUTES[kind](one) for kind, found in value.values.items() for one in found]


def _text(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def dtype_of(number: int) -> DType:
    """Returns a dtype by its number."""
    try:
        return DType(number)
    except TypeError as error:
        raise errors.DataLossError(f"a dtype in the SavedModel is unknown: {error}") from None


_ATTRIBUTES: dict[str, Callable[[Any], Any]] = {
    "s": _text, "i": int, "f": float, "b": bool, "type": dtype_of, "shape": shape_of, "tensor": parsed,
    "func": lambda function: function.name, "placeholder": str,
}  # fmt: skip


class DefinedNode:
    """A `NodeDef`: its op, its attributes and its outputs."""

    def __init__(self, proto: Record) -> None:
        self.name, self.op = proto.name, proto.op
        self._proto = proto

    def attr(self, name: str, default: Any = None) -> Any:
        """Returns an attribute as a Python value."""
        return attribute_of(self._proto, name, default)

    @cached_property
    def definition(self) -> Definition:
        """TensorFlow's definition of the op."""
        found = definition_of(self.op)
        if found is None:
            raise unknown_op(self.op, self.name)
        return found

    @cached_property
    def output_dtypes(self) -> list[DType]:
        """The dtypes of all outputs, flattened."""
        return [] if self.op in IGNORED else dtypes_of(self, self.definition.outputs, self.definition)

    @cached_property
    def output_names(self) -> list[str]:
        """All outputs in order, as functions refer to them: `name:index`."""
        return [f"{output.name}:{i}" for output in self.definition.outputs for i in range(self._count(output))]

    def place_of(self, place: list[str]) -> int:
        """Returns the flat index of the output `name:index`."""
        text = ":".join(place[:1] + [str(int(n)) for n in place[1:2] if n.isdecimal()])
        if text in self.output_names:
            return self.output_names.index(text)
        raise errors.DataLossError(f"the node {self.name} ({self.op}) has no output {':'.join(place)!r}")

    def _count(self, argument: Argument) -> int:
        if argument.several:
            return len(self.attr(argument.several, ()))
        return int(self.attr(argument.number, 0)) if argument.number else 1


def unknown_op(op: str, where: str) -> errors.UnimplementedError:
    """Returns the error for an op that gradtape does not have."""
    return errors.UnimplementedError(
        f"The loaded function uses TensorFlow's op {op} (node {where}), which gradtape does not have: dir(tf.raw_ops) "
        "lists what it has. Functions of the SavedModel that do not use it can be called"
    )
