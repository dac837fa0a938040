"""A formula over arrays as the steps it consists of: the NumPy functions it calls, found out by running it on symbols.

An executor takes kernels apart by it, and a large derivative writes the result of each step over that of the one
before. What cannot be written down so (a formula that looks at values or shapes) has no steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ...backends.arrays import special
from ...backends.tuning import FEW
from .op import bind, registry


class NotAFormula(Exception):
    """It does something else than calling functions of NumPy on its arguments."""


class FormulaStep(NamedTuple):
    """`output = function(*inputs, **attrs)`; inputs that are no symbols are numbers of the dtype it computes with."""

    function: Any
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]
    output: FormulaSymbol


class Formula(NamedTuple):
    """The steps from the inputs to the result, and to others, if there are several."""

    inputs: tuple[FormulaSymbol, ...]
    steps: list[FormulaStep]
    result: FormulaSymbol
    others: tuple[FormulaSymbol, ...] = ()


class Neutral:
    """NumPy's functions, but not the module: a kernel that does something else with NumPy's arrays does not do it."""

    @property
    def special(self) -> Any:
        return special(np)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


class _Symbolic:
    """The ops for rules that run on symbols: their kernels, as they are for any library of arrays."""

    def __getattr__(self, name: str) -> Any:
        if name not in registry:
            raise AttributeError(name)
        function = bind(registry[name].kernel, neutral)
        setattr(self, name, function)
        return function


neutral = Neutral()
symbolic = _Symbolic()


def traced(f: Callable[..., Any], given: Sequence[Any]) -> Formula | None:
    """What `f` does to arrays of the dtypes `given`; None if it is no mere formula."""
    steps: list[FormulaStep] = []
    symbols = tuple([FormulaSymbol(steps, np.ones(1, dtype)) for dtype in given])
    try:
        with np.errstate(all="ignore"):
            result = f(*symbols)
    except Exception:  # whatever it was
        return None
    return Formula(symbols, steps, result) if type(result) is FormulaSymbol else None


def written_over(formula: Formula | None) -> Callable[..., None] | None:
    """`f(*arrays, out)`, which writes the result of each step to `out`; None if that one array is not enough."""
    if formula is None or not formula.steps or formula.result is not formula.steps[-1].output:
        return None
    before = None
    for step in formula.steps:
        made = {x for x in step.inputs if type(x) is FormulaSymbol}.difference(formula.inputs, (before,))
        before = step.output
        if made or not isinstance(step.function, np.ufunc) or before.dtype != formula.result.dtype:
            return None
    inputs, steps = formula.inputs, [(step.function, step.inputs) for step in formula.steps]

    def run(*arrays: Any) -> None:
        *given, out = arrays
        known = dict(zip(inputs, given, strict=True))
        for ufunc, its in steps:
            ufunc(*[known.get(x, out) if type(x) is FormulaSymbol else x for x in its], out=out)

    return run


class FormulaSymbol(NDArrayOperatorsMixin):
    """Stands for an array; `example` has its dtype. A kernel that has a formula for many numbers shows that one."""

    size = FEW
    __hash__ = object.__hash__  # by identity: `==` is a step as any other

    def __init__(self, steps: list[FormulaStep], example: Any) -> None:
        self._steps = steps
        self._example = example
        self.dtype = example.dtype

    @classmethod
    def of(cls, dtype: Any) -> FormulaSymbol:
        """A symbol for an array of a dtype."""
        return cls([], np.ones(1, dtype))

    def _step(self, function: Any, given: Sequence[Any], **attrs: Any) -> FormulaSymbol:
        """What a function of NumPy gives on symbols and numbers."""
        example = function(*[x._example if isinstance(x, FormulaSymbol) else x for x in given], **attrs)
        common = np.result_type(*[x.dtype for x in given if isinstance(x, FormulaSymbol)])
        dtype = example.dtype if function is np.where else common
        y = self._made(example)
        self._steps.append(FormulaStep(function, tuple([_input(x, dtype) for x in given]), attrs, y))
        return y

    def _made(self, example: Any) -> FormulaSymbol:
        """A symbol for what a step gives."""
        return FormulaSymbol(self._steps, example)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.nout != 1 or ufunc.signature is not None or ufunc is np.power:
            raise NotAFormula  # an array's own power knows small exponents
        return self._step(ufunc, inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is not np.where or len(args) != 3 or kwargs:
            raise NotAFormula
        return self._step(np.where, args)

    def view(self, dtype: Any) -> FormulaSymbol:
        return self._step(np.ndarray.view, (self,), dtype=np.dtype(dtype))

    def astype(self, dtype: Any, copy: bool = True) -> FormulaSymbol:
        if self.dtype == dtype:
            return self
        if self.dtype.kind == "c" and np.dtype(dtype).kind != "c":
            raise NotAFormula
        return self._step(np.ndarray.astype, (self,), dtype=np.dtype(dtype))

    def __bool__(self) -> bool:
        raise NotAFormula


def _input(x: Any, dtype: Any) -> Any:
    if isinstance(x, FormulaSymbol):
        return x
    if not isinstance(x, int | float | complex | np.generic) or np.result_type(dtype, x) != dtype:
        raise NotAFormula
    return dtype.type(x)
