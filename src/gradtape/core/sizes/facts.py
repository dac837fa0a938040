"""What is known of the open sizes of a trace: bounds, facts and guards.

A `SizeScope` makes the symbols of a trace and answers what code asks about sizes. What it can prove from bounds and
facts holds for all sizes. Any other answer is that of the traced run and becomes a *guard*, a condition under which the
graph is valid, and a fact for later proofs. Facts that are learned in a branch end with it.

Symbols are at least 0, not 1: data may be empty. Proofs are incomplete, which costs guards but never makes an answer
wrong. All bounds are those of rational relaxations: `a // d` is between `(a - d + 1) / d` and `a / d`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

from .expression import (
    Atom,
    Monomial,
    Relation,
    Size,
    Symbol,
    SymbolicSize,
    Terms,
    evaluate,
    from_atom,
    hint_of,
    holds,
    subtract,
    symbols_in,
    terms_of,
)  # fmt: skip

Number = int | Fraction | float  # a float is an infinity
Polynomial = Mapping[Monomial, int | Fraction]  # a coefficient is a fraction in bounds only
_INFINITE = math.inf
_FACTS_TRIED = 24  # the latest ones, in one proof


class Guard(NamedTuple):
    """A condition under which a graph is valid, with what asked for it, such as a source line."""

    size: SymbolicSize
    relation: Relation
    origin: Any = None

    def __str__(self) -> str:
        return f"{self.size} {self.relation} 0"

    def holds(self, value_of: Callable[[Symbol], int]) -> bool:
        """Whether the condition is true for these values of the symbols."""
        return holds(evaluate(self.size, value_of), self.relation)


class SizeScope:
    """The open sizes of one trace.

    `origin` says what asks for a guard at present. An *abstract* scope has no traced run whose answers count: where a
    proof fails, it calls `refuse`, which raises.
    """

    def __init__(
        self,
        origin: Callable[[], Any] | None = None,
        on_guard: Callable[[Guard], None] | None = None,
        refuse: Callable[[Guard], Exception] | None = None,
    ) -> None:
        self.symbols: list[Symbol] = []
        self.guards: list[Guard] = []
        self.is_open = True
        self._origin, self._on_guard, self._refuse = origin, on_guard, refuse
        self._facts = _Facts()

    def __getstate__(self) -> dict[str, Any]:
        """A copy elsewhere is closed: nothing traces there."""
        state = {"symbols": self.symbols, "guards": [guard._replace(origin=None) for guard in self.guards]}
        return state | {"is_open": False, "_origin": None, "_on_guard": None, "_refuse": None, "_facts": self._facts}

    def symbol(self, hint: int, origin: str = "") -> SymbolicSize:
        """Returns a new open size, which is `hint` in the traced run."""
        symbol = Symbol(len(self.symbols), int(hint), self, origin)
        self.symbols.append(symbol)
        return from_atom(symbol)

    def proves(self, size: SymbolicSize, relation: Relation) -> bool:
        """Whether `size` has the relation to 0 for all sizes that pass the guards."""
        return self._facts.proves(size, relation)

    def decide(self, size: SymbolicSize, relation: Relation) -> bool:
        """Returns whether `size` has the relation to 0, by a proof or as in the traced run, under a guard."""
        opposite, negation = _negated(size, relation)
        if self.proves(size, relation):
            return True
        if self._facts.proves(opposite, negation) if isinstance(opposite, SymbolicSize) else holds(opposite, negation):
            return False
        answer = holds(hint_of(size), relation)
        if answer:
            self._guard(size, relation)
        else:
            self._guard(opposite, negation)
        return answer

    def specialize(self, size: SymbolicSize) -> int:
        """Returns the number that `size` is in the traced run, under a guard."""
        low, high = self._facts.bounds(size)
        if low == high:
            return int(low)
        number = hint_of(size)
        self._guard(subtract(size, number), "==")
        return number

    def assume(self, size: Size, relation: Relation) -> None:
        """Takes for granted what an op checks in every run, so that no guard is needed."""
        if isinstance(size, SymbolicSize):
            self._facts.add(size, relation)

    @contextmanager
    def branch(self) -> Iterator[None]:
        """Ends the facts that are learned in the block with it: another run may not take this branch."""
        outside = self._facts
        self._facts = outside.copy()
        try:
            yield
        finally:
            self._facts = outside

    def _guard(self, size: Size, relation: Relation) -> None:
        assert isinstance(size, SymbolicSize)
        guard = Guard(size, relation, None if self._origin is None else self._origin())
        if self._refuse is not None:
            raise self._refuse(guard)
        if not self.is_open:
            names = ", ".join(f"{symbol} is {symbol.origin or 'an open size'}" for symbol in symbols_in(size))
            raise RuntimeError(f"Whether {size} {relation} 0 is asked after its trace has ended ({names}).")
        self.guards.append(guard)
        self._facts.add(size, relation)
        if self._on_guard is not None:
            self._on_guard(guard)


def _negated(size: SymbolicSize, relation: Relation) -> tuple[Size, Relation]:
    if relation == ">=":
        return subtract(-size, 1), ">="
    return size, "!=" if relation == "==" else "=="


class _Facts:
    """Conditions that hold for all sizes that matter, and the proofs from them."""

    def __init__(self) -> None:
        self._equal: list[tuple[Monomial, Polynomial]] = []  # polynomials that are 0, with the term to eliminate
        self._different: list[Terms] = []  # that are not 0
        self._at_least: list[Terms] = []  # that are at least 0
        self._ranges: dict[Atom, tuple[Number, Number]] = {}
        self._lower: dict[tuple[bool, frozenset[tuple[Monomial, int | Fraction]]], Number] = {}

    def copy(self) -> _Facts:
        """Returns facts to which more can be added."""
        copy = _Facts()
        copy._equal, copy._different, copy._at_least = self._equal[:], self._different[:], self._at_least[:]
        copy._ranges, copy._lower = dict(self._ranges), dict(self._lower)
        return copy

    # Proofs.

    def proves(self, size: SymbolicSize, relation: Relation) -> bool:
        """Whether the relation of `size` to 0 follows."""
        terms = self._reduced(size.terms)
        if relation == ">=":
            return self._is_at_least_zero(terms)
        if relation == "==":
            return not terms or (self._is_at_least_zero(terms) and self._is_at_least_zero(_scaled(terms, -1)))
        return self._is_not_zero(terms)

    def bounds(self, size: SymbolicSize) -> tuple[Number, Number]:
        """Returns the least and the largest integer that `size` may be; infinities if there is none."""
        terms = self._reduced(size.terms)
        return _rounded_up(self.lower(terms)), -_rounded_up(self.lower(_scaled(terms, -1)))

    def _is_at_least_zero(self, p: Polynomial, depth: int = 1) -> bool:
        if self.lower(p) > -1:  # of integers
            return True
        return depth > 0 and any(self._is_at_least_zero(q, depth - 1) for q in self._without_facts(p))

    def _is_not_zero(self, p: Polynomial) -> bool:
        if not p:
            return False
        if () in p and _primitive(p) is None:
            return True
        if len(p) == 1 and self._factors_are_not_zero(next(iter(p))):
            return True
        normal = _primitive(p)
        if any(normal == _primitive(self._reduced(q)) for q in self._different):
            return True
        return self._is_at_least_zero(_minus_one(p)) or self._is_at_least_zero(_minus_one(_scaled(p, -1)))

    def _factors_are_not_zero(self, monomial: Monomial) -> bool:
        return len(monomial) > 1 and all(self._is_not_zero({((atom, 1),): 1}) for atom, _ in monomial)

    def _reduced(self, terms: Polynomial) -> Polynomial:
        """Eliminates a term of each polynomial that is 0."""
        p = terms
        for monomial, zero in self._equal:
            if monomial in p:
                p = _plus(p, zero, -Fraction(p[monomial]) / zero[monomial])
        return p

    def _without_facts(self, p: Polynomial) -> Iterator[Polynomial]:
        """Iterates over what remains of `p` after a multiple of something that is at least 0 has been taken away."""
        for fact in self._at_least[-_FACTS_TRIED:]:
            for monomial, n in fact.items():
                if monomial and p.get(monomial, 0) * n > 0:
                    yield _plus(p, fact, -Fraction(p[monomial]) / n)

    # Bounds.

    def lower(self, p: Polynomial) -> Number:
        """Returns a lower bound of a polynomial with rational coefficients."""
        return self._bound(self._reduced(p), True)

    def upper(self, p: Polynomial) -> Number:
        """Returns an upper bound of a polynomial."""
        return -self.lower(_scaled(p, -1))

    def _bound(self, p: Polynomial, by_facts: bool) -> Number:
        """Returns a lower bound. Without facts it depends on the atoms of `p` only, which ends the recursion."""
        if p.keys() <= {()}:
            return p.get((), 0)
        key = (by_facts, frozenset(p.items()))
        bound = self._lower.get(key)
        if bound is None:
            bound = max(self._by_intervals(p), self._by_elimination(p, by_facts))
            if by_facts:
                bound = max(bound, *map(self._by_intervals, self._without_facts(p)), bound)
            self._lower[key] = bound
        return bound

    def _by_intervals(self, p: Polynomial) -> Number:
        total: Number = 0
        for monomial, n in p.items():
            low, high = self._range_of_product(monomial)
            total += _times(n, low if n > 0 else high)
        return total

    def _by_elimination(self, p: Polynomial, by_facts: bool) -> Number:
        """Bounds `c a + r` for an atom `a` by what bounds the atom, where the sign of `c` is known."""
        atoms = {atom for monomial in p for atom, _ in monomial if atom.kind != "symbol"}
        for atom in sorted(atoms, key=lambda atom: atom.order, reverse=True):
            split = _linear_in(p, atom)
            if split is None:
                continue
            coefficient, rest = split
            rises = self._bound(coefficient, by_facts) >= 0
            if not rises and self._bound(_scaled(coefficient, -1), by_facts) < 0:
                continue
            totals = [_plus(rest, _product(coefficient, bound), 1) for bound in _bounding(atom, rises)]
            bounds = [self._bound(self._reduced(total) if by_facts else total, by_facts) for total in totals]
            if bounds:
                return max(bounds) if atom.kind == ("max" if rises else "min") else min(bounds)
        return -_INFINITE

    def _range_of_product(self, monomial: Monomial) -> tuple[Number, Number]:
        low: Number = 1
        high: Number = 1
        for atom, power in monomial:
            a, b = self._range(atom)
            for _ in range(power):
                ends = [_times(x, y) for x in (low, high) for y in (a, b)]
                low, high = min(ends), max(ends)
        if all(power % 2 == 0 for _, power in monomial):
            low = max(low, 0)
        return low, high

    def _range(self, atom: Atom) -> tuple[Number, Number]:
        known = self._ranges.get(atom)
        if known is None:
            known = (0, _INFINITE) if atom.kind == "symbol" else self._range_of_function(atom)
            self._ranges[atom] = known
        return known

    def _range_of_function(self, atom: Atom) -> tuple[Number, Number]:
        args: list[Polynomial] = [terms_of(arg) for arg in atom.args]
        lows = [self._bound(p, False) for p in args]
        highs = [-self._bound(_scaled(p, -1), False) for p in args]
        if atom.kind == "max":
            return max(lows), max(highs)
        if atom.kind == "min":
            return min(lows), min(highs)
        if atom.kind == "broadcast":
            return min(lows), max(highs)
        if lows[1] < 1:
            return -_INFINITE, _INFINITE
        ends = [_floor_of(x, y) for x in (lows[0], highs[0]) for y in (lows[1], highs[1])]
        return min(ends), max(ends)

    # Additions.

    def add(self, size: SymbolicSize, relation: Relation) -> None:
        """Adds that `size` has the relation to 0."""
        p = self._reduced(size.terms)
        if relation == "==":
            self._add_zero(p)
        elif relation == "!=":
            self._different.append(dict(size.terms))
            if self.lower(p) == 0:
                self._add_at_least(_minus_one(p))
            elif self.upper(p) == 0:
                self._add_at_least(_minus_one(_scaled(p, -1)))
        else:
            self._add_at_least(p)
        self._lower.clear()
        for atom in [atom for atom in self._ranges if atom.kind != "symbol"]:
            del self._ranges[atom]

    def _add_zero(self, p: Polynomial) -> None:
        monomials = [monomial for monomial in p if monomial]
        if not monomials:
            return
        pivot = max(monomials, key=lambda m: (-sum(power for _, power in m), [(a.order, n) for a, n in m]))
        self._equal.append((pivot, p))
        self._narrow(p)
        self._narrow(_scaled(p, -1))

    def _add_at_least(self, p: Polynomial) -> None:
        normal = _tightened(p)
        if not self._narrow(normal):
            self._at_least.append(normal)

    def _narrow(self, p: Polynomial) -> bool:
        """Narrows the range of the symbol, if there is only one in `p >= 0`."""
        linear = [monomial for monomial in p if monomial]
        if len(linear) != 1 or len(linear[0]) != 1 or linear[0][0][1] != 1:
            return False
        atom, n = linear[0][0][0], p[linear[0]]
        if atom.kind != "symbol":
            return False
        low, high = self._range(atom)
        limit = -Fraction(p.get((), 0)) / n
        self._ranges[atom] = (max(low, math.ceil(limit)), high) if n > 0 else (low, min(high, math.floor(limit)))
        return True


def _bounding(atom: Atom, below: bool) -> list[Polynomial]:
    """Returns what bounds an atom from below, or from above; of a broadcast axis, what it may be."""
    args: list[Polynomial] = [terms_of(arg) for arg in atom.args]
    if atom.kind != "floordiv":
        return args
    divisor = atom.args[1]
    if not isinstance(divisor, int):
        return []
    least = _plus(args[0], {(): divisor - 1}, -1) if below else args[0]
    return [_scaled(least, Fraction(1, divisor))]


def _linear_in(p: Polynomial, atom: Atom) -> tuple[Polynomial, Polynomial] | None:
    """Returns `(c, r)` with `p == c atom + r` in which neither contains the atom as a factor; None if it has powers."""
    coefficient: dict[Monomial, int | Fraction] = {}
    rest: dict[Monomial, int | Fraction] = {}
    for monomial, n in p.items():
        powers = dict(monomial)
        power = powers.pop(atom, 0)
        if power > 1:
            return None
        (coefficient if power else rest)[tuple(powers.items())] = n
    return coefficient, rest


def _plus(p: Polynomial, q: Polynomial, factor: int | Fraction) -> Polynomial:
    total: dict[Monomial, int | Fraction] = dict(p)
    for monomial, n in q.items():
        total[monomial] = total.get(monomial, 0) + factor * n
    return {monomial: n for monomial, n in total.items() if n}


def _scaled(p: Polynomial, factor: int | Fraction) -> Polynomial:
    return {monomial: n * factor for monomial, n in p.items()}


def _product(p: Polynomial, q: Polynomial) -> Polynomial:
    total: dict[Monomial, int | Fraction] = {}
    for left, m in p.items():
        for right, n in q.items():
            powers = dict(left)
            for atom, power in right:
                powers[atom] = powers.get(atom, 0) + power
            monomial = tuple(sorted(powers.items(), key=lambda entry: entry[0].order))
            total[monomial] = total.get(monomial, 0) + m * n
    return {monomial: n for monomial, n in total.items() if n}


def _minus_one(p: Polynomial) -> Polynomial:
    return _plus(p, {(): 1}, -1)


def _integral(p: Polynomial) -> Terms:
    """Returns the multiple of `p` with the smallest positive factor that has integer coefficients."""
    common = math.lcm(*(Fraction(n).denominator for n in p.values()))
    return {monomial: int(n * common) for monomial, n in p.items()}


def _tightened(p: Polynomial) -> Terms:
    """Returns `q` such that `p >= 0` if and only if `q >= 0`, with coprime coefficients and the least constant."""
    terms = _integral(p)
    common = reduce(math.gcd, (n for monomial, n in terms.items() if monomial), 0) or 1
    return {monomial: n // common for monomial, n in terms.items() if n // common}


def _primitive(p: Polynomial) -> Terms | None:
    """Returns `q` such that `p == 0` if and only if `q == 0`, the same for multiples; None if `p` is never 0."""
    terms = _integral(p)
    common = reduce(math.gcd, (n for monomial, n in terms.items() if monomial), 0)
    if not common or terms.get((), 0) % common:
        return None
    first = min((monomial for monomial in terms if monomial), key=lambda m: [(a.order, n) for a, n in m])
    common = common if terms[first] > 0 else -common
    return {monomial: n // common for monomial, n in terms.items()}


def _times(a: Number, b: Number) -> Number:
    return 0 if a == 0 or b == 0 else a * b  # 0 times infinity is 0


def _floor_of(a: Number, b: Number) -> Number:
    if abs(b) == _INFINITE:
        return 0 if abs(a) == _INFINITE or a >= 0 else -1
    return a if abs(a) == _INFINITE else math.floor(Fraction(a) / Fraction(b))


def _rounded_up(bound: Number) -> Number:
    return bound if abs(bound) == _INFINITE else math.ceil(bound)
