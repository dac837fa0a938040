"""A formula's arithmetic as calls of ufuncs that write their results over those before.

`g * (1 - y * y)` makes three arrays, of which one remains. As `multiply(g, subtract(1, (t := multiply(y, y)), t), t)`
it makes that one only. What a formula computes is found out by running it on symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

_OF_ONE_KIND = {"f->f", "ff->f"}  # types that a ufunc has whose results are such as its arguments


class _Symbol(NDArrayOperatorsMixin):
    """An array: the source code that gives it and, where the formula has made it, the name it has from then on."""

    def __init__(self, text: str, called: list[np.ufunc], name: str = "") -> None:
        self.text, self.name = text, name
        self._called = called  # by the whole formula
        self._used = False

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> _Symbol:
        if method != "__call__" or options or not _OF_ONE_KIND.intersection(ufunc.types):
            raise TypeError(f"{ufunc} may give something of another kind than its arguments")
        self._called.append(ufunc)
        texts, free = [], []
        for x in inputs:
            if isinstance(x, _Symbol):
                texts.append(x.text)
                if x.name:
                    free.append(x._taken())
            elif type(x) is int or type(x) is float:
                texts.append(repr(x))
            else:
                raise TypeError(f"{x!r} is neither an argument nor a number")
        call = f"{ufunc.__name__}({', '.join(texts)}"
        if free:
            return _Symbol(f"{call}, {free[0]})", self._called, free[0])
        name = f"t{len(self._called)}"
        return _Symbol(f"({name} := {call}))", self._called, name)

    def _taken(self) -> str:
        """Its name, once: what is used again must not be written over."""
        if self._used:
            raise TypeError(f"{self.text} is used twice")
        self._used = True
        return self.name


def product(formula: Callable[..., Any], arguments: dict[str, Any]) -> tuple[str, dict[str, np.ufunc]] | None:
    """Source code for the array `g` times a formula, and the ufuncs it calls; None where nothing is written over.

    Arguments that are arrays, of the shape and the dtype of `g`, are given as source code.
    """
    called: list[np.ufunc] = []
    try:
        slope = formula(**{name: _Symbol(x, called) if type(x) is str else x for name, x in arguments.items()})
        value = _Symbol("g", called) * slope
    except (TypeError, AttributeError):  # it asks for something that symbols do not have
        return None
    if not isinstance(slope, _Symbol) or not slope.name:
        return None
    return value.text, {ufunc.__name__: ufunc for ufunc in called}
