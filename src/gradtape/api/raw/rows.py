"""The ops of `tf.raw_ops`, and the expression that computes each."""

from __future__ import annotations

from functools import cache

from ..catalogue.definitions import definition_of
from ..catalogue.expressions import read
from ..catalogue.nodes import calls, functions
from .table import TABLE

_NOT_CONJUGATED = ("SigmoidGrad", "TanhGrad")  # TensorFlow's callers pass the conjugate of a complex output


@cache
def rows() -> dict[str, str]:
    """Returns the expressions by op: a public function, a line of the table, or the derivative of another op."""
    found = {**calls(), **{name: line.text for name, line in read(TABLE).items()}}
    for name, path in functions().items():
        derivative = f"{name}Grad"
        if derivative not in found and definition_of(derivative) is not None:
            found[derivative] = _cotangent(derivative, path.rpartition(".")[2])
    return found


def _cotangent(name: str, op: str) -> str:
    """Returns the expression for the cotangent of an op's input, from the op's own rule."""
    definition = definition_of(name)
    assert definition is not None
    given = {argument.name for argument in definition.inputs}
    (cotangent,) = given & {"dy", "gradients"}
    (residual,) = given - {cotangent}
    attributes = [f"{key}={key}" for key in definition.attributes if key != "T"]
    if name in _NOT_CONJUGATED:
        residual = f"tf.math.conj({residual})"
    return f"cotangent({', '.join([repr(op), residual, cotangent, *attributes])})"
