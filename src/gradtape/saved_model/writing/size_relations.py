"""Finds how a size is computed from another one, given the values of both in several graphs."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

Numbers = tuple[int, ...]  # a size in each of the graphs

_MAX_DIVISOR = 16
_COMPARED_SIZES = range(1, 2 * _MAX_DIVISOR)  # two quotients that agree at all of them are equal


class Relation(NamedTuple):
    """A function of a size."""

    complexity: int
    write: Callable[[Any, Any], Any]  # takes a writer and the tensor of the size, and returns that of the result
    value: Callable[[int], Any]  # returns the result for a size
    divisor: int = 1
    undecided: int = 0  # if others fit as well: so many consecutive sizes decide between them


def linear(known: Numbers, wanted: Numbers) -> Relation | None:
    """Returns a multiple plus an offset, if there is one that fits: the result may be a fraction for other sizes."""
    line = _line(known, wanted)
    if line is None:
        return None
    factor, offset = line

    def write(writer: Any, x: Any) -> Any:
        x = _scaled(writer, x, factor.numerator, int(offset * factor.denominator))
        return writer.FloorDiv(x, factor.denominator) if factor.denominator != 1 else x

    complexity = factor.numerator + factor.denominator + abs(offset.numerator) + offset.denominator
    return Relation(complexity, write, lambda n: factor * n + offset)


def stepwise(known: Numbers, wanted: Numbers) -> Relation | None:
    """Returns the simplest quotient, remainder, minimum or maximum that fits, scaled by a factor and an offset."""
    fits = [*_quotients(known, wanted), *_limits(known, wanted)]
    simplest = min(fits, key=lambda one: one.complexity, default=None)
    if simplest is None:
        return None
    rivals = [one for one in fits if any(one.value(n) != simplest.value(n) for n in _COMPARED_SIZES)]
    return simplest._replace(undecided=2 * max(one.divisor for one in (simplest, *rivals)) if rivals else 0)


def _quotients(known: Numbers, wanted: Numbers) -> Iterator[Relation]:
    """Yields quotients `(a n + b) // d`, and remainders of `n` and of `-n`."""
    for divisor in range(2, _MAX_DIVISOR + 1):
        for factor in range(1, divisor):
            if math.gcd(factor, divisor) == 1:
                for offset in range(divisor):
                    steps = tuple((factor * n + offset) // divisor for n in known)
                    yield from _of_steps(operator.floordiv, factor, offset, divisor, steps, wanted)
        for factor in (1, -1):
            steps = tuple(factor * n % divisor for n in known)
            yield from _of_steps(operator.mod, factor, 0, divisor, steps, wanted)


def _of_steps(op: Any, factor: int, offset: int, divisor: int, steps: Numbers, wanted: Numbers) -> Iterator[Relation]:
    line = _line(steps, wanted)
    if line is None or line[0].denominator != 1 or line[1].denominator != 1:
        return
    multiple, added = map(int, line)

    def write(writer: Any, x: Any) -> Any:
        write_step = writer.FloorDiv if op is operator.floordiv else writer.FloorMod
        return _scaled(writer, write_step(_scaled(writer, x, factor, offset), divisor), multiple, added)

    def value(n: int) -> int:
        return int(multiple * op(factor * n + offset, divisor) + added)

    yield Relation(abs(factor) + offset + divisor + multiple + abs(added), write, value, divisor)


def _limits(known: Numbers, wanted: Numbers) -> Iterator[Relation]:
    """Yields `max(n + a, b)` and `min(n + a, b)`."""
    for op, choose in (("Maximum", max), ("Minimum", min)):
        limit = max(wanted) if choose is min else min(wanted)
        offsets = [n - k for k, n in zip(known, wanted, strict=True) if n != limit]
        # A single number that is not the limit fits any offset: then only that of `min(n, b)` is likely.
        for offset in {*offsets} if len(offsets) > 1 else {0}.intersection(offsets):
            if all(choose(k + offset, limit) == n for k, n in zip(known, wanted, strict=True)):
                write = partial(_write_limit, op, offset, limit)
                yield Relation(2 + abs(offset) + abs(limit), write, partial(_limited, choose, offset, limit))


def _limited(choose: Any, offset: int, limit: int, n: int) -> int:
    return int(choose(n + offset, limit))


def _write_limit(op: str, offset: int, limit: int, writer: Any, x: Any) -> Any:
    return getattr(writer, op)(_scaled(writer, x, 1, offset), limit)


def _scaled(writer: Any, x: Any, factor: int, offset: int) -> Any:
    x = writer.Mul(x, factor) if factor != 1 else x
    return writer.AddV2(x, offset) if offset else x


def _line(known: Numbers, wanted: Numbers) -> tuple[Fraction, Fraction] | None:
    """Returns the factor and offset that map the known numbers to the wanted ones, if they exist."""
    low, high = known.index(min(known)), known.index(max(known))
    run, rise = known[high] - known[low], wanted[high] - wanted[low]
    if not run or rise <= 0:
        return None
    if any((n - wanted[low]) * run != (k - known[low]) * rise for k, n in zip(known, wanted, strict=True)):
        return None
    factor = Fraction(rise, run)
    return factor, wanted[low] - factor * known[low]
