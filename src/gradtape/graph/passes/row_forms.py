"""What the values around a normalised layer are, as polynomials: the way a formula was written does not matter then.

The letters of a polynomial are arrays of one shape, rows that are the same for all, and numbers for each row. Along a
row, numbers can be drawn out of a sum, and what is centred sums to nothing: with these two laws, derivatives that
automatic differentiation leaves in thirty nodes become the three terms of a textbook.
"""

from __future__ import annotations

from typing import Any

from ...engine.registry.op import registry
from ..ir.graph import Node, Value

Monomial = tuple[tuple[int, int], ...]  # letters and their exponents, ordered by letter
Terms = dict[Monomial, float]

CENTRED, INVERSE, MEAN = 0, 1, 2  # the letters x - mean, 1 / sqrt(variance + epsilon), and the mean
_WHOLE, _ROW, _NUMBERS = "whole", "row", "numbers"  # an array of the shape; a row of it; a number for each of its rows
_MOST_TERMS = 8
_NEAR, _NOTHING = 1e-6, 1e-12  # how much numbers that are the same may differ, and what a difference leaves at most


class RowForms:
    """The polynomials of values made from an array `x`, whose rows have the means `mean`."""

    def __init__(self, x: Value, mean: Value) -> None:
        self.shape, self.length = x.shape, x.shape[-1]
        self.epsilon: float | None = None  # what is added to the variance, once its root is known
        self.letters: list[Any] = [None, None, mean]  # values, or the monomials that are summed
        self._kinds = [_WHOLE, _NUMBERS, _NUMBERS]
        self._numbers: dict[Any, int] = {mean: MEAN}
        self.known: dict[Value, Terms] = {x: {_letter(CENTRED): 1.0, _letter(MEAN): 1.0}, mean: {_letter(MEAN): 1.0}}
        self._variance = self._sum({_letter(CENTRED, 2): 1.0 / self.length})

    def is_whole(self, letter: int) -> bool:
        """Whether it is an array of the shape, and neither `x` nor made of it."""
        return self._kinds[letter] == _WHOLE and letter != CENTRED

    def is_row(self, letter: int) -> bool:
        """Whether it is a row that is the same for all."""
        return self._kinds[letter] == _ROW

    def sum_of(self, monomial: Monomial) -> Monomial:
        """The monomial that is the sum, along each row, of another."""
        return _letter(self._number(("sum", monomial), monomial, _NUMBERS))

    def of(self, value: Value, makers: dict[Value, Node]) -> Terms | None:
        """The polynomial of a value; one of which nothing is known is a letter."""
        found = self.known.get(value)
        if found is not None:
            return found
        if value.constant is not None and not value.shape:
            return {(): float(value.constant)}
        kind = self._kind_of(value.shape)
        if kind is None:
            return None
        if value not in self._numbers and value in makers:
            terms = self._of_letters(makers[value])
            if terms is not None:
                return terms
        return {_letter(self._number(value, value, kind)): 1.0}

    def _of_letters(self, maker: Node) -> Terms | None:
        """What is the negative of a letter, or the product of an array with a row that is a letter."""
        if maker.op is registry.get("neg") and maker.inputs[0] in self._numbers:
            return {_letter(self._numbers[maker.inputs[0]]): -1.0}
        if maker.op is registry.get("mul"):
            for row, whole in (maker.inputs, maker.inputs[::-1]):
                letter = self._numbers.get(row)
                if letter is not None and self.is_row(letter) and whole.shape == self.shape:
                    return {_times(_letter(letter), _letter(self._number(whole, whole, _WHOLE))): 1.0}
        return None

    def add(self, node: Node, makers: dict[Value, Node]) -> Terms | None:
        """Takes in what a node makes of values whose polynomials are known; None if that is no polynomial."""
        y = node.outputs[0]
        if node.op is not registry.get(node.op.name) or y.shape not in (self.shape, self._with_ones(), self.shape[:-1]):
            return None
        given = [self.of(v, makers) for v in node.inputs]
        terms = None if None in given else self._computed(node, given)
        if terms is None or len(terms) > _MOST_TERMS or self._goes_around(terms):
            return None
        self.known[y] = terms
        return terms

    def forget(self, value: Value) -> None:
        """Makes a letter of a value from here on."""
        del self.known[value]

    def _computed(self, node: Node, given: list[Any]) -> Terms | None:
        name, y = node.op.name, node.outputs[0]
        if name == "reshape":
            numbers = (self._with_ones(), self.shape[:-1])
            return given[0] if node.inputs[0].shape in numbers and y.shape in numbers else None
        if name in ("sum", "mean"):
            if node.attrs["axis"] != (len(self.shape) - 1,) or node.inputs[0].shape != self.shape:
                return None
            total = self._sum(given[0])
            return total if name == "sum" else _scaled(total, 1.0 / self.length)
        if any(v.shape == self.shape[:-1] and v in self.known for v in (y, *node.inputs)):
            return None  # numbers for each row that do not lie in a column: as an argument they are a row
        if name in ("rsqrt", "sqrt"):
            return self._root(given[0], 1 if name == "rsqrt" else -1)
        if name in ("add", "sub"):
            return _sum_of(given[0], given[1], 1.0 if name == "add" else -1.0)
        if name in ("mul", "multiply_no_nan"):
            return _product(*given)
        if name == "div":
            return _quotient(*given)
        if name == "neg":
            return _scaled(given[0], -1.0)
        if name == "squared_difference":
            difference = _sum_of(given[0], given[1], -1.0)
            return _product(difference, difference)
        if name in ("power_2", "square"):
            return _product(given[0], given[0])
        return given[0] if name == "broadcast_to" and y.shape == self.shape else None

    def _root(self, terms: Terms, exponent: int) -> Terms | None:
        """The root of the variance and a positive number, or its inverse."""
        epsilon = terms.get((), 0.0)
        without = {monomial: factor for monomial, factor in terms.items() if monomial}
        if not alike(without, self._variance) or epsilon <= 0 or self.epsilon not in (None, epsilon):
            return None
        self.epsilon = epsilon
        return {_letter(INVERSE, exponent): 1.0}

    def _sum(self, terms: Terms) -> Terms:
        """The sum along each row."""
        total: Terms = {}
        for monomial, factor in terms.items():
            outside = tuple(power for power in monomial if self._kinds[power[0]] == _NUMBERS)
            inside = tuple(power for power in monomial if self._kinds[power[0]] != _NUMBERS)
            if not inside:
                total = _sum_of(total, {outside: factor * self.length})
            elif inside != _letter(CENTRED):
                total = _sum_of(total, {_times(outside, self.sum_of(inside)): factor})
        return total

    def _goes_around(self, terms: Terms) -> bool:
        """Whether it is `x` plus something else: what a residual layer gives, and no part of a normalisation."""
        return _letter(CENTRED) in terms and any(self.is_whole(c) for monomial in terms for c, _ in monomial)

    def _number(self, key: Any, letter: Any, kind: str) -> int:
        number = self._numbers.setdefault(key, len(self.letters))
        if number == len(self.letters):
            self.letters.append(letter)
            self._kinds.append(kind)
        return number

    def _with_ones(self) -> tuple[int, ...]:
        return (*self.shape[:-1], 1)

    def _kind_of(self, shape: tuple[int, ...]) -> str | None:
        if shape == self.shape:
            return _WHOLE
        if shape == self._with_ones():
            return _NUMBERS
        is_row = shape[-1:] == self.shape[-1:] and all(n == 1 for n in shape[:-1]) and len(shape) <= len(self.shape)
        return _ROW if is_row else None


