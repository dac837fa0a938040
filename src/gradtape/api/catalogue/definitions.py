"""TensorFlow's op definitions: inputs and outputs in order, and types of attributes.

`tools/record_op_definitions.py` writes `definitions.txt` and documents its format.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from ...core import text_beside


class Argument(NamedTuple):
    """An input or output: a tensor of `dtype`, as many as the attribute `number`, or those listed by `several`."""

    name: str
    dtype: str  # a dtype, or the attribute that holds it
    number: str = ""
    several: str = ""


class Definition(NamedTuple):
    """A TensorFlow op."""

    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    attributes: dict[str, str]  # their types: type, int, bool, list(int) ...
    defaults: dict[str, str]  # of attributes: Python literals, and names of dtypes
    names: dict[str, str]  # the names of the attributes in `tf.raw_ops`
    is_stateful: bool

    @property
    def parameters(self) -> str:
        """The Python parameters in `tf.raw_ops`: the inputs, then the attributes that they do not determine."""
        inferred = {text for given in self.inputs for text in given[1:]}
        own = [key for key in self.attributes if key not in inferred]
        required = [self.names[key] for key in own if key not in self.defaults]
        others = [f"{self.names[key]}={self.defaults[key]}" for key in own if key in self.defaults]
        return ", ".join([*(given.name for given in self.inputs), *required, *others])


@cache
def _lines() -> dict[str, str]:
    spec: Any = __spec__
    return {line.partition(" ")[0].rstrip("!"): line for line in text_beside(spec, "definitions.txt").splitlines()}


def recorded_ops() -> list[str]:
    """Returns the names of the ops that were recorded."""
    return list(_lines())


@cache
def definition_of(name: str) -> Definition | None:
    """Returns the definition of an op, if it was recorded."""
    line = _lines().get(name)
    if line is None:
        return None
    head, _, tail = line.partition(" |")
    first, _, last = head.partition(" ->")
    title, *inputs = first.split()
    attributes, defaults, names = {}, {}, {}
    for part in tail.split():
        key, _, rest = part.partition(":")
        rest, _, other = rest.partition("@")
        attributes[key], _, default = rest.partition("=")
        names[key] = other or key
        if default:
            defaults[key] = default
    given, made = (tuple(map(_argument, part)) for part in (inputs, last.split()))
    return Definition(given, made, attributes, defaults, names, title.endswith("!"))


def _argument(text: str) -> Argument:
    name, _, kind = text.partition(":")
    if kind.startswith("["):
        return Argument(name, "", several=kind[1:-1])
    number, _, dtype = kind.rpartition("*")
    return Argument(name, dtype, number)
