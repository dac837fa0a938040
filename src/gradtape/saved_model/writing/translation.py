"""Translates the ops of a program to TensorFlow's: each to one node or several.

An op that is one node, with the same inputs and attributes, is written as such (`catalogue/nodes.py` has its type). For
other ops, a function in the files of this folder takes the writer, the step, the tensors and the op's attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...api.catalogue.definitions import definition_of
from ...api.catalogue.nodes import node_type
from .generalisation import Step
from .writer import Ref, Unsaved, Writer

Translator = Callable[..., Any]
_TRANSLATORS: dict[str, Translator] = {}


def translates(*names: str) -> Callable[[Translator], Translator]:
    """Registers a function that writes these ops."""

    def register(function: Translator) -> Translator:
        _TRANSLATORS.update(dict.fromkeys(names, function))
        return function

    return register


def translated(writer: Writer, step: Step, inputs: list[Ref]) -> list[Ref]:
    """Writes a step; returns its outputs."""
    function = _TRANSLATORS.get(step.op.name)
    if function is not None:
        found = function(writer, step, *inputs, **step.attrs)
    else:
        found = _written_as_one_node(writer, step, inputs)
    return list(found) if isinstance(found, list | tuple) and not isinstance(found, Ref) else [found]


def is_written(op: Any) -> bool:
    """Returns whether a step with this op can be written, if its attributes fit those of the node."""
    return op.name in _TRANSLATORS or definition_of(node_type(op)) is not None


def _written_as_one_node(writer: Writer, step: Step, inputs: list[Ref]) -> Any:
    """Writes the node of the op's type: attributes of the op are attributes or inputs of the node, by name."""
    definition = definition_of(node_type(step.op))
    attrs = {name: value for name, value in step.attrs.items() if name != "dtype"}  # which is that of the output
    takes_list = definition is not None and any(first.several or first.number for first in definition.inputs[:1])
    given: list[Any] = [inputs] if takes_list else list(inputs)
    rest = [] if definition is None else [argument.name for argument in definition.inputs[len(given) :]]
    if definition is None or not {*rest} <= attrs.keys() <= {*rest, *definition.attributes}:
        name = step.op.name
        raise Unsaved(f"it has a step {name!r}, for which TensorFlow has no op, nor is it written as several here")
    for value in map(attrs.pop, rest):
        given.append(list(value) if isinstance(value, tuple) else value)
    inferred = {text for argument in definition.inputs for text in argument[1:]}
    for output, place in zip(definition.outputs, step.outputs, strict=False):
        if output.dtype in definition.attributes and output.dtype not in inferred:
            attrs[output.dtype] = place.dtype
    return writer.add(node_type(step.op), given, attrs)


def number(writer: Writer, value: Any, like: Ref) -> Ref:
    """Writes a number with the dtype of a tensor."""
    return writer.constant(np.asarray(value, like.dtype.numpy), like.dtype)
