"""The object graph of a TensorFlow checkpoint: the protocol buffer message TrackableObjectGraph.

A node has children, attributes (its stored values) and slot variables, which belong to an optimizer. A variable has
one attribute. Other values of an object, such as those of a table, are stored under the attribute's key with the
suffixes `-keys` and `-values`; here they become its children `keys` and `values`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core import wire
from .object_graph import ObjectNode, SlotVariable, check_nodes

_VALUE = "VARIABLE_VALUE"
_CHILDREN, _ATTRIBUTES, _SLOTS, _HAS_VALUES = 1, 2, 3, 5  # field numbers of a node


def decode_graph(data: bytes, stored: Iterable[str] = ()) -> list[ObjectNode]:
    """Decode the nodes of a serialized graph, given the stored keys; `DecodeError` if it is invalid."""
    nodes, parts = [], []
    for _, _, message in wire.fields(data):
        children, key, slots = {}, None, []
        for number, _, value in wire.fields(message):
            if number == _CHILDREN:
                found = _message(value)
                children[_text(found, 2)] = found.get(1, 0)
            elif number == _ATTRIBUTES:
                found = _message(value)
                if _text(found, 1) == _VALUE:
                    key = _text(found, 3)
                else:
                    parts.append((children, _text(found, 1), _text(found, 3)))
            elif number == _SLOTS:
                found = _message(value)
                slots.append(SlotVariable(found.get(1, 0), _text(found, 2), found.get(3, 0)))
        nodes.append(ObjectNode(children, key, tuple(slots)))
    for children, name, key in parts:
        below = {part: part.removeprefix(f"{key}-") for part in stored if part.startswith(f"{key}-")}
        for part, its_name in (below or {key: name}).items():
            children.setdefault(its_name, len(nodes))
            nodes.append(ObjectNode({}, part))
    try:
        return check_nodes(nodes)
    except ValueError as error:
        raise wire.DecodeError(str(error)) from None


def _message(data: bytes) -> dict[int, Any]:
    return {number: value for number, _, value in wire.fields(data)}


def _text(message: dict[int, Any], number: int) -> str:
    value = message.get(number, b"")
    if not isinstance(value, bytes):
        raise wire.DecodeError("text was expected")
    return value.decode()


def encode_graph(nodes: list[ObjectNode], names: dict[str, str] | None = None) -> bytes:
    """Serialize the graph; `names` maps keys to the full names of variables."""
    return b"".join(wire.field(1, _encode_node(node, names or {})) for node in nodes)


def _encode_node(node: ObjectNode, names: dict[str, str]) -> bytes:
    below = [(_reference(number), name.encode()) for name, number in node.children.items()]
    parts = [wire.field(_CHILDREN, reference + wire.field(2, name)) for reference, name in below]
    if node.key is not None:
        full = names.get(node.key, "")
        texts = ((1, _VALUE), (2, full), (3, node.key))
        parts.append(wire.field(_ATTRIBUTES, b"".join(wire.field(n, text.encode()) for n, text in texts if text)))
    parts += [
        wire.field(_SLOTS, _reference(slot.of) + wire.field(2, slot.name.encode()) + wire.number_field(3, slot.node))
        for slot in node.slots
    ]
    return b"".join(parts) + wire.field(_HAS_VALUES, wire.number_field(1, 1))


def _reference(number: int) -> bytes:
    return wire.number_field(1, number) if number else b""
