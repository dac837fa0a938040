"""Sizes that are not numbers yet: integer expressions over the open sizes of a graph.

A `SymbolicSize` is a polynomial with integer coefficients over *atoms*: symbols, and the results of `floordiv`, `max`,
`min` and `broadcast` that are no polynomials. It is kept in canonical order, and a constant result is an `int`, so that
`n // 4 * 4 + n % 4` is `n`, and `n - n` is 0. A symbol is one axis of one value of a graph; its *hint* is its size in
the run that is traced.

Code that asks for a number gets the hint, and the scope of the symbols notes the question as a *guard*: the graph is
valid for the sizes that answer it in the same way (`core/sizes/facts.py`). Whatever code does with a size, the graph is
right for the sizes that pass its guards.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, Literal, Protocol, cast

import numpy as np

Relation = Literal["==", "!=", ">="]  # to 0
AtomKind = Literal["symbol", "floordiv", "max", "min", "broadcast"]
Order = tuple[Any, ...]  # a nested tuple of numbers, by which atoms are sorted and recognized
_RANKS: dict[AtomKind, int] = {"symbol": 0, "floordiv": 1, "max": 2, "min": 3, "broadcast": 4}


class Scope(Protocol):
    """What sizes ask of the scope of their symbols: proofs, and the answers of the traced run."""

    def proves(self, size: SymbolicSize, relation: Relation) -> bool:
        """Whether `size` has the relation to 0 for all sizes that pass the guards."""

    def decide(self, size: SymbolicSize, relation: Relation) -> bool:
        """Returns whether `size` has the relation to 0, by a proof or as in the traced run, under a guard."""

    def specialize(self, size: SymbolicSize) -> int:
        """Returns the number that `size` is in the traced run, under a guard."""


class Atom:
    """A factor of a product: a symbol, or a function of sizes that is no polynomial.

    Atoms are ordered by creation: a symbol's `order` contains its number in the scope, not its name, so that the same
    program has the same expressions whatever the names are.
    """

    __slots__ = ("_hash", "args", "kind", "order", "scope")

    def __init__(self, kind: AtomKind, args: tuple[Size, ...], scope: Scope, order: Order | None = None) -> None:
        self.kind, self.args, self.scope = kind, args, scope
        self.order: Order = (_RANKS[kind], *map(_order_of, args)) if order is None else order
        self._hash = hash(self.order)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Atom) and self._hash == other._hash and self.order == other.order
            and self.scope is other.scope
        )  # fmt: skip

    def __reduce__(self) -> Any:  # hashes differ between processes
        return type(self), (self.kind, self.args, self.scope, self.order)

    def __str__(self) -> str:
        if self.kind == "floordiv":
            return f"{_operand(self.args[0])} // {_operand(self.args[1])}"
        return f"{self.kind}({', '.join(map(str, self.args))})"


class Symbol(Atom):
    """An open size: an axis of one value. `origin` says which, for messages."""

    __slots__ = ("hint", "index", "origin")

    def __init__(self, index: int, hint: int, scope: Scope, origin: str = "") -> None:
        super().__init__("symbol", (), scope, (0, index))
        self.index, self.hint, self.origin = index, hint, origin

    def __reduce__(self) -> Any:
        return Symbol, (self.index, self.hint, self.scope, self.origin)

    def __str__(self) -> str:
        return f"n{self.index}"


Monomial = tuple[tuple[Atom, int], ...]  # atoms with their powers, in order; () is 1
Terms = dict[Monomial, int]  # coefficients, none of them 0


class SymbolicSize:
    """An integer expression over the open sizes of a graph. Sizes, not symbols, are what programs see."""

    __slots__ = ("_key", "scope", "terms")
    __hash__ = None  # type: ignore[assignment] # as a key of a dictionary, this run's number would pass unseen

    def __init__(self, terms: Terms, scope: Scope) -> None:
        self.terms, self.scope = terms, scope
        self._key: str | None = None

    @property
    def key(self) -> str:
        """The canonical text: equal expressions of one scope have equal keys."""
        if self._key is None:
            self._key = _text(self.terms)
        return self._key

    def __str__(self) -> str:
        return self.key

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(int(self) if spec and not spec.endswith("s") else str(self), spec)

    def __reduce__(self) -> Any:
        return SymbolicSize, (self.terms, self.scope)

    def __copy__(self) -> SymbolicSize:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> SymbolicSize:
        return self

    # Questions: proved, or answered as in the traced run under a guard.

    def __index__(self) -> int:
        return self.scope.specialize(self)

    __int__ = __trunc__ = __index__

    def __float__(self) -> float:
        return float(int(self))

    def __round__(self, digits: int | None = None) -> int:
        return round(int(self), digits) if digits is not None else int(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(int(self), dtype)

    def __bool__(self) -> bool:
        return self.scope.decide(self, "!=")

    def __eq__(self, other: Any) -> Any:
        if not is_size(other):
            return int(self) == other if isinstance(other, float | np.floating) else NotImplemented
        return _decide(subtract(self, other), "==")

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __ge__(self, other: Any) -> Any:
        return _decide(subtract(self, other), ">=") if is_size(other) else _as_number(operator.ge, self, other)

    def __gt__(self, other: Any) -> Any:
        return _decide(subtract(self, other, 1), ">=") if is_size(other) else _as_number(operator.gt, self, other)

    def __le__(self, other: Any) -> Any:
        return _decide(subtract(other, self), ">=") if is_size(other) else _as_number(operator.le, self, other)

    def __lt__(self, other: Any) -> Any:
        return _decide(subtract(other, self, 1), ">=") if is_size(other) else _as_number(operator.lt, self, other)

    # Arithmetic.

    def __add__(self, other: Any) -> Any:
        return add(self, other) if is_size(other) else _as_number(operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return add(other, self) if is_size(other) else _as_number(operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return subtract(self, other) if is_size(other) else _as_number(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return subtract(other, self) if is_size(other) else _as_number(operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, list | tuple | str):
            return other * int(self)
        return multiply(self, other) if is_size(other) else _as_number(operator.mul, self, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return floordiv(self, other) if is_size(other) else _as_number(operator.floordiv, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return floordiv(other, self) if is_size(other) else _as_number(operator.floordiv, other, self)

    def __mod__(self, other: Any) -> Any:
        return remainder(self, other) if is_size(other) else _as_number(operator.mod, self, other)

    def __rmod__(self, other: Any) -> Any:
        return remainder(other, self) if is_size(other) else _as_number(operator.mod, other, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __truediv__(self, other: Any) -> Any:
        return _as_number(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _as_number(operator.truediv, other, self)

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, int | np.integer) and 0 <= other <= 8:
            return product([self] * int(other))
        return _as_number(operator.pow, self, other)

    def __rpow__(self, other: Any) -> Any:
        return _as_number(operator.pow, other, self)

    def __neg__(self) -> Any:
        return multiply(-1, self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """NumPy's integer scalars compute with sizes; everything else of NumPy gets a number."""
        symbolic = _UFUNCS.get(ufunc)
        if symbolic is not None and method == "__call__" and not kwargs and all(map(is_size, inputs)):
            return symbolic(*(x if type(x) is SymbolicSize else int(x) for x in inputs))
        numbers = [int(x) if type(x) is SymbolicSize else x for x in inputs]
        return getattr(ufunc, method)(*numbers, **kwargs)


