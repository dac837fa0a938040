"""The operators of variables: those of tensors, applied to the value; in-place operators raise."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import NoReturn


def attach(kind: type[object]) -> None:
    """Define the operators of `Tensor` on a variable class, applied to its value."""
    arithmetic = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
    for name in (*arithmetic, "lt", "le", "gt", "ge", "eq", "ne"):
        function = getattr(operator, f"__{name}__")
        setattr(kind, f"__{name}__", lambda self, other, f=function: f(self._as_tensor(), other))
        if name in arithmetic:
            setattr(kind, f"__r{name}__", lambda self, other, f=function: f(other, self._as_tensor()))
    for name in ("neg", "abs", "invert"):
        function = getattr(operator, name)
        setattr(kind, f"__{name}__", lambda self, f=function: f(self._as_tensor()))
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
