"""The ops of `tf.raw_ops`, and the expression that computes each."""

from __future__ import annotations

import re
from functools import cache

from ..catalogue.definitions import Definition, definition_of, recorded_ops
from ..catalogue.expressions import read
from ..catalogue.nodes import calls, functions
from .table import TABLE

_DERIVATIVE = re.compile(r"(\w+?)(Grad|BackpropInput|BackpropFilter)(V2)?")
# What TensorFlow calls the inputs of derivatives: the cotangent of the output, the input that is differentiated, and
# the shape of that input where its values are not needed.
_COTANGENTS = ("dy", "grad", "gradients", "input_grads", "out_backprop")
_ARGUMENTS = ("orig_input", "input_image")
_SHAPES = ("orig_input_shape", "input_sizes", "filter_sizes", "shape")
_NOT_CONJUGATED = ("SigmoidGrad", "TanhGrad")  # TensorFlow's callers pass the conjugate of a complex output


@cache
def rows() -> dict[str, str]:
    """Returns the expressions by op: a public function, a line of the table, or the derivative of another op."""
    found = {**calls(), **{name: line.text for name, line in read(TABLE).items()}}
    for name in recorded_ops():
        match = None if name in found else _DERIVATIVE.fullmatch(name)
        definition = None if match is None else definition_of(name)
        if match is None or definition is None:
            continue
        newer = match[1] + (match[3] or "")
        base = newer if newer in found else match[1]
        if base in functions() and len(definition.inputs) == 2:
            found[name] = _by_rule(name, definition, functions()[base].rpartition(".")[2])
        elif base in found:
            found[name] = _by_tape(definition, base, found[base], match[2] == "BackpropFilter")
    return found


def _by_rule(name: str, definition: Definition, op: str) -> str:
    """Returns the cotangent of an op's input, from the input or the output, by the rule of the op."""
    residual, cotangent = sorted((argument.name for argument in definition.inputs), key=_COTANGENTS.__contains__)
    attributes = [f"{key}={key}" for key in definition.attributes if key != "T"]
    if name in _NOT_CONJUGATED:
        residual = f"tf.math.conj({residual})"
    return f"cotangent({', '.join([repr(op), residual, cotangent, *attributes])})"


def _by_tape(definition: Definition, base: str, expression: str, of_filter: bool) -> str:
    """Returns the cotangent of an argument of another op, which has the same attributes, by its expression."""
    forward = definition_of(base)
    assert forward is not None
    names = [argument.name for argument in definition.inputs]
    argument = "filter" if of_filter else forward.inputs[0].name
    cotangent = next(name for name in names if name in _COTANGENTS)
    at = next((name for name in names if name in (argument, *_ARGUMENTS)), None)
    if at is None:
        at = f"zeros({next(name for name in names if name in _SHAPES)}, {cotangent})"
    if "(" not in expression:
        expression = f"tf.{expression}({', '.join(re.findall(r'(?:^|, )([a-z_]+)', forward.parameters))})"
    return f"vjp(lambda {argument}: {expression}, {at}, {cotangent})"
