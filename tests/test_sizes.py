"""Symbolic sizes against integers.

Random programs compute with sizes, compare them, and branch on them. A program runs once with symbolic sizes, and again
with numbers: where the numbers pass the guards, every expression and every answer has to be that of the numbers, and
everything that was proved has to be true. The axes: operators and their nesting, numbers of symbols, hints (0, 1, equal
ones), divisors that are numbers or sizes, questions before and after facts, branches, NumPy's integers.
"""

import copy
import itertools
import pickle
import random

import numpy as np
import pytest

from gradtape.core.sizes import expression as sizes
from gradtape.core.sizes.expression import (
    SymbolicSize,
    broadcast,
    evaluate,
    exact_quotient,
    floordiv,
    hint_of,
    maximum,
    minimum,
)
from gradtape.core.sizes.facts import SizeScope

VALUES = (0, 1, 2, 3, 5, 8, 17, 600)


class Program:
    """Random steps on a list of sizes; `run` does the same steps whatever the sizes are."""

    def __init__(self, seed, symbols=2, questions=True):
        self.random = random.Random(seed)
        self.count = symbols
        self.steps = [self.step(symbols + i, questions) for i in range(self.random.randint(1, 9))]

    def step(self, available, questions):
        draw = self.random
        kind = draw.choice(["add", "sub", "mul", "div", "mod", "max", "min", "broadcast", "divide"])
        if questions and draw.random() < 0.35:
            kind = draw.choice(["ask ==", "ask >=", "ask <", "ask bool", "number"])
        constant = draw.choice([0, 1, 2, 3, 4, 7, -1, -3, np.int64(5)])
        return kind, draw.randrange(available), draw.choice([draw.randrange(available), None]), constant

    def run(self, given):
        """Returns the sizes and the answers."""
        values, answers = list(given), []
        for kind, at, other, constant in self.steps:
            a, b = values[at], constant if other is None else values[other]
            divisor = constant if other is None and constant != 0 else 2
            if kind.startswith("ask") or kind == "number":
                answers.append(ask(kind, a, b))
                values.append((a + 1 if answers[-1] else a - 1) if kind != "number" else a)
            else:
                values.append(OPERATIONS[kind](a, b, divisor))
        return values, answers


OPERATIONS = {
    "add": lambda a, b, _: a + b,
    "sub": lambda a, b, _: b - a,
    "mul": lambda a, b, _: a * b,
    "div": lambda a, _, d: a // d,
    "mod": lambda a, _, d: a % d,
    "max": lambda a, b, _: maximum(a, b),
    "min": lambda a, b, _: minimum(a, b),
    "broadcast": lambda a, b, _: broadcast(a, b) if fits(a, b) else a,
    "divide": lambda a, b, _: a // (b * b + 1),
}


def fits(a, b):
    """Sizes that the hints and the numbers of a test can always broadcast: one is 1 or both are the same."""
    return isinstance(a, SymbolicSize) or isinstance(b, SymbolicSize) or 1 in (a, b) or a == b


def ask(kind, a, b):
    match kind:
        case "ask ==":
            return bool(a == b)
        case "ask >=":
            return bool(a >= b)
        case "ask <":
            return bool(a < b)
        case "ask bool":
            return bool(a)
        case _:
            return int(a)


def valid(scope, values):
    """Whether numbers pass the guards, in the order in which they were asked."""
    return all(guard.holds(lambda symbol: values[symbol.index]) for guard in scope.guards)


@pytest.mark.parametrize("block", range(8))
def test_random_programs(block):
    checked = 0
    for seed in range(block * 100, block * 100 + 100):
        count = 1 + seed % 3
        program = Program(seed, count, questions=seed % 4 != 0)
        if any(kind == "broadcast" for kind, *_ in program.steps):
            continue
        hints = [random.Random(-seed - 1).choice(VALUES) for _ in range(count)]
        scope = SizeScope()
        symbolic, answers = program.run([scope.symbol(hint) for hint in hints])
        assert [hint_of(size) for size in symbolic] == program.run(hints)[0], (seed, hints)
        for values in itertools.islice(itertools.product(VALUES[:-1], repeat=count), 120):
            if valid(scope, values):
                numbers, asked = program.run(values)
                at_values = [evaluate(size, lambda symbol, values=values: values[symbol.index]) for size in symbolic]
                assert at_values == numbers, (seed, hints, values)
                assert asked == answers, (seed, hints, values)
                checked += 1
    assert checked > 1000


