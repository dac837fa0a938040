"""Translates the ops of a program to TensorFlow's: each to one node or several.

An op without attributes has its own name, or the name in `op_names.py`. For other ops, a function in the files of this
folder takes the writer, the step, the tensors and the op's attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....graph.ir.operations import type_of
from ...op_names import NAMES
from ...raw.definitions import definition_of
from .generalisation import Step
from .writer import Ref, Unsaved, Writer

_OF_THEIR_NAME = ("cross", "identity", "invert_permutation", "lu", "ones_like", "stop_gradient", "zeros_like")
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
    op = step.op
    function = _TRANSLATORS.get(op.name)
    if function is not None:
        found = function(writer, step, *inputs, **step.attrs)
    elif _has_its_name(op) and not step.attrs:
        found = getattr(writer, type_of(op))(*inputs)
    else:
        raise Unsaved(f"it has a step {op.name!r}, for which TensorFlow has no op, nor is it written as several here")
    return list(found) if isinstance(found, list | tuple) and not isinstance(found, Ref) else [found]


def _has_its_name(op: Any) -> bool:
    """Returns whether TensorFlow has the op, with the same inputs, under its name."""
    if op.name in NAMES or op.name in _OF_THEIR_NAME:
        return True
    return op.family == "elementwise" and definition_of(op.title) is not None


def number(writer: Writer, value: Any, like: Ref) -> Ref:
    """Writes a number with the dtype of a tensor."""
    return writer.constant(np.asarray(value, like.dtype.numpy), like.dtype)