Size = int | SymbolicSize
_UFUNCS: dict[Any, Callable[[Any, Any], Any]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.floor_divide: operator.floordiv,
    np.remainder: operator.mod, np.equal: operator.eq, np.not_equal: operator.ne, np.less: operator.lt,
    np.less_equal: operator.le, np.greater: operator.gt, np.greater_equal: operator.ge,
}  # fmt: skip


def is_size(value: object) -> bool:
    """Whether `value` is an integer, of Python or of NumPy, or a symbolic size."""
    return isinstance(value, int | SymbolicSize | np.integer)


def _as_number(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Computes with the number that a size is in this run, beside a float, an array or another object."""
    other = b if isinstance(a, SymbolicSize) else a
    if not isinstance(other, numbers.Number | np.generic | np.ndarray | SymbolicSize):
        return NotImplemented
    return function(*(int(x) if isinstance(x, SymbolicSize) else x for x in (a, b)))


def _decide(size: Size, relation: Relation) -> bool:
    if isinstance(size, SymbolicSize):
        return size.scope.decide(size, relation)
    return holds(size, relation)


def holds(number: int, relation: Relation) -> bool:
    """Whether a number has the relation to 0."""
    return number >= 0 if relation == ">=" else (number == 0) == (relation == "==")


# Construction. A result without symbols is an int.


def from_terms(terms: Terms, scope: Scope) -> Size:
    """Returns the size with these terms, whose coefficients may be 0 and which may be in any order."""
    kept = {monomial: n for monomial, n in terms.items() if n}
    if not kept:
        return 0
    if len(kept) == 1 and () in kept:
        return kept[()]
    return SymbolicSize(dict(sorted(kept.items(), key=_term_order)), scope)


def from_atom(atom: Atom) -> SymbolicSize:
    """Returns the size that is one atom."""
    return SymbolicSize({((atom, 1),): 1}, atom.scope)


def terms_of(size: Size | np.integer[Any]) -> Terms:
    """Returns the terms of a size."""
    if isinstance(size, SymbolicSize):
        return size.terms
    n = operator.index(size)
    return {(): n} if n else {}


def scope_of(*sizes: Size) -> Scope:
    """Returns the scope of the symbols in `sizes`, of which at least one is symbolic."""
    scopes = {id(size.scope): size.scope for size in sizes if isinstance(size, SymbolicSize)}
    if len(scopes) != 1:
        raise ValueError(f"The sizes {', '.join(map(str, sizes))} belong to {len(scopes)} traces instead of one.")
    return next(iter(scopes.values()))


def _term_order(term: tuple[Monomial, int]) -> Order:
    """Products of more factors first, then in the order of the factors, the constant last."""
    monomial = term[0]
    return -sum(power for _, power in monomial), tuple([(atom.order, power) for atom, power in monomial])


def _order_of(size: Size) -> Order:
    return tuple([
        (tuple([(atom.order, power) for atom, power in monomial]), n) for monomial, n in terms_of(size).items()
    ])  # fmt: skip


# Arithmetic.


def add(*sizes: Size) -> Size:
    """Returns the sum of sizes."""
    if not any(isinstance(size, SymbolicSize) for size in sizes):
        return sum(map(operator.index, sizes))
    total: Terms = {}
    for size in sizes:
        for monomial, n in terms_of(size).items():
            total[monomial] = total.get(monomial, 0) + n
    return from_terms(total, scope_of(*sizes))


def subtract(a: Size, b: Size, c: int = 0) -> Size:
    """Returns `a - b - c`."""
    return add(a, multiply(-1, b), -c)


def multiply(a: Size, b: Size) -> Size:
    """Returns the product of two sizes."""
    if not isinstance(a, SymbolicSize) and not isinstance(b, SymbolicSize):
        return operator.index(a) * operator.index(b)
    product: Terms = {}
    for left, m in terms_of(a).items():
        for right, n in terms_of(b).items():
            monomial = _joined(left, right)
            product[monomial] = product.get(monomial, 0) + m * n
    return from_terms(product, scope_of(a, b))


def _joined(a: Monomial, b: Monomial) -> Monomial:
    powers: dict[Atom, int] = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda entry: entry[0].order))


def product(sizes: Iterable[Size]) -> Size:
    """Returns the number of elements of a shape."""
    total: Size = 1
    for size in sizes:
        total = multiply(total, size)
    return total


def floordiv(a: Size, b: Size) -> Size:
    """Returns `a // b`. A divisor that may be 0 gets the guard that it is not."""
    if isinstance(b, SymbolicSize):
        if not b.scope.decide(b, "!="):
            raise ZeroDivisionError(f"the size {b} is 0")
        quotient = exact_quotient(a, b)
        if quotient is not None:
            return quotient
        within = _within(a, b)
        return from_atom(Atom("floordiv", (a, b), scope_of(a, b))) if within is None else within
    if not isinstance(a, SymbolicSize):
        return operator.index(a) // operator.index(b)
    return _divided(a, operator.index(b))


def _divided(a: SymbolicSize, d: int) -> Size:
    """Returns `a // d`: what is divisible is taken out, common factors are cancelled, nested divisions are joined."""
    if d == 0:
        raise ZeroDivisionError(f"the size {a} is divided by 0")
    if d < 0:
        return _divided(cast("SymbolicSize", -a), -d)
    whole = {monomial: n // d for monomial, n in a.terms.items() if n % d == 0 or not monomial}
    rest = from_terms({monomial: n - d * whole.get(monomial, 0) for monomial, n in a.terms.items()}, a.scope)
    taken = from_terms(whole, a.scope)
    if not isinstance(rest, SymbolicSize):
        return add(taken, rest // d)
    # floor((g p + c) / (g d)) is floor((p + floor(c / g)) / d) for integers p
    common = reduce(math.gcd, (n for monomial, n in rest.terms.items() if monomial), d)
    numerator = from_terms({monomial: n // common for monomial, n in rest.terms.items()}, a.scope)
    divisor = d // common
    if divisor == 1:
        return add(taken, numerator)
    joined = _of_quotient(cast("SymbolicSize", numerator), divisor)
    if joined is None:
        within = _within(cast("SymbolicSize", numerator), divisor)
        joined = from_atom(Atom("floordiv", (numerator, divisor), a.scope)) if within is None else within
    return add(taken, joined)


def _of_quotient(a: SymbolicSize, d: int) -> Size | None:
    """Returns `(p // q + c) // d` as `(p + c q) // (q d)`, None if `a` is no such sum."""
    inner = [monomial for monomial in a.terms if monomial]
    if len(inner) != 1 or a.terms[inner[0]] != 1 or len(inner[0]) != 1:
        return None
    (atom, power), constant = inner[0][0], a.terms.get((), 0)
    if atom.kind != "floordiv" or power != 1 or not isinstance(atom.args[1], int):
        return None
    p, q = atom.args
    return floordiv(add(p, multiply(constant, q)), multiply(q, d))


def _within(a: Size, b: Size) -> Size | None:
    """Returns 0 if `0 <= a < b` is known, else None."""
    return 0 if known_at_least(a, 0) and known_at_least(subtract(b, a), 1) else None


def remainder(a: Size, b: Size) -> Size:
    """Returns `a % b`, which is no atom: `n // 4 * 4 + n % 4` is `n`."""
    return subtract(a, multiply(b, floordiv(a, b)))


def exact_quotient(a: Size, b: Size) -> Size | None:
    """Returns the polynomial `q` with `a == q * b` for all values of the symbols, or None if there is none.

    >>> exact_quotient(12, 4), exact_quotient(12, 5)
    (3, None)
    """
    if not isinstance(a, SymbolicSize) and not isinstance(b, SymbolicSize):
        return a // b if b and a % b == 0 else None
    rest, divisor = dict(terms_of(a)), terms_of(b)
    if not divisor:
        return None
    lead = min(divisor, key=lambda monomial: _term_order((monomial, 1)))
    quotient: Terms = {}
    while rest:
        monomial = min(rest, key=lambda m: _term_order((m, 1)))
        factor = _monomial_quotient(monomial, lead)
        if factor is None or rest[monomial] % divisor[lead]:
            return None
        n = rest[monomial] // divisor[lead]
        quotient[factor] = n
        for other, m in divisor.items():
            at = _joined(factor, other)
            rest[at] = rest.get(at, 0) - n * m
            if not rest[at]:
                del rest[at]
    return from_terms(quotient, scope_of(a, b))


def _monomial_quotient(a: Monomial, b: Monomial) -> Monomial | None:
    powers = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) - power
    if any(power < 0 for power in powers.values()):
        return None
    return tuple([(atom, power) for atom, power in powers.items() if power])


def maximum(*sizes: Size) -> Size:
    """Returns the largest of sizes, without a guard."""
    return _extremum("max", sizes)


def minimum(*sizes: Size) -> Size:
    """Returns the smallest of sizes, without a guard."""
    return _extremum("min", sizes)


def _extremum(kind: Literal["max", "min"], sizes: Sequence[Size]) -> Size:
    kept: list[Size] = []
    for size in _flattened(kind, sizes):
        if not any(_dominates(kind, other, size) for other in kept):
            kept = [other for other in kept if not _dominates(kind, size, other)] + [size]
    if len(kept) == 1:
        return kept[0]
    return from_atom(Atom(kind, tuple(sorted(kept, key=_order_of)), scope_of(*kept)))


def _dominates(kind: Literal["max", "min"], a: Size, b: Size) -> bool:
    return known_at_least(a, b) if kind == "max" else known_at_least(b, a)


def broadcast(*sizes: Size) -> Size:
    """Returns the size of an axis along which axes of `sizes` are broadcast: 1 fits everything.

    That the sizes fit is not checked here but by the op's kernel, so that one of several that are known not to be 1 is
    the result. It is not their maximum: 0 and 1 broadcast to 0.
    """
    kept: list[Size] = []
    for size in _flattened("broadcast", sizes):
        if size != 1 if isinstance(size, int) else known_not_equal(size, 1):
            return size
        if isinstance(size, SymbolicSize) and not any(known_equal(size, other) for other in kept):
            kept.append(size)
    if len(kept) < 2:
        return kept[0] if kept else 1
    return from_atom(Atom("broadcast", tuple(sorted(kept, key=_order_of)), scope_of(*kept)))


def _flattened(kind: AtomKind, sizes: Iterable[Size]) -> Iterator[Size]:
    """Iterates over sizes, and over the arguments of those that are an atom of this kind."""
    for size in sizes:
        atom = sole_atom(size)
        if atom is not None and atom.kind == kind:
            yield from atom.args
        else:
            yield size if isinstance(size, SymbolicSize) else operator.index(size)


def sole_atom(size: Size) -> Atom | None:
    """Returns the atom that a size consists of, or None."""
    if isinstance(size, SymbolicSize) and len(size.terms) == 1:
        ((monomial, n),) = size.terms.items()
        if n == 1 and len(monomial) == 1 and monomial[0][1] == 1:
            return monomial[0][0]
    return None


# Proofs. Nothing else may decide how a program is transformed: `==` would leave a guard.


def known_equal(a: Size, b: Size) -> bool:
    """Whether two sizes are equal wherever the guards hold. False means that they may differ."""
    return _proved(subtract(a, b), "==")


def known_not_equal(a: Size, b: Size) -> bool:
    """Whether two sizes differ wherever the guards hold."""
    return _proved(subtract(a, b), "!=")


def known_at_least(a: Size, b: Size) -> bool:
    """Whether `a >= b` wherever the guards hold."""
    return _proved(subtract(a, b), ">=")


def same_shape(a: Sequence[Size], b: Sequence[Size]) -> bool:
    """Whether two shapes are equal wherever the guards hold."""
    return len(a) == len(b) and all(map(known_equal, a, b))


def _proved(size: Size, relation: Relation) -> bool:
    return size.scope.proves(size, relation) if isinstance(size, SymbolicSize) else holds(size, relation)


# Values.


def symbols_in(*sizes: Size) -> list[Symbol]:
    """Returns the symbols of sizes in the order of their creation."""
    symbols: dict[Symbol, None] = {}

    def visit(size: Size) -> None:
        for monomial in terms_of(size):
            for atom, _ in monomial:
                if isinstance(atom, Symbol):
                    symbols[atom] = None
                for arg in atom.args:
                    visit(arg)

    for size in sizes:
        visit(size)
    return sorted(symbols, key=lambda symbol: symbol.index)


def hint_of(size: Size) -> int:
    """Returns the number that a size is in the traced run, without a guard: for costs and messages only."""
    return evaluate(size, lambda symbol: symbol.hint)


def evaluate(size: Size, value_of: Callable[[Symbol], int]) -> int:
    """Returns the number that a size is for these values of its symbols."""
    if not isinstance(size, SymbolicSize):
        return operator.index(size)
    total = 0
    for monomial, n in size.terms.items():
        for atom, power in monomial:
            if isinstance(atom, Symbol):
                n *= value_of(atom) ** power
            else:
                n *= _NUMERIC[atom.kind]([evaluate(arg, value_of) for arg in atom.args]) ** power
        total += n
    return total


_NUMERIC: dict[AtomKind, Callable[[list[int]], int]] = {
    "floordiv": lambda args: args[0] // args[1],
    "max": max,
    "min": min,
    "broadcast": lambda args: next((n for n in args if n != 1), 1),
}


def substitute(size: Size, replacement_of: Callable[[Symbol], Size] | Mapping[Symbol, Size]) -> Size:
    """Returns a size with each symbol replaced: by a number, or by a size of another scope.

    A mapping may leave symbols out, which stay.
    """
    if not isinstance(size, SymbolicSize):
        return operator.index(size)
    if not callable(replacement_of):
        mapping = replacement_of
        return substitute(size, lambda symbol: mapping[symbol] if symbol in mapping else from_atom(symbol))
    replace = replacement_of

    def value(atom: Atom) -> Size:
        if isinstance(atom, Symbol):
            return replace(atom)
        return _FUNCTIONS[atom.kind](*(substitute(arg, replace) for arg in atom.args))

    return add(*(
        multiply(n, product(value(atom) for atom, power in monomial for _ in range(power)))
        for monomial, n in size.terms.items()
    ), 0)  # fmt: skip


_FUNCTIONS: dict[AtomKind, Callable[..., Size]] = {
    "floordiv": floordiv, "max": maximum, "min": minimum, "broadcast": broadcast,
}  # fmt: skip


# Text.


def _text(terms: Terms) -> str:
    parts = []
    for monomial, n in terms.items():
        alone = n == 1 and len(monomial) == 1
        factors = [_factor(atom, power, alone) for atom, power in monomial]
        if abs(n) != 1 or not factors:
            factors.insert(0, str(abs(n)))
        sign = "-" if n < 0 else "+"
        parts.append(f"{sign} {' * '.join(factors)}")
    text = " ".join(parts)
    return text[2:] if text.startswith("+ ") else f"-{text[2:]}"


def _factor(atom: Atom, power: int, alone: bool) -> str:
    text = f"({atom})" if atom.kind == "floordiv" and not (alone and power == 1) else str(atom)
    return text if power == 1 else f"{text}**{power}"


def _operand(size: Size) -> str:
    atom = sole_atom(size)
    simple = not isinstance(size, SymbolicSize) or (atom is not None and atom.kind != "floordiv")
    return str(size) if simple else f"({size})"
