"""Generates programs by seed: statements of the catalogue on the names in scope, each tried eagerly."""

from __future__ import annotations

import math
import random
import re
from typing import Any

import numpy as np

import gradtape as tf

from .catalogue import BODIES, CATALOGUE
from .program import MODES, PREAMBLE, Known, Program, Statement

_PLACEHOLDER = re.compile(r"\{(\w+)(?::([^}]*))?\}")
_SHAPED_BY_VALUES = re.compile(r"mask|unique|tf\.where\(.*\)\[:, 0\]|\[\w+ > |size=k")
_FLOATS = ("float32", "float64", "float16", "bfloat16")
_INPUTS = {  # the frequency of each input dtype
    "float32": 30, "float64": 10, "float16": 1, "bfloat16": 1, "int32": 2, "bool": 2, "complex64": 1, "complex128": 1,
}  # fmt: skip
_DTYPES = ("float32", "float64", "int32", "int64", "bool", "float16")
# Sizes at which the code takes other paths lie between these: 512, 2^12, 2^14 to 2^16, 2^17 and 2^18 elements.
_SIZES = {
    "tiny": [0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 7],
    "small": [1, 3, 20, 33, 64], "medium": [1, 130, 257, 64], "large": [1, 300, 513, 900],
}  # fmt: skip
_MOST_ELEMENTS = {"tiny": 2000, "small": 1 << 15, "medium": 1 << 18, "large": 1 << 20}


_LITERALS = (
    "axis ", "axes ", "reshape ", "perm ", "slice ", "index ", "int ", "float", "flag", "dtype", "seed", "one of",
    "body ",
)  # fmt: skip


class _Misfit(Exception):
    """Nothing in scope matches a template."""


def generate(seed: int, is_large: bool = False) -> Program:
    """Returns the program of this seed; a large one has arrays around the sizes from which PyTorch computes them."""
    return _Generator(seed, is_large).program()


