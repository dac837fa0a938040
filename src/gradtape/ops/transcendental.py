"""Elementwise functions of analysis: exponentials, powers, trigonometry."""

from __future__ import annotations

from ..dtypes import FLOATING
from ..engine.families import ZeroWins, elementwise

exp = elementwise("exp", "exp", args="x", dx=lambda y: y)
log = elementwise("log", "log", args="x", domain=(0.2, 3), dx=lambda x: 1 / x)
tanh = elementwise("tanh", "tanh", args="x", dx=lambda y: 1 - y * y)
sin = elementwise("sin", "sin", args="x", dx=lambda m, x: m.cos(x))
cos = elementwise("cos", "cos", args="x", dx=lambda m, x: -m.sin(x))
sqrt = elementwise("sqrt", "sqrt", args="x", domain=(0.2, 3), dx=ZeroWins(lambda y: 0.5 / y))
