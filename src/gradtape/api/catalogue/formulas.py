"""Formulas as text: a rule of the op record, run on symbols.

A derivative is written once, beside its kernel (`engine.registry.elementwise`): `lambda m, x: m.cos(x)`. On symbols it
returns `cos(x)`, in the notation of the docstrings, which is Python's. Ops without a public name are replaced by their
kernels. What depends on more than the operations of numbers has no formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...engine.registry.elementwise import NEG, ONE
from ...engine.registry.op import Op, registry
from ...engine.registry.rules import parameters
from ..names import NAMES

_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4  # how tightly a term binds; less than a sum: comparisons, conditions

# Floats that rules compute once, by their usual names.
_NUMBERS = {
    2 / math.sqrt(math.pi): "2 / sqrt(pi)", math.sqrt(math.pi) / 2: "sqrt(pi) / 2",
    math.sqrt(2 * math.pi): "sqrt(2 * pi)", math.pi / 2: "pi / 2",
}  # fmt: skip


class Term:
    """A symbolic number: its text, and how tightly that binds."""

    size = 1
    dtype = np.dtype(np.float64)
    __array_ufunc__ = None  # NumPy's numbers leave the operation to the term
    __hash__ = object.__hash__

    def __init__(self, text: str, binds: int = _ATOM) -> None:
        self.text, self.binds = text, binds

    def inside(self, binds: int) -> str:
        """Returns the text as an operand of an operator that binds like that."""
        return self.text if self.binds >= binds else f"({self.text})"

    def __add__(self, other: Any) -> Any:
        return _sum(self, other)

    def __radd__(self, other: Any) -> Any:
        return _sum(other, self)

    def __sub__(self, other: Any) -> Any:
        return _sum(self, other, "-")

    def __rsub__(self, other: Any) -> Any:
        return _sum(other, self, "-")

    def __neg__(self) -> Any:
        return _product(-1.0, self)

    def __mul__(self, other: Any) -> Any:
        return _product(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return _product(self, _inverse(other))

    def __rtruediv__(self, other: Any) -> Any:
        return _product(other, _inverse(self))

    def __pow__(self, exponent: Any) -> Any:
        return _product(*[self] * exponent) if type(exponent) is int else _power(self, exponent)

    def __rpow__(self, base: Any) -> Any:
        return _power(base, self)

    def __abs__(self) -> Any:
        return _call("abs", self)

    def __lt__(self, other: Any) -> Any:
        return _compared(self, "<", other)

    def __le__(self, other: Any) -> Any:
        return _compared(self, "<=", other)

    def __gt__(self, other: Any) -> Any:
        return _compared(self, ">", other)

    def __ge__(self, other: Any) -> Any:
        return _compared(self, ">=", other)

    def __bool__(self) -> bool:
        raise TypeError("a rule that looks at values is no formula")


class Product(Term):
    """A product of a number and of terms, some of which divide; its text groups equal factors to powers."""

    def __init__(self, number: float, factors: Sequence[Term], divisors: Sequence[Term] = ()) -> None:
        self.number, self.factors, self.divisors = number, factors, divisors
        below = _grouped(divisors)
        above = _grouped(factors)
        if abs(number) != 1 or not above:
            above.insert(0, Term(_number(abs(number)), _PRODUCT if abs(number) in _NUMBERS else _ATOM))
        text = " * ".join(term.inside(_PRODUCT) for term in above)
        if below:
            divisor = below[0].inside(_POWER) if len(below) == 1 else " * ".join(x.inside(_PRODUCT) for x in below)
            text += f" / {divisor}" if len(below) == 1 else f" / ({divisor})"
        single = len(above) == 1 and not below and number > 0
        super().__init__(f"-{text}" if number < 0 else text, above[0].binds if single else _PRODUCT)


class Choice(Term):
    """One term where a condition holds, another elsewhere."""

    def __init__(self, condition: Term, first: Any, other: Any) -> None:
        self.condition, self.first, self.other = condition, first, other
        super().__init__(f"{_term(first).inside(_SUM)} if {condition.text} else {_term(other).inside(_SUM)}", 0)


def _number(value: Any) -> str:
    value = float(value)
    return _NUMBERS.get(value) or (str(int(value)) if value.is_integer() else repr(value))


def _term(value: Any) -> Term:
    if isinstance(value, Term):
        return value
    return Term(_number(value), _ATOM if value >= 0 else _PRODUCT)


def _sum(a: Any, b: Any, sign: str = "+") -> Term:
    a, b = _term(a), _term(b)
    if sign == "+" and b.text.startswith("-") and b.binds == _PRODUCT:
        sign, b = "-", _product(-1.0, b)
    return Term(f"{a.inside(_SUM)} {sign} {b.inside(_SUM if sign == '+' else _PRODUCT)}", _SUM)


def _product(*terms: Any) -> Any:
    number = 1.0
    factors: list[Term] = []
    divisors: list[Term] = []
    for term in terms:
        if isinstance(term, Product):
            number *= term.number
            factors += term.factors
            divisors += term.divisors
        elif isinstance(term, Term):
            factors.append(term)
        else:
            number *= term
    if number == 1 and len(factors) == 1 and not divisors:
        return factors[0]
    return Product(number, factors, divisors) if factors or divisors else number


def _inverse(value: Any) -> Any:
    if isinstance(value, Product):
        return Product(1 / value.number, value.divisors, value.factors)
    return Product(1.0, (), [value]) if isinstance(value, Term) else 1 / value


def _grouped(factors: Sequence[Term]) -> list[Term]:
    """Returns factors with those that are equal as powers, and the squares of roots without the root."""
    counts: dict[str, int] = {}
    for factor in factors:
        counts[factor.text] = counts.get(factor.text, 0) + 1
    terms = {factor.text: factor for factor in factors}
    found = []
    for text, count in counts.items():
        term = terms[text]
        if isinstance(term, Root) and count == 2:
            term, count = term.radicand, 1
        found.append(term if count == 1 else Term(f"{term.inside(_ATOM)}**{count}", _POWER))
    return found


class Root(Term):
    """A square root."""

    def __init__(self, radicand: Any) -> None:
        self.radicand = _term(radicand)
        super().__init__(f"sqrt({self.radicand.text})")


def _power(base: Any, exponent: Any) -> Term:
    return Term(f"{_term(base).inside(_ATOM)}**{_term(exponent).inside(_ATOM)}", _POWER)


def _compared(a: Any, operator: str, b: Any) -> Term:
    return Term(f"{_term(a).inside(_SUM)} {operator} {_term(b).inside(_SUM)}", 0)


def _call(name: str, *values: Any) -> Term:
    return Term(f"{name}({', '.join(_term(value).text for value in values)})")


def _selected(condition: Term, value: Any) -> Any:
    """The value where the condition holds, 0 elsewhere."""
    if isinstance(value, Choice) and value.other == 0:
        condition, value = Term(f"{value.condition.text} and {condition.text}", 0), value.first
    return Choice(condition, value, 0)


def _by_zero(name: str, function: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """A product with a function of the second argument, which is 0 where the first is."""

    def product(x: Any, y: Any) -> Any:
        if isinstance(x, Choice) and (x.first, x.other) == (1, 0):
            return Choice(x.condition, function(y), 0)
        return _call(name, x, y)

    return product


# Ops whose names in formulas are another notation than a call.
_NOTATION: dict[str, Callable[..., Any]] = {
    "zeros_like": lambda x: 0, "ones_like": lambda x: 1, "square": lambda x: x * x, "sqrt": Root,
    "where": Choice, "masked": _selected, "where_positive": lambda x, y: _selected(_term(y) > 0, x),
    "logical_not": lambda x: Term(f"not {x.text}", 0), "not_equal": lambda x, y: _compared(x, "!=", y),
    "has_log": lambda x: x > 0, "rsqrt": lambda x: 1 / Root(x), "reciprocal": lambda x: 1 / x,
    "hypot": lambda x, y: Root(x * x + y * y), "floordiv": lambda x, y: Term(f"{x.text} // {y.text}", _SUM),
    "pow": _power, "xlogy": _by_zero("xlogy", lambda y: _call("log", y)),
    "xlog1py": _by_zero("xlog1py", lambda y: _call("log1p", y)), "xdivy": _by_zero("xdivy", lambda y: 1 / y),
    "gamma_density": lambda a, x: x ** (a - 1) * _call("exp", -x) / _call("gamma", a),
    "beta_density": lambda a, b, x: x ** (a - 1) * (1 - x) ** (b - 1) / _call("beta", a, b),
}  # fmt: skip


class _Symbolic:
    """The namespace `m` of rules, and the array module of kernels, on symbols."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in _NOTATION and not _is_public(name) and hasattr(np, name):
            return lambda *values: _call(name, *values)
        return lambda *values, **attributes: self._run(name, values, attributes)

    def _run(self, name: str, values: Sequence[Any], attributes: dict[str, Any]) -> Any:
        if name in _NOTATION:
            return _NOTATION[name](*values)
        if _is_public(name) and not attributes:
            return _call(name, *values)
        return registry[name].kernel(self, *values, **attributes)


def _is_public(name: str) -> bool:
    return any(f"{space}{name}" in NAMES for space in ("math.", "nn.", "math.special."))


_symbolic = _Symbolic()


def derivatives_of(op: Op, names: Sequence[str], result: str) -> list[str | None]:
    """Returns the partial derivatives of an elementwise op as text, "" for one that is no formula, None for none.

    `names` are those of the arguments, and `result` that of the result.
    """
    _, *rules = op.definition
    return [None if rule is None else _text(rule, op, names, result) for rule in rules]


def _text(rule: Any, op: Op, names: Sequence[str], result: str) -> str:
    if rule in (ONE, NEG):
        return "1" if rule == ONE else "-1"
    values = {"m": _symbolic, "g": 1, "y": Term(result)} | dict(zip(op.args, map(Term, names), strict=True))
    try:
        term = _term(rule(**{name: values[name] for name in parameters(rule)}))
    except Exception:  # whatever a rule does that symbols do not
        return ""
    # The rule of `Mask` is a condition.
    return term.text if term.binds or isinstance(term, Choice) else Choice(term, 1, 0).text