class _Generator:
    def __init__(self, seed: int, is_large: bool) -> None:
        self.seed, self.random = seed, random.Random(seed)
        chance = self.random.random()
        chance = 0.72 + 0.25 * chance if is_large else chance
        self.tier = "tiny" if chance < 0.72 else "small" if chance < 0.86 else "medium" if chance < 0.95 else "large"
        self.wild = self.random.choice([30, 30, 15, 5]) if self.random.random() < 0.15 else 0
        self.sizes = [self.random.choice(_SIZES[self.tier]) for _ in range(3)]
        self.count = 0
        self.known: dict[str, Known] = {}
        self.environment: dict[str, Any] = {}
        exec(PREAMBLE + "    return dense\n", self.environment)
        dense = self.environment["build"](tf, None)
        self.environment.update(tf=tf, compiled=lambda f: f, dense=dense, k=tf.constant(2))
        self.variables: dict[str, Known] = {}

    def program(self) -> Program:
        """Returns inputs, variables, statements, outputs."""
        inputs = {f"x{i}": self.input() for i in range(self.random.randint(1, 4))}
        for i, (name, known) in enumerate(inputs.items()):
            array = self.environment["values"](0, i, known.shape, known.dtype, self.wild)
            self.define(name, tf.constant(array, getattr(tf, known.dtype)))
        for i in range(self.random.choice([0, 0, 1, 2])):
            name = f"v{i}"
            self.variables[name] = known = Known(self.shape(1, 2), self.random.choice(_FLOATS[:1] * 3 + _FLOATS[1:2]))
            array = self.environment["values"](0, 100 + i, known.shape, known.dtype, 0)
            self.environment[name] = tf.Variable(array, dtype=getattr(tf, known.dtype))
        statements: list[Statement] = []
        length = self.random.randint(5, 40 if self.tier in ("tiny", "small") else 12)
        for _ in range(length * 3):
            statement = self.statement()
            if statement is not None:
                statements.append(statement)
            if len(statements) >= length:
                break
        used = set().union(*[s.uses for s in statements]) if statements else set()
        made = [s.defines[-1] for s in statements]
        outputs = [y for y in made if y not in used][-6:] or made[-1:] or ["x0"]
        return Program(
            self.seed, inputs, self.variables, tuple(statements), tuple(outputs), self.random.choice(list(MODES)),
            self.wild, calls=self.calls(), known=self.known,
        )  # fmt: skip

    def calls(self) -> tuple[int, ...]:
        """Returns the cases of the calls: one three times, the others, and the first again."""
        first = self.random.choice([0, 0, 0, 1, 2, 3])
        others = [case for case in range(4) if case != first]
        self.random.shuffle(others)
        return (first, first, first, *others, first)

    def shape(self, least: int = 0, most: int = 3) -> tuple[int, ...]:
        rank = self.random.choices(range(4), [1, 4, 5, 1])[0]
        rank = min(max(rank, least), most)
        shape = tuple(self.random.choice(self.sizes) for _ in range(rank))
        return shape if math.prod(shape) <= _MOST_ELEMENTS[self.tier] else shape[:2]

    def input(self) -> Known:
        return Known(self.shape(), self.random.choices(list(_INPUTS), list(_INPUTS.values()))[0])

    def define(self, name: str, value: Any, dynamic: bool = False) -> None:
        self.environment[name] = value
        self.known[name] = Known(tuple(value.shape), value.dtype.name, dynamic)

    def statement(self) -> Statement | None:
        """Returns a statement that runs on the names in scope; None after several failed picks."""
        templates = self.random.choices([t for _, t in CATALOGUE], [w for w, _ in CATALOGUE])[0]
        for _ in range(6):
            template = self.random.choice(templates)
            try:
                text, names = self.filled(template if "{y}" in template else "{y} = " + template)
            except _Misfit:
                continue
            before = {name: self.environment[name].numpy() for name in self.variables}
            if self.runs(text, names):
                return Statement(text, tuple(names))
            for name, value in before.items():
                self.environment[name].assign(value)
        return None

    def runs(self, text: str, names: list[str]) -> bool:
        """Returns whether the statement runs and gives a tensor of acceptable size and, unless wild, values."""
        scope = dict(self.environment)
        try:
            with np.errstate(all="ignore"):
                exec(text, scope)
        except Exception:
            return False
        value = scope[names[-1]]
        if not isinstance(value, tf.Tensor) or value.dtype.name not in (
            *_DTYPES,
            "bfloat16",
            "complex64",
            "complex128",
        ):
            return False
        array = np.asarray(value.numpy())
        if array.size > _MOST_ELEMENTS[self.tier] * 2:
            return False
        if not self.wild and array.dtype.kind in "fcV" and array.size:
            size = np.abs(array.astype(np.complex128))
            if not (np.isfinite(size).all() and size.max() < 1e4):
                return False
        inherited = any(self.known[name].dynamic for name in re.findall(r"\b[tx]\d+\b", text) if name in self.known)
        dynamic = inherited or _SHAPED_BY_VALUES.search(text) is not None
        self.define(names[-1], value, dynamic)
        return True

    def filled(self, template: str) -> tuple[str, list[str]]:
        """Fills the placeholders of the template; returns the names it defines, the last of which is the result."""
        bound: dict[str, str] = {}
        new: list[str] = []
        specs = [(m[1], m[2]) for m in _PLACEHOLDER.finditer(template)]
        given = {name: spec for name, spec in specs if spec is not None}
        for name in dict.fromkeys(name for name, spec in specs):
            if name not in given:
                self.count += 1
                bound[name] = f"{'t' if name == 'y' else 'h'}{self.count}"
                if name != "y":
                    new.append(bound[name])
        new.append(bound["y"])
        later = [item for item in given.items() if item[1].startswith(_LITERALS)]
        tensors = [item for item in given.items() if item not in later]
        for name, spec in sorted(tensors, key=lambda item: item[1][0] in "~="):
            bound[name] = self.tensor(spec, bound)
        for name, spec in later:
            bound[name] = self.literal(spec, bound)
        return _PLACEHOLDER.sub(lambda m: bound[m[1]], template), new

    def tensor(self, spec: str, bound: dict[str, str]) -> str:
        everything = {**self.known, **self.variables}
        if spec == "var":
            return self.one(list(self.variables))
        if spec[0] in "~=":
            other = everything[bound[spec[1:]]]
            fitting = [n for n, x in everything.items() if x.dtype == other.dtype]
            if spec[0] == "=":
                fitting = [n for n in fitting if everything[n].shape == other.shape]
            elif self.random.random() < 0.9:
                fitting = [n for n in fitting if _broadcast(everything[n].shape, other.shape)]
            itself = bound[spec[1:]]
            steady = [n for n in fitting if not everything[n].dynamic or n == itself or self.random.random() < 0.1]
            return self.one(steady)
        kinds = {"f": _FLOATS, "c": ("complex64", "complex128"), "i": ("int32", "int64"), "b": ("bool",)}
        kinds["n"], kinds["x"] = (*kinds["f"], *kinds["i"], *kinds["c"]), ()
        rank, at_least = (int(spec[1]) if len(spec) > 1 else 0), spec.endswith("+") or len(spec) == 1
        fitting = [
            n for n, x in everything.items()
            if (spec[0] == "x" or x.dtype in kinds[spec[0]])
            and (len(x.shape) >= rank if at_least else len(x.shape) == rank)
        ]  # fmt: skip
        late = fitting[-6:] if self.random.random() < 0.6 else fitting
        return self.one(late)

    def one(self, names: list[str]) -> str:
        if not names:
            raise _Misfit
        return self.random.choice(names)

    def literal(self, spec: str, bound: dict[str, str]) -> str:
        draw = self.random
        word, _, rest = spec.partition(" ")
        if spec.startswith("one of"):
            return draw.choice(spec.split("|")[1:])
        if word == "int":
            low, high = map(int, rest.split())
            return str(draw.randrange(low, high))
        if word == "float":
            return draw.choice(
                ["0.5", "-0.7", "1.5", "0.0", "2.0", "0.25", "-1.0"] + ["1e-30", "1e30"] * bool(self.wild)
            )
        if word == "flag":
            return str(draw.random() < 0.5)
        if word == "dtype":
            return draw.choice(_DTYPES)
        if word == "seed":
            return f"[{draw.randrange(100)}, {draw.randrange(100)}]"
        if word == "body":
            return draw.choice(BODIES).replace("{z}", bound.get(rest, rest))
        shape = {**self.known, **self.variables}[bound[rest]].shape
        rank = len(shape)
        if word == "axis":
            return str(draw.randrange(-max(rank, 1), max(rank, 1)))
        if word == "axes":
            some = sorted(draw.sample(range(rank), draw.randint(0, rank)))
            return draw.choice(["None", str(some), str(some[0]) if some else "None"])
        if word == "perm":
            return str(draw.sample(range(rank), rank))
        if word == "reshape":
            size = math.prod(shape)
            factors = [n for n in range(1, min(size, 12) + 1) if size % n == 0] or [1]
            n = draw.choice(factors)
            return draw.choice(["[-1]", f"[{n}, -1]", f"[-1, {n}, 1]", "[1, -1]"]) if size else "[0, 2]"
        if word == "index":
            return str([draw.randrange(max(shape[0], 1)) for _ in range(draw.randint(0, 3))])
        if word == "slice":
            return draw.choice("0|-1|1:|:-1|::2|::-1|:0|1:2|-2:|..., None|None|::-2|0:1".split("|"))
        raise ValueError(spec)


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(a, b)
    except ValueError:
        return False
    return True