@pytest.mark.parametrize("block", range(4))
def test_what_is_proved_is_true(block):
    proofs = 0
    for seed in range(block * 40, block * 40 + 40):
        program = Program(seed, 2, questions=seed % 2 == 0)
        scope = SizeScope()
        values, _ = program.run([scope.symbol(5), scope.symbol(8)])
        claims = [
            (name, a, b)
            for (a, b) in itertools.product(values[-5:], repeat=2)
            for name in ("known_equal", "known_not_equal", "known_at_least")
            if getattr(sizes, name)(a, b)
        ]
        truths = {"known_equal": int.__eq__, "known_not_equal": int.__ne__, "known_at_least": int.__ge__}
        for numbers in itertools.product(range(7), repeat=2):
            if valid(scope, numbers):
                for name, a, b in claims:
                    x, y = (evaluate(size, lambda symbol, n=numbers: n[symbol.index]) for size in (a, b))
                    assert truths[name](x, y), (seed, name, a, b, numbers)
                    proofs += 1
    assert proofs > 5_000


def test_the_same_program_has_the_same_expressions_at_other_hints():
    """Without questions no number of the traced run can enter."""
    for seed in range(100):
        program = Program(seed, 2, questions=False)
        texts = set()
        for hints in ((7, 7), (11, 1), (1, 1), (0, 600)):
            scope = SizeScope()
            values, _ = program.run([scope.symbol(hint) for hint in hints])
            assert not any(guard.relation == "==" for guard in scope.guards)
            texts.add(tuple(map(str, values)))
        assert len(texts) == 1, seed


def test_texts_are_the_expressions():
    names = {"floordiv": floordiv, "max": maximum, "min": minimum, "broadcast": broadcast}
    for seed in range(300):
        scope = SizeScope()
        symbols = [scope.symbol(5), scope.symbol(8)]
        for size in Program(seed, 2, questions=False).run(symbols)[0]:
            text = str(size)
            again = eval(text, {}, names | {"n0": symbols[0], "n1": symbols[1]})
            assert str(again) == text


def n_and_m(n=7, m=11, **options):
    scope = SizeScope(**options)
    return scope.symbol(n, "axis 0 of x"), scope.symbol(m, "axis 0 of y"), scope


