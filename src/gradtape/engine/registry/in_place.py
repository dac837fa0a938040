"""A formula's arithmetic as calls of ufuncs that write their results over those before.

`g * (1 - y * y)` makes three arrays, of which one remains. As `multiply(g, subtract(1, (t := multiply(y, y)), t), t)`
it makes that one only, or none if it is given one to write to. What a formula computes is found out by running it on
symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

_OF_ONE_KIND = {"f->f", "ff->f"}  # types that a ufunc has whose results are such as its arguments
_SINGLE = np.dtype(np.float32)


class _Symbol(NDArrayOperatorsMixin):
    """An array: the source code that gives it and, where the formula has made it, the name it has from then on."""

    def __init__(self, text: str, known: dict[str, Any], name: str = "") -> None:
        self.text, self.name = text, name
        self._known = known  # what the source code of the whole formula refers to
        self._used = False

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> _Symbol:
        if method != "__call__" or options or not _OF_ONE_KIND.intersection(ufunc.types):
            raise TypeError(f"{ufunc} may give something of another kind than its arguments")
        self._known[ufunc.__name__] = ufunc
        texts, free = [], []
        for x in inputs:
            if not isinstance(x, _Symbol):
                texts.append(self._number(x))
                continue
            texts.append(x.text)
            if x.name:
                free.append(x._taken())
        call = f"{ufunc.__name__}({', '.join(texts)}"
        if free:
            return _Symbol(f"{call}, {free[0]})", self._known, free[0])
        if "out" not in self._known:
            name = f"t{len(self._known)}"
            self._known[name] = None
            return _Symbol(f"({name} := {call}))", self._known, name)
        if self._known["out"]:
            raise TypeError("a second array is needed")
        self._known["out"] = True
        return _Symbol(f"{call}, out)", self._known, "out")

    def _number(self, x: Any) -> str:
        """A number; beside single precision an array of it, whose dtype NumPy need not find out."""
        if type(x) is not int and type(x) is not float:
            raise TypeError(f"{x!r} is neither an argument nor a number")
        name = f"n{len(self._known)}"
        self._known[name] = np.array(x, _SINGLE)
        return f"{name} if g.dtype is single else {x!r}"

    def _taken(self) -> str:
        """Its name, once: what is used again must not be written over."""
        if self._used:
            raise TypeError(f"{self.text} is used twice")
        self._used = True
        return self.name


def product(
    formula: Callable[..., Any], arguments: dict[str, Any], into: bool = False
) -> tuple[str, dict[str, Any]] | None:
    """Source code for the array `g` times a formula, and what it refers to; None where nothing is written over.

    Arguments that are arrays, of the shape and the dtype of `g`, are given as source code. With `into`, an array `out`
    is written to, and no other is made.
    """
    known: dict[str, Any] = {"single": _SINGLE, **({"out": False} if into else {})}
    try:
        slope = formula(**{name: _Symbol(x, known) if type(x) is str else x for name, x in arguments.items()})
        value = _Symbol("g", known) * slope
    except (TypeError, AttributeError):  # it asks for something that symbols do not have
        return None
    known.pop("out", None)
    return (value.text, known) if isinstance(slope, _Symbol) and slope.name else None
