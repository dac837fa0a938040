"""Python's operators on tensors, one row each: every class with a tensor's operators takes its methods from here."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Operator(NamedTuple):
    """An operator: `add` names the methods `__add__` and `__radd__`."""

    name: str
    op: str  # of tensors other than bools where `bool_op` is another
    syntax: type[ast.AST]
    ufunc: np.ufunc
    bool_op: str = ""

    @property
    def function(self) -> Callable[..., Any]:
        """The operator as a function."""
        return getattr(operator, self.method)

    @property
    def method(self) -> str:
        """The method of the left operand."""
        return f"__{self.name}__"

    @property
    def reflected(self) -> str:
        """The method of the right operand."""
        return f"__r{self.name}__"


ARITHMETIC = (
    Operator("add", "add", ast.Add, np.add),
    Operator("sub", "sub", ast.Sub, np.subtract),
    Operator("mul", "mul", ast.Mult, np.multiply),
    Operator("truediv", "div", ast.Div, np.divide),
    Operator("floordiv", "floordiv", ast.FloorDiv, np.floor_divide),
    Operator("mod", "mod", ast.Mod, np.remainder),
    Operator("pow", "pow", ast.Pow, np.power),
    Operator("matmul", "matmul", ast.MatMult, np.matmul),
)
BITWISE = (
    Operator("and", "bitwise_and", ast.BitAnd, np.bitwise_and, "logical_and"),
    Operator("or", "bitwise_or", ast.BitOr, np.bitwise_or, "logical_or"),
    Operator("xor", "bitwise_xor", ast.BitXor, np.bitwise_xor, "logical_xor"),
)
ORDERINGS = (
    Operator("lt", "less", ast.Lt, np.less),
    Operator("le", "less_equal", ast.LtE, np.less_equal),
    Operator("gt", "greater", ast.Gt, np.greater),
    Operator("ge", "greater_equal", ast.GtE, np.greater_equal),
)
EQUALITIES = (Operator("eq", "equal", ast.Eq, np.equal), Operator("ne", "not_equal", ast.NotEq, np.not_equal))
UNARY = (
    Operator("neg", "neg", ast.USub, np.negative),
    Operator("abs", "abs", ast.Call, np.absolute),
    Operator("invert", "invert", ast.Invert, np.invert, "logical_not"),
)
REFLECTED = ARITHMETIC + BITWISE  # those that also have the right operand's method
BINARY = REFLECTED + ORDERINGS + EQUALITIES