def test_arithmetic_is_canonical():
    n, m, scope = n_and_m()
    assert str(n // 4 * 4 + n % 4) == "n0"
    assert type(n - n) is int and type(n * np.int64(0)) is int and type((n - n + 1) * 3) is int
    assert str((6 * n + 5) // 3) == "2 * n0 + 1"
    assert str((2 * n + 3) // 4) == "(n0 + 1) // 2"
    assert str(n // 2 // 3) == "n0 // 6"
    assert str((n // 2 + 1) // 3) == "(n0 + 2) // 6"
    assert str((n % 4) // 4) == "0"
    assert str(m + n) == str(n + m) == "n0 + n1"
    assert str(np.int64(4) * m) == "4 * n1"
    assert str((n + 1) ** 2) == "n0**2 + 2 * n0 + 1"
    assert not scope.guards


def test_quotients_are_exact_also_where_a_size_is_zero():
    n, m, scope = n_and_m()
    assert exact_quotient(16 * n, 4 * n) == 4
    assert str(exact_quotient((n + n // 2) * (m + 1), n + n // 2)) == "n1 + 1"
    assert exact_quotient(n * m + 1, n) is None
    assert not scope.guards
    assert str(n * m // n) == "n1"
    assert [str(guard) for guard in scope.guards] == ["n0 != 0"]


def test_broadcast_is_no_maximum():
    n, m, scope = n_and_m()
    assert broadcast(0, 1) == 0 and broadcast(1, 1) == 1 and broadcast(n, 16) == 16
    assert str(broadcast(n, 1)) == "n0" and str(broadcast(n, n)) == "n0"
    assert str(broadcast(m, broadcast(n, m))) == str(broadcast(broadcast(m, n), n)) == "broadcast(n0, n1)"
    assert str(broadcast(n, m + 2)) == "n1 + 2"
    assert not scope.guards


def test_bounds_decide_without_guards():
    n, m, scope = n_and_m()
    assert n >= 0 and not n < 0 and n % 4 < 4 and n % 4 >= 0 and n // 2 <= n and n != -1 and 2 * n != 2 * m + 1
    assert maximum(n, m) >= n and minimum(n, m) <= m and maximum(n, 4) > 3 and (n + 1) // 2 >= n // 2
    assert n - n // 3 * 3 < 3 and n * m >= 0 and n * n >= 0 and n // 2 * m <= n * m
    assert not scope.guards


def test_facts_are_used():
    n, m, scope = n_and_m()
    assert n > 3 and n >= 2 and n and n != 3 and (n - 4) // 2 >= 0
    assert m >= n and m >= 4 and m + 1 > n and m * 2 >= n * 2 and m // 2 >= n // 2 and m - n >= 0
    assert [str(guard) for guard in scope.guards] == ["n0 - 4 >= 0", "-n0 + n1 >= 0"]
    assert m == n + 4 and m - 4 == n and (m - n) // 4 == 1
    assert len(scope.guards) == 3
    assert int(n) == 7 and int(m) == 11  # the second follows
    assert len(scope.guards) == 4


def test_a_fact_ends_with_its_branch():
    n, m, scope = n_and_m()
    with scope.branch():
        assert n > m - 5 and n + 4 >= m
    assert len(scope.guards) == 1
    assert not sizes.known_at_least(n + 4, m)
    assert n + 4 >= m
    assert len(scope.guards) == 2


def test_numbers_leave_guards():
    for use in (
        range, np.zeros, lambda n: np.zeros(3)[:n], lambda n: [1, 2] * n, lambda n: n / 2, lambda n: n * 0.5, float,
        lambda n: np.arange(9).reshape(3, 3).repeat(n), lambda n: np.array([n, 2]), lambda n: f"{n:d}", int, round,
        lambda n: np.arange(4) * n, lambda n: n * np.arange(4), lambda n: np.maximum(n, 2.0), lambda n: n**-1,
        lambda n: 2**n, lambda n: np.prod([n, 2]),
    ):  # fmt: skip
        n, _, scope = n_and_m()
        expected, result = use(7), use(n)
        assert type(result) is type(expected)
        assert np.array_equal(result, expected) if isinstance(expected, np.ndarray) else result == expected
        assert [str(guard) for guard in scope.guards] == ["n0 - 7 == 0"]


def test_what_sizes_refuse():
    n, _, scope = n_and_m()
    with pytest.raises(TypeError):
        hash(n)
    with pytest.raises(TypeError):
        n + "rows"
    with pytest.raises(ZeroDivisionError):
        n // 0
    assert n != "rows" and n != None and not n == None  # noqa: E711
    assert not scope.guards
    other = SizeScope().symbol(3)
    with pytest.raises(ValueError, match="belong to 2 traces"):
        n + other
    scope.is_open = False
    with pytest.raises(RuntimeError, match=r"n0 - 4 >= 0 is asked after its trace has ended \(n0 is axis 0 of x\)"):
        n > 3  # noqa: B015
    assert n >= 0


def test_abstract_scopes_refuse_guards():
    def refused(guard):
        return TypeError(f"no number: {guard}")

    n, _, scope = n_and_m(refuse=refused)
    assert n >= 0 and not scope.guards
    with pytest.raises(TypeError, match="no number: n0 - 4 >= 0"):
        n > 3  # noqa: B015
    with pytest.raises(TypeError, match="no number: n0 - 7 == 0"):
        range(n)


def test_guards_name_what_asked():
    lines = iter(["a.py:1", "a.py:2"])
    seen = []
    n, _, _scope = n_and_m(origin=lambda: next(lines), on_guard=seen.append)
    assert n > 3 and not n > 20
    assert [(str(guard), guard.origin) for guard in seen] == [("n0 - 4 >= 0", "a.py:1"), ("-n0 + 20 >= 0", "a.py:2")]


def test_copies_and_pickles():
    n, m, _ = n_and_m()
    size = maximum(n // 2, m) * n + 3
    assert copy.deepcopy(size) is size
    again, other = pickle.loads(pickle.dumps((size, n)))
    assert again.key == size.key and again.scope is other.scope
    assert evaluate(again, lambda symbol: symbol.index + 3) == evaluate(size, lambda symbol: symbol.index + 3)
    assert str(again + other) == str(size + n)


def test_substitution_moves_sizes_to_another_scope():
    n, m, _ = n_and_m()
    scope = SizeScope()
    k = scope.symbol(6)
    moved = sizes.substitute(n // 2 + m, lambda symbol: k * 2 if symbol.index == 0 else 5)
    assert str(moved) == "n0 + 5" and moved.scope is scope
    assert sizes.substitute(n // 2 + m, lambda symbol: 4) == 6
