"""The emitter of rules: compiles the functions that save an op's residuals and apply its formulas to them.

A formula is a Python function whose parameters name the values that it needs. The emitter writes one expression that
looks them up among the residuals and calls the formula, so that a rule costs no loop over names when it runs.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ..run.source_lines import RULES

_PROBE: Any = object()  # identifies a formula that returns its argument, as in a product's rule
_PASSED = ("m", "g", "t", "need")  # passed to a rule and not saved


def keep_nothing(*values: object) -> tuple[Any, ...]:
    """The function `keep` of a rule that needs no residuals."""
    return ()


def parameters(f: Callable[..., Any]) -> tuple[str, ...]:
    """Returns a function's parameter names from its code object: `inspect.signature` would slow down the import."""
    code: types.CodeType = f.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


class Residuals:
    """The residuals that a set of formulas names, and the source that saves and looks up each.

    A formula may name an input (`x`), the output (`y`, or `ys` if there are several), `x_shape`, `x_dtype`, or an
    attribute; `m`, `g`, `t` and `need` are passed in and not saved.
    """

    def __init__(self, args: tuple[str, ...], formulas: Sequence[Callable[..., Any]], bare: bool = False) -> None:
        self.args = args
        self.names = tuple(dict.fromkeys(n for f in formulas for n in parameters(f) if n not in _PASSED))
        self.tensors = [i for i, name in enumerate(self.names) if self.is_tensor(name)]
        self.bare = bare and len(self.names) == 1  # whether a single value is saved without a tuple

    def keeper(self, more: str = "") -> Callable[..., tuple[Any, ...]]:
        """Compiles `keep(inputs, output, attributes)`, which selects the values that the formulas name.

        `more` is the source of another value to save, in terms of the inputs `xs`.
        """
        if not self.names and not more:
            return keep_nothing
        inputs = [f"xs[{i}:]" if arg.startswith("*") else f"xs[{i}]" for i, arg in enumerate(self.args)]
        fields = [self._source(name, inputs, "dims") or f"attrs.get({name!r})" for name in self.names]
        return compile_rule("xs, y, attrs", f"({', '.join([*fields, *[more] * bool(more)])},)")

    def keeper_of_plain(self, formulas: Sequence[Callable[..., Any]]) -> Callable[..., tuple[Any, ...]]:
        """Compiles `keep(a, b, y)` for plain tensors without attributes; it selects only what these formulas name."""
        wanted = {name for f in formulas for name in parameters(f)}
        fields = [(name in wanted and self._source(name, self.args, "array.shape")) or "None" for name in self.names]
        return compile_rule(f"{', '.join(self.args)}, y", f"({', '.join(fields)},)")

    def is_tensor(self, name: str) -> bool:
        return name in self.args or name == "y"

    def _source(self, name: str, inputs: Sequence[str], shape: str) -> str | None:
        """Source of a value, given that of the inputs and of a tensor's shape; None for an attribute."""
        args = self.args
        owner, _, what = name.rpartition("_")
        if name in ("y", "ys"):
            return "y"
        if name in args:
            return inputs[args.index(name)]
        if f"*{name}" in args:
            return f"tuple({inputs[-1]})"
        if what == "shape" and (owner == "y" or owner in args):
            return f"{'y' if owner == 'y' else inputs[args.index(owner)]}.{shape}"
        if what == "dtype" and owner in args:
            return f"{inputs[args.index(owner)]}.dtype"
        if what == "shapes" and f"*{owner}" in args:
            return f"[x.dims for x in {inputs[-1]}]"
        return None

    def lookup(self, name: str, arrays: str) -> str:
        """Source of `name` in the saved values `s`, as a tensor or as the array in its attribute `arrays`."""
        if name in _PASSED:
            return name
        slot = "s" if self.bare else f"s[{self.names.index(name)}]"
        if arrays and self.is_tensor(name):
            return f"{slot}.{arrays}"
        if arrays and (f"*{name}" in self.args or name == "ys"):
            return f"tuple(x.{arrays} for x in {slot})"
        return slot

    def call(self, function: str, f: Callable[..., Any], arrays: str) -> str:
        """Source that calls formula `f`, bound to the name `function`, on the saved values."""
        if _returns_its_argument(f):
            return self.lookup(parameters(f)[0], arrays)
        names, positional = parameters(f), f.__code__.co_argcount
        given = [self.lookup(n, arrays) for n in names[:positional]]
        named = [f"{n}={self.lookup(n, arrays)}" for n in names[positional:]]
        return f"{function}({', '.join(given + named)})"


def _returns_its_argument(f: Callable[..., Any]) -> bool:
    if len(parameters(f)) != 1:
        return False
    try:
        return f(_PROBE) is _PROBE
    except Exception:  # the formula computes with its argument, and the probe is not a number
        return False


def compile_rule(parameters: str, body: str, **names: Any) -> Callable[..., Any]:
    """Compiles a function from the source of its parameters and result; runs once, when a rule is first used."""
    # With this module name, NumPy warnings count as gradtape's own and the API's filter suppresses them.
    return eval(_compile(f"lambda {parameters}: {body}"), {"__name__": __name__, **names})


@cache
def _compile(source: str) -> types.CodeType:
    """Caches compiled code, since the rules of many ops have the same source."""
    return compile(source, RULES, "eval")
