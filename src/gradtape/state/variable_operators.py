"""The operators of variables: those of tensors, applied to the value; in-place operators raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from ..core.operators import BINARY, REFLECTED, UNARY


def attach(kind: type[object]) -> None:
    """Define the operators of `Tensor` on a variable class, applied to its value."""
    for row in BINARY:
        setattr(kind, row.method, lambda self, other, f=row.function: f(self._as_tensor(), other))
    for row in REFLECTED:
        setattr(kind, row.reflected, lambda self, other, f=row.function: f(other, self._as_tensor()))
    for row in UNARY:
        setattr(kind, row.method, lambda self, f=row.function: f(self._as_tensor()))
    for name, sign, instead in (
        ("add", "+", "variable.assign_add(value)"), ("sub", "-", "variable.assign_sub(value)"),
        ("mul", "*", "variable.assign(variable * value)"), ("truediv", "/", "variable.assign(variable / value)"),
        ("pow", "**", "variable.assign(variable ** value)"),
    ):  # fmt: skip
        setattr(kind, f"__i{name}__", _not_in_place(sign, instead))


def _not_in_place(sign: str, instead: str) -> Callable[[object, object], NoReturn]:
    def method(self: object, other: object) -> NoReturn:
        raise RuntimeError(
            f"`variable {sign}= value` with `tf.Variable`s is not supported. Use `{instead}` to modify the variable, "
            f"or `out = variable {sign} value` if you need to get a new output Tensor."
        )

    return method
