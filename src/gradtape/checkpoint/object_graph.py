"""The object graph: nodes are objects that own variables, edges are named after the attributes that hold them.

Modules, layers, optimizers and checkpoints own their attributes; lists and dicts own their elements. As in TensorFlow,
a variable is stored under the shortest path to it: `model/dense/bias/.ATTRIBUTES/VARIABLE_VALUE`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from ..core.owners import Trackable
from ..state.variable import Variable

VALUE = "VARIABLE_VALUE"
_ATTRIBUTES = "/.ATTRIBUTES/"
SUFFIX = _ATTRIBUTES + VALUE


class SlotVariable(NamedTuple):
    """A slot variable of an optimizer; `of` is the node id of the variable it belongs to, `node` its own."""

    of: int
    name: str
    node: int


class ObjectNode(NamedTuple):
    """A node of the object graph: child node ids by name, the key of its value if it is a variable, its slots."""

    children: dict[str, int]
    key: str | None
    slots: tuple[SlotVariable, ...] = ()


def check_nodes(nodes: list[ObjectNode]) -> list[ObjectNode]:
    """Returns the nodes; raises ValueError if an edge leads to a missing node."""
    numbers = [number for node in nodes for number in node.children.values()]
    numbers += [number for node in nodes for slot in node.slots for number in (slot.of, slot.node)]
    wrong = [n for n in numbers if type(n) is not int or not 0 <= n < len(nodes)]
    if wrong or not nodes:
        raise ValueError(f"an edge of the graph of objects leads nowhere: to {wrong[:1]} of {len(nodes)} objects")
    if not all(isinstance(slot.name, str) for node in nodes for slot in node.slots):
        raise ValueError("the name of a slot is no text")
    return nodes


def variable_of(value: Any) -> Variable | None:
    """Returns `value` if it is a variable, or the variable that another class wraps; else None."""
    return value.handle if isinstance(value, Variable) else getattr(value, "_gradtape_variable", None)


def is_trackable(value: Any, around: tuple[int, ...] = ()) -> bool:
    """Whether `value` is or may own a variable; `around` holds the ids of enclosing containers, to stop at cycles."""
    if isinstance(value, list | tuple | Mapping):
        if id(value) in around:
            return False
        inside = (*around, id(value))
        return any(is_trackable(x, inside) for x in (value.values() if isinstance(value, Mapping) else value))
    return variable_of(value) is not None or owns_variables(value)


def owns_variables(value: Any) -> bool:
    """Whether `value` may own variables: lists and dicts that plain ones have been replaced by do, too."""
    return getattr(type(value), "_owns_variables", False)


def children(owner: Any) -> dict[str, Any]:
    """The trackable children of an object, by name."""
    if variable_of(owner) is not None:
        return {}
    if isinstance(owner, Mapping):
        found = {key: value for key, value in owner.items() if is_trackable(value)}
        wrong = next((key for key in found if not isinstance(key, str | int)), None)
        if wrong is not None:
            raise ValueError(
                f"Unable to save the object {owner!r}: the key {wrong!r} maps to something that has variables. Use "
                "strings or integers as keys"
            )
        return {str(key): value for key, value in found.items()}
    if isinstance(owner, list | tuple):
        return {str(i): value for i, value in enumerate(owner) if is_trackable(value)}
    if hasattr(owner, "_owned"):
        named = owner._owned()
    else:
        named = owner._trackable_children() if isinstance(owner, Trackable) else vars(owner)
    return {name: value for name, value in named.items() if is_trackable(value)}


def attribute_of(node: ObjectNode) -> tuple[str, str] | None:
    """Returns the attribute of its owner that a node stores, and that attribute's key; None for other nodes.

    Some objects of TensorFlow's have no variables but attributes with one or more values: `t/.ATTRIBUTES/table-keys`
    and `t/.ATTRIBUTES/table-values` are those of the attribute `table`.
    """
    path, separator, name = (node.key or "").rpartition(_ATTRIBUTES)
    if not separator or name == VALUE:
        return None
    attribute = name.partition("-")[0]
    return attribute, path + _ATTRIBUTES + attribute


def _attribute_key(owner: Any, path: str, name: str) -> str | None:
    """Returns the key of a child that TensorFlow stores as an attribute of its owner; None for other children."""
    attribute = getattr(type(owner), "_checkpoint_attribute", None)
    if attribute is None:
        return None
    return path + _ATTRIBUTES + (name if name == attribute else f"{attribute}-{name}")


def describe_objects(root: Any) -> tuple[list[ObjectNode], dict[str, Variable]]:
    """Returns the object graph below `root`, which is node 0, and the variables by key."""
    numbers, nodes, found, paths = {id(root): 0}, [], {}, []
    waiting: deque[tuple[Any, tuple[str, ...]]] = deque([(root, ())])
    attributes: dict[int, str] = {}
    alive = [root]  # objects that `children` creates must stay alive as long as their ids are compared
    while waiting:
        owner, way = waiting.popleft()
        if isinstance(owner, Trackable):
            owner._check_saveable()
        below = {}
        for name, child in children(owner).items():
            if id(child) not in numbers:
                numbers[id(child)] = len(numbers)
                waiting.append((child, (*way, name)))
                alive.append(child)
                key = _attribute_key(owner, "/".join(map(_escape, way)), name)
                if key is not None:
                    attributes[id(child)] = key
            below[name] = numbers[id(child)]
        variable = variable_of(owner)
        path = "/".join(map(_escape, way))
        paths.append(path)
        key = None
        if variable is not None:
            key = attributes.get(id(owner), path + SUFFIX)
            found[key] = variable
        nodes.append(ObjectNode(below, key))
    variables = [owner for owner in alive if variable_of(owner) is not None]
    for number, owner in enumerate(alive):
        slots = []
        for variable, name, kept in slots_of(owner, variables):
            of = numbers.get(id(variable))
            if of is not None:  # slots of variables outside the graph are not saved, as in TensorFlow
                key = f"{paths[of]}/.OPTIMIZER_SLOT/{paths[number]}/{_escape(name)}{SUFFIX}"
                slots.append(SlotVariable(of, name, len(nodes)))
                nodes.append(ObjectNode({}, key))
                found[key] = kept
        nodes[number] = nodes[number]._replace(slots=tuple(slots))
    return nodes, found


def slots_of(owner: Any, variables: list[Any]) -> list[tuple[Any, str, Variable]]:
    """The slots of an optimizer, as triples (variable, slot name, slot variable); Keras 2 is asked by variable."""
    if hasattr(type(owner), "_kept_of_variables"):
        return owner._kept_of_variables()
    found = []
    for name in owner.get_slot_names() if hasattr(type(owner), "add_slot") else ():
        for variable in variables:
            with suppress(AttributeError, KeyError):  # this variable has no such slot
                found.append((variable, name, owner.get_slot(variable, name)))
    return found


def create_slot(owner: Any, variable: Any, name: str) -> Variable | None:
    """The slot of an optimizer for a variable, created if it does not exist yet; None if the object has no slots."""
    if hasattr(type(owner), "_kept_of_variables"):
        return owner._slot(variable, name)
    return owner.add_slot(variable, name) if hasattr(type(owner), "add_slot") else None


def _escape(name: str) -> str:
    return name.replace(".", "..").replace("/", ".S")
