"""Formulas: symbolic traces of elementwise kernels as sequences of NumPy function calls.

Executors decompose kernels by them for fusion, and large arrays are computed by them in blocks. A function that
inspects values or shapes cannot be traced and has no formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ...backends.arrays import special
from ...backends.numpy.blocks import SinglePass
from ...backends.numpy.programs import SLOW_WITH_NUMBERS, ArrayStep, BlockProgram
from ...backends.tuning import FEW
from .op import bind, op_named


class NotAFormula(Exception):
    """The function does more than call NumPy functions on its arguments."""


class Formula(NamedTuple):
    """The steps from the inputs to the result."""

    inputs: tuple[FormulaSymbol, ...]
    steps: list[ArrayStep]
    result: FormulaSymbol


class Neutral:
    """A proxy of NumPy that is not NumPy itself, so that kernels skip their branches for NumPy arrays."""

    @property
    def special(self) -> Any:
        return special(np)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


class _Symbolic:
    """The namespace `m` for rules that run on symbols: the ops' kernels in their library-neutral form."""

    def __getattr__(self, name: str) -> Any:
        function = bind(op_named(name).kernel, neutral)
        setattr(self, name, function)
        return function


neutral = Neutral()
symbolic = _Symbolic()


def trace_formula(f: Callable[..., Any], given: Sequence[Any]) -> Formula | None:
    """Traces `f` on arrays of the dtypes `given`; returns None if it is not a formula."""
    steps: list[ArrayStep] = []
    symbols = tuple([FormulaSymbol(steps, np.ones(1, dtype)) for dtype in given])
    try:
        with np.errstate(all="ignore"):
            result = f(*symbols)
    except Exception:  # any error means that it cannot be traced
        return None
    return Formula(symbols, steps, result) if type(result) is FormulaSymbol else None


def compile_blocks(formula: Formula | None, dtype: Any) -> Callable[..., None] | BlockProgram | None:
    """Compiles a formula for `blocks.run`; None if there is none, or its result has another dtype."""
    if formula is None or not formula.steps or formula.result.dtype != dtype:
        return None
    (step, *others), positions = formula.steps, {x: i for i, x in enumerate(formula.inputs)}
    operands = [positions.get(x) if type(x) is FormulaSymbol else x for x in step.inputs]
    is_slow = step.function in SLOW_WITH_NUMBERS and any(type(x) is not int for x in operands)
    if others or is_slow or not isinstance(step.function, np.ufunc):
        return BlockProgram(formula.inputs, formula.steps, [formula.result])
    return SinglePass(step.function, operands)


def compile_outputs(f: Callable[..., Any], dtype: Any) -> BlockProgram:
    """Compiles a function of one array of this dtype that returns several and is a formula."""
    steps: list[ArrayStep] = []
    x = FormulaSymbol(steps, np.ones(1, dtype))
    return BlockProgram([x], steps, f(x))


class FormulaSymbol(NDArrayOperatorsMixin):
    """A symbolic array; `example` has its dtype. Its `size` selects the kernel's formula for large arrays."""

    size = FEW
    __hash__ = object.__hash__  # by identity, since `==` is recorded as a step

    def __init__(self, steps: list[ArrayStep], example: np.ndarray[Any, Any]) -> None:
        self._steps, self._example = steps, example
        self.dtype = example.dtype

    def _step(self, function: Callable[..., Any], given: Sequence[Any], **attrs: Any) -> FormulaSymbol:
        """Records the call of a NumPy function on symbols and numbers and returns its result's symbol."""
        example = function(*[x._example if isinstance(x, FormulaSymbol) else x for x in given], **attrs)
        common = np.result_type(*[x.dtype for x in given if isinstance(x, FormulaSymbol)])
        dtype = example.dtype if function is np.where else common
        y = FormulaSymbol(self._steps, example)
        self._steps.append(ArrayStep(function, tuple([_input(x, dtype) for x in given]), attrs, y))
        return y

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.nout != 1 or ufunc.signature is not None or ufunc is np.power:
            raise NotAFormula  # `ndarray.__pow__` has special cases for small exponents
        return self._step(ufunc, inputs)

    def __array_function__(
        self, function: Callable[..., Any], types: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if function is not np.where or len(args) != 3 or kwargs:
            raise NotAFormula
        return self._step(np.where, args)

    def view(self, dtype: np.dtype[Any]) -> FormulaSymbol:
        return self._step(np.ndarray.view, (self,), dtype=np.dtype(dtype))

    def astype(self, dtype: np.dtype[Any], copy: bool = True) -> FormulaSymbol:
        if self.dtype == dtype:
            return self
        if self.dtype.kind == "c" and np.dtype(dtype).kind != "c":
            raise NotAFormula
        return self._step(np.ndarray.astype, (self,), dtype=np.dtype(dtype))

    def __bool__(self) -> bool:
        raise NotAFormula


def _input(x: object, dtype: np.dtype[Any]) -> Any:
    if isinstance(x, FormulaSymbol):
        return x
    if not isinstance(x, int | float | complex | np.generic) or np.result_type(dtype, x) != dtype:
        raise NotAFormula
    return dtype.type(x)
