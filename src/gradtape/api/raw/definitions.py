"""What TensorFlow's registry says of its ops: the inputs and outputs in their order, and the kinds of attributes.

`definitions.txt` is written by `tools/record_op_definitions.py`, which says what a line of it is.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Argument(NamedTuple):
    """An input or an output: a tensor of `dtype`, or as many as the attribute `number` says, or as `several` lists."""

    name: str
    dtype: str  # a dtype, or the attribute that is one
    number: str = ""
    several: str = ""


class Definition(NamedTuple):
    """An op of TensorFlow's."""

    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    attributes: dict[str, str]  # their kinds: type, int, bool, list(int) ...
    usual: dict[str, str]  # the dtypes that some are, if nothing else is said
    names: dict[str, str]  # what `tf.raw_ops` calls the attributes
    is_stateful: bool


@cache
def _lines() -> dict[str, str]:
    text = files(__package__).joinpath("definitions.txt").read_text()
    return {line.partition(" ")[0].rstrip("!"): line for line in text.splitlines()}


@cache
def definition_of(name: str) -> Definition | None:
    """The definition of an op, if it was written down."""
    line = _lines().get(name)
    if line is None:
        return None
    head, _, tail = line.partition(" |")
    first, _, last = head.partition(" ->")
    title, *inputs = first.split()
    attributes, usual, names = {}, {}, {}
    for part in tail.split():
        key, _, rest = part.partition(":")
        rest, _, other = rest.partition("@")
        attributes[key], _, dtype = rest.partition("=")
        names[key] = other or key
        if dtype:
            usual[key] = dtype
    given, made = (tuple(map(_argument, part)) for part in (inputs, last.split()))
    return Definition(given, made, attributes, usual, names, title.endswith("!"))


def _argument(text: str) -> Argument:
    name, _, kind = text.partition(":")
    if kind.startswith("["):
        return Argument(name, "", several=kind[1:-1])
    number, _, dtype = kind.rpartition("*")
    return Argument(name, dtype, number)
