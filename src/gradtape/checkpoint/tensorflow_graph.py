"""The object graph of a TensorFlow checkpoint: the protocol buffer message TrackableObjectGraph.

A node has children, attributes (its stored values) and slot variables, which belong to an optimizer. A variable has
one attribute. Other values of an object, such as those of a table, are stored under the attribute's key with the
suffixes `-keys` and `-values`; here they become its children `keys` and `values`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.protos import wire
from ..core.protos.records import decoded, encoded
from .object_graph import VALUE, ObjectNode, SlotVariable, attribute_of, check_nodes


def decode_graph(data: bytes, stored: Iterable[str] = ()) -> list[ObjectNode]:
    """Decode the nodes of a serialized graph, given the stored keys; `DecodeError` if it is invalid."""
    nodes, parts = [], []
    for node in decoded("TrackableObjectGraph", data).nodes:
        children = {child.local_name: child.node_id for child in node.children}
        key = None
        for attribute in node.attributes:
            if attribute.name == VALUE:
                key = attribute.checkpoint_key
            else:
                parts.append((children, attribute.name, attribute.checkpoint_key))
        slots = (
            SlotVariable(slot.original_variable_node_id, slot.slot_name, slot.slot_variable_node_id)
            for slot in node.slot_variables
        )
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


def encode_graph(nodes: list[ObjectNode], names: dict[str, str] | None = None) -> bytes:
    """Serialize the graph; `names` maps keys to the full names of variables."""
    attributes = {number: found for number, node in enumerate(nodes) if (found := attribute_of(node)) is not None}
    kept = [number for number in range(len(nodes)) if number not in attributes]
    numbers = {number: index for index, number in enumerate(kept)}

    def values_of(node: ObjectNode) -> dict[str, Any]:
        own = sorted({attributes[child] for child in node.children.values() if child in attributes})
        stored = [{"name": name, "checkpoint_key": key} for name, key in own]
        if node.key is not None:
            full = (names or {}).get(node.key, "")
            stored.append({"name": VALUE, "full_name": full, "checkpoint_key": node.key})
        return {
            "children": [
                {"node_id": numbers.get(child, child), "local_name": name}
                for name, child in node.children.items()
                if child not in attributes
            ],
            "slot_variables": [
                {
                    "original_variable_node_id": numbers.get(slot.of, slot.of),
                    "slot_name": slot.name,
                    "slot_variable_node_id": numbers.get(slot.node, slot.node),
                }
                for slot in node.slots
            ],
            "attributes": stored,
            "has_checkpoint_values": {"value": True},
        }

    return encoded("TrackableObjectGraph", {"nodes": [values_of(nodes[number]) for number in kept]})
