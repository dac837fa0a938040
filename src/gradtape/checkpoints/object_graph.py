"""Objects that own variables, as a graph: a node is an object, an edge the name under which one owns another.

Modules, layers, optimizers and checkpoints own what their attributes are; lists and dicts what is in them. A variable
is stored under the names on the shortest way to it, as in TensorFlow; `model/dense/bias/.ATTRIBUTES/VARIABLE_VALUE`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..state.variable import Variable

SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"


class SlotVariable(NamedTuple):
    """What an optimizer keeps of a variable, under a name; the variable and what is kept are numbers of nodes."""

    of: int
    name: str
    node: int


class ObjectNode(NamedTuple):
    """An object of the graph: the numbers of the nodes it owns, the key of its value if it is a variable, its slots."""

    children: dict[str, int]
    key: str | None
    slots: tuple[SlotVariable, ...] = ()


def checked(nodes: list[ObjectNode]) -> list[ObjectNode]:
    """The nodes, if all edges between them lead to one of them; else ValueError."""
    numbers = [number for node in nodes for number in node.children.values()]
    numbers += [number for node in nodes for slot in node.slots for number in (slot.of, slot.node)]
    wrong = [n for n in numbers if type(n) is not int or not 0 <= n < len(nodes)]
    if wrong or not nodes:
        raise ValueError(f"an edge of the graph of objects leads nowhere: to {wrong[:1]} of {len(nodes)} objects")
    if not all(isinstance(slot.name, str) for node in nodes for slot in node.slots):
        raise ValueError("the name of a slot is no text")
    return nodes


def variable_of(value: Any) -> Variable | None:
    """The variable that `value` is, or holds as a variable of Keras does."""
    return value if isinstance(value, Variable) else getattr(value, "_gradtape_variable", None)


def is_trackable(value: Any, around: tuple[int, ...] = ()) -> bool:
    """Whether `value` is a variable or may own some; `around` are the containers that it stands in."""
    if isinstance(value, list | tuple | Mapping):
        if id(value) in around:
            return False
        inside = (*around, id(value))
        return any(is_trackable(x, inside) for x in (value.values() if isinstance(value, Mapping) else value))
    return variable_of(value) is not None or hasattr(type(value), "_owns_variables")


def children(owner: Any) -> dict[str, Any]:
    """What an object owns, by name."""
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
    named = owner._owned() if hasattr(owner, "_owned") else vars(owner)
    return {name: value for name, value in named.items() if is_trackable(value)}


def described(root: Any) -> tuple[list[ObjectNode], dict[str, Variable]]:
    """The graph below `root`, whose number is 0, and the variables by key."""
    numbers, nodes, found, paths = {id(root): 0}, [], {}, []
    waiting: deque[tuple[Any, tuple[str, ...]]] = deque([(root, ())])
    alive = [root]  # what an object makes when it is asked for its children must not be gone when its id is compared
    while waiting:
        owner, way = waiting.popleft()
        below = {}
        for name, child in children(owner).items():
            if id(child) not in numbers:
                numbers[id(child)] = len(numbers)
                waiting.append((child, (*way, name)))
                alive.append(child)
            below[name] = numbers[id(child)]
        variable = variable_of(owner)
        path = "/".join(map(_escaped, way))
        paths.append(path)
        nodes.append(ObjectNode(below, None if variable is None else path + SUFFIX))
        if variable is not None:
            found[path + SUFFIX] = variable
    for number, owner in enumerate(alive):
        slots = []
        for variable, name, kept in slots_of(owner):
            of = numbers.get(id(variable))
            if of is not None:  # what is kept of other variables is not saved, as in TensorFlow
                key = f"{paths[of]}/.OPTIMIZER_SLOT/{paths[number]}/{_escaped(name)}{SUFFIX}"
                slots.append(SlotVariable(of, name, len(nodes)))
                nodes.append(ObjectNode({}, key))
                found[key] = kept
        nodes[number] = nodes[number]._replace(slots=tuple(slots))
    return nodes, found


def slots_of(owner: Any) -> list[tuple[Any, str, Variable]]:
    """What an optimizer keeps of variables: those, the names, and the variables that it made for it."""
    return owner._kept_of_variables() if hasattr(type(owner), "_kept_of_variables") else []


def _escaped(name: str) -> str:
    return name.replace(".", "..").replace("/", ".S")