def alike(a: Terms, b: Terms) -> bool:
    """Whether two polynomials are the same but for rounding."""
    return a.keys() == b.keys() and all(abs(a[k] - b[k]) <= _NEAR * abs(b[k]) for k in a)


def monomial(*letters: int) -> Monomial:
    """The product of letters."""
    return _times(*map(_letter, letters))


def _letter(letter: int, exponent: int = 1) -> Monomial:
    return ((letter, exponent),)


def _times(*factors: Monomial) -> Monomial:
    exponents: dict[int, int] = {}
    for factor in factors:
        for letter, exponent in factor:
            exponents[letter] = exponents.get(letter, 0) + exponent
    return tuple(sorted((letter, exponent) for letter, exponent in exponents.items() if exponent))


def _scaled(terms: Terms, number: float) -> Terms:
    return {monomial: factor * number for monomial, factor in terms.items()}


def _sum_of(a: Terms, b: Terms, sign: float = 1.0) -> Terms:
    total = dict(a)
    for monomial, factor in b.items():
        before = total.pop(monomial, 0.0)
        after = before + sign * factor
        if abs(after) > _NOTHING * max(abs(before), abs(factor)):
            total[monomial] = after
    return total


def _product(a: Terms, b: Terms) -> Terms:
    total: Terms = {}
    for first, factor in a.items():
        total = _sum_of(total, {_times(first, second): factor * other for second, other in b.items()})
    return total


def _quotient(a: Terms, b: Terms) -> Terms | None:
    if len(b) != 1:
        return None
    ((below, number),) = b.items()
    if number == 0:
        return None
    return _product(a, {tuple((letter, -exponent) for letter, exponent in below): 1.0 / number})
