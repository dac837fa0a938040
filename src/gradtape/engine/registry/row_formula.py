"""Row formulas: symbolic traces of kernels along the last axis, such as softmax, cross entropy, layer norm or mean.

Like `formula.py`, this runs the kernel on symbols, which here have a shape. A step's result has one number per element
(`EACH`), per row (`ROW`) or per position in a row (`PLACE`); a reduction turns `EACH` into `ROW`. A kernel that does
anything else has no row formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .formula import Formula, FormulaStep, FormulaSymbol, Neutral, NotAFormula

EACH, ROW, PLACE = "each", "row", "place"
REDUCTIONS = {"sum", "max", "min", "prod"}


class RowFormula(NamedTuple):
    """The steps from the inputs to a result of `shape`, for arrays whose rows have this length."""

    formula: Formula
    shape: tuple[int, ...]
    length: int


def trace_rows(
    kernel: Callable[..., Any], shapes: Sequence[tuple[int, ...]], given: Sequence[Any]
) -> RowFormula | None:
    """Traces `kernel(xp, *arrays)` on arrays of these shapes and dtypes; None if it is not a row formula."""
    whole = max(shapes, key=math.prod)
    if not whole or not math.prod(whole):
        return None
    steps: list[FormulaStep] = []
    xp = _Rows(steps, whole)
    inputs = tuple([_RowSymbol(xp, np.ones(1, dtype), shape, None) for shape, dtype in zip(shapes, given, strict=True)])
    try:
        with np.errstate(all="ignore"):
            result = kernel(xp, *inputs)
        shape = result.shape
        if result.kind not in (EACH, ROW) or not any(step.function in REDUCTIONS for step in steps):
            return None
    except Exception:  # any error means that it cannot be traced
        return None
    return RowFormula(Formula(inputs, steps, result), shape, whole[-1])


class _Rows(Neutral):
    """The array module of row symbols; `whole` is the shape of the largest array."""

    def __init__(self, steps: list[FormulaStep], whole: tuple[int, ...]) -> None:
        self._steps = steps
        self._length = whole[-1]
        self._count = math.prod(whole[:-1])

    def arange(self, stop: int) -> _RowSymbol:
        """Records the positions in a row."""
        if stop != self._length:
            raise NotAFormula
        y = _RowSymbol(self, np.ones(1, np.int64), (stop,), PLACE)
        self._steps.append(FormulaStep("arange", (), {}, y))
        return y

    def kind_of(self, shape: tuple[int, ...]) -> str:
        """Classifies a shape by how it broadcasts against the elements."""
        *leading, last = shape
        if math.prod(leading) == self._count and last == self._length:
            return EACH
        if last == 1 and math.prod(leading) == self._count:
            return ROW
        if last == self._length and math.prod(leading) == 1:
            return PLACE
        raise NotAFormula


class _RowSymbol(FormulaSymbol):
    """A symbol with a shape. `kept` tells whether one of kind `ROW` keeps a last axis of size 1."""

    def __init__(
        self, xp: _Rows, example: np.ndarray[Any, Any], shape: tuple[int, ...], kind: str | None, kept: bool = True
    ) -> None:
        super().__init__(xp._steps, example)
        self._xp, self.shape, self.kind, self.kept = xp, shape, kind, kept

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:  # type: ignore[override]
        return math.prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def _new(
        self, example: np.ndarray[Any, Any], function: str, given: Sequence[Any], shape: Sequence[int], kind: str,
        kept: bool = True,
    ) -> Any:  # fmt: skip
        y = _RowSymbol(self._xp, example, tuple(shape), kind, kept)
        self._steps.append(FormulaStep(function, tuple(given), {}, y))
        return y

    def _set_kind(self, kind: str, kept: bool) -> None:
        """Sets an input's kind at its first use; a conflicting use raises NotAFormula."""
        if self.kind is None:
            self.kind, self.kept = kind, kept
        elif (self.kind, self.kept) != (kind, kept):
            raise NotAFormula

    def _step(self, function: Callable[..., Any], given: Sequence[Any], **attrs: Any) -> FormulaSymbol:
        symbols = [x for x in given if isinstance(x, _RowSymbol)]
        dropped = any(x.kind == ROW and not x.kept for x in symbols)
        for x in symbols:
            if x.kind is None:
                x._set_kind(ROW if dropped else self._xp.kind_of(x.shape), not dropped)
        kinds = {x.kind for x in symbols}
        if dropped and (kinds != {ROW} or any(x.kept for x in symbols)):
            raise NotAFormula
        y: Any = super()._step(function, given, **attrs)
        y.shape = np.broadcast_shapes(*[x.shape for x in symbols])
        y.kind, y.kept = kinds.pop() if len(kinds) == 1 else EACH, not dropped
        return y

    def _new_symbol(self, example: np.ndarray[Any, Any]) -> FormulaSymbol:
        return _RowSymbol(self._xp, example, (), None)

    def __array_function__(
        self, function: Callable[..., Any], types: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if function is np.take_along_axis:
            return self._take(*args, **kwargs)
        return super().__array_function__(function, types, args, kwargs)

    def _take(self, x: _RowSymbol, indices: _RowSymbol, axis: int) -> Any:
        if axis not in (-1, x.ndim - 1) or indices.kind != ROW or not indices.kept or indices.shape[-1] != 1:
            raise NotAFormula
        return self._new(x._example, "take", (x, indices), indices.shape, ROW)

    def _reduce(
        self, name: str, axis: int | tuple[int, ...], keepdims: bool = False, dtype: np.dtype[Any] | None = None
    ) -> Any:
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
        if axes not in ((-1,), (self.ndim - 1,)) or self.dtype.kind != "f" or (dtype or self.dtype) != self.dtype:
            raise NotAFormula
        if self.kind is None:
            self._set_kind(self._xp.kind_of(self.shape), True)
        if self.kind != EACH:
            raise NotAFormula
        return self._new(
            self._example, name, (self,), (*self.shape[:-1], 1) if keepdims else self.shape[:-1], ROW, keepdims
        )

    def sum(self, axis: int | tuple[int, ...], dtype: np.dtype[Any] | None = None, keepdims: bool = False) -> Any:
        return self._reduce("sum", axis, keepdims, dtype)

    def prod(self, axis: int | tuple[int, ...], dtype: np.dtype[Any] | None = None, keepdims: bool = False) -> Any:
        return self._reduce("prod", axis, keepdims, dtype)

    def max(self, axis: int | tuple[int, ...], keepdims: bool = False) -> Any:
        return self._reduce("max", axis, keepdims)

    def min(self, axis: int | tuple[int, ...], keepdims: bool = False) -> Any:
        return self._reduce("min", axis, keepdims)

    def _view_as(self, shape: tuple[int, ...], kind: str, kept: bool) -> Any:
        return self._new(self._example, "view", (self,), shape, kind, kept)

    def reshape(self, *shape: Any) -> Any:
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        if self.kind is None:
            self._set_kind(self._xp.kind_of(self.shape), True)
        if self._xp.kind_of(tuple(shape)) != self.kind:
            raise NotAFormula
        return self._view_as(tuple(shape), self.kind, True)

    def __getitem__(self, key: object) -> Any:
        if key == slice(None):
            return self
        if key == (..., None) and (self.kind is None or not self.kept):
            self._set_kind(ROW, False)
            return self._view_as((*self.shape, 1), ROW, True)
        if key == (..., 0) and self.kind == ROW and self.kept:
            return self._view_as(self.shape[:-1], ROW, False)
        raise NotAFormula
