"""Block programs: elementwise steps that run on one block of all arrays after the other, with a few buffers.

Blocks and buffers fit the cache, so only arguments and results pass through main memory. Register allocation assigns
each step's result to a buffer: one that is free, that of an operand which no later step needs, or a block of a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays import BITS, select
from ..tuning import BLOCK_BYTES, CACHE_BYTES
from .memory import scratch_buffers

# NumPy has vector loops of these functions, three times as fast, for two arrays only: a number fills a buffer.
SLOW_WITH_NUMBERS = (np.maximum, np.minimum)


class ArrayStep(NamedTuple):
    """`output = function(*inputs, **attrs)`: a ufunc, `np.where`, or the method `view` or `astype` of an array.

    Output and inputs are symbols with a `dtype`; the other inputs are NumPy's scalars.
    """

    function: Any
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]
    output: Any


class ArraySymbol:
    """A symbol without other meaning."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype


class BlockProgram:
    """Steps as operations on slots, which hold the blocks of inputs and outputs, then numbers, buffers and views."""

    def __init__(self, inputs: Sequence[Any], steps: Sequence[ArrayStep], outputs: Sequence[Any]) -> None:
        self._dtypes = [x.dtype for x in (*inputs, *outputs)]  # of the slots
        self._operations: list[tuple[Callable[..., Any], list[int], int]] = []
        self._numbers: dict[tuple[bytes, np.dtype[Any], bool], int] = {}  # slots; the last says: fills a buffer
        self._buffers: list[int] = []
        self._views: dict[tuple[int, np.dtype[Any]], int] = {}  # slots by the slot and the dtype
        self._compile(inputs, steps, outputs)
        self._sizes = [dtype.itemsize for dtype in self._dtypes[: len(inputs) + len(outputs)]]

    def _compile(self, inputs: Sequence[Any], steps: Sequence[ArrayStep], outputs: Sequence[Any]) -> None:
        owners = {x: x for x in inputs}  # a view is in the memory of its owner
        last_uses: dict[Any, int] = {}
        for i, step in enumerate(steps):
            owners[step.output] = owners[step.inputs[0]] if step.function is np.ndarray.view else step.output
            last_uses |= {owners[x]: i for x in _symbols(step)}
        slots = {x: k for k, x in enumerate(inputs)}  # of the owners
        targets = {owners[y]: k for k, y in enumerate(outputs, len(inputs)) if owners[y] not in slots}
        kept = {*slots, *targets}
        # A ufunc may overwrite its operands: until the last one runs, its target is one more buffer.
        computed = [step for step in steps if step.function is not np.ndarray.view][-1:]
        free = [targets[s.output] for s in computed if isinstance(s.function, np.ufunc) and s.output in targets]
        for i, step in enumerate(steps):
            function, y = step.function, step.output
            if function is np.ndarray.view:
                continue
            is_ufunc = isinstance(function, np.ufunc)
            operands = [
                self._number(x, function) if isinstance(x, np.generic) else self._view(slots[owners[x]], x.dtype)
                for x in step.inputs
            ]
            used = {owners[x] for x in _symbols(step)}
            dead = [slots[x] for x in used - kept if last_uses[x] == i]
            free += dead if is_ufunc else []
            slots[y] = targets[y] if y in targets else self._buffer(free, y.dtype)
            free += [] if is_ufunc else dead
            self._operations.append((_INTO.get(function, function), operands, self._view(slots[y], y.dtype)))
        for k, y in enumerate(outputs, len(inputs)):
            if targets.get(owners[y]) != k:  # an input, or another output, too
                self._operations.append((_cast, [self._view(slots[owners[y]], y.dtype)], k))

    def _slot(self, dtype: np.dtype[Any]) -> int:
        self._dtypes.append(dtype)
        return len(self._dtypes) - 1

    def _view(self, slot: int, dtype: np.dtype[Any]) -> int:
        if self._dtypes[slot] == dtype:
            return slot
        if (slot, dtype) not in self._views:
            self._views[slot, dtype] = self._slot(dtype)
        return self._views[slot, dtype]

    def _buffer(self, free: list[int], dtype: np.dtype[Any]) -> int:
        """Takes a free buffer, the one that was released last, or adds one."""
        for k in reversed(free):
            if self._dtypes[k].itemsize == dtype.itemsize:
                free.remove(k)
                return k
        self._buffers.append(self._slot(dtype))
        return self._buffers[-1]

    def _number(self, number: Any, function: Any) -> int:
        key = number.tobytes(), number.dtype, function in SLOW_WITH_NUMBERS
        if key not in self._numbers:
            self._numbers[key] = self._slot(number.dtype)
            self._buffers += [self._numbers[key]] if key[-1] else []
        return self._numbers[key]

    def block_length(self, count: int, width: int, cut: Sequence[bool], cores: int) -> int:
        """Returns how many of `count` rows of `width` elements a block has; `cut` are the arguments with many rows."""
        sizes = [size for size, flag in zip(self._sizes, cut, strict=True) if flag]
        total = sum(sizes) + sum(self._dtypes[k].itemsize for k in self._buffers)
        share, longest = -(-count // cores), min(CACHE_BYTES // total, BLOCK_BYTES // max(sizes)) // width
        return -(-share // -(-share // max(1, longest)))

    def run(self, parts: Iterable[Sequence[Any]], shape: tuple[int, ...]) -> None:
        """Runs on the blocks of inputs and outputs in each part, of at most this shape."""
        contents: list[Any] = [None] * len(self._dtypes)
        with scratch_buffers(shape, [self._dtypes[k] for k in self._buffers]) as arrays:
            buffers = dict(zip(self._buffers, arrays, strict=True))
            for (data, dtype, fills_buffer), k in self._numbers.items():
                contents[k] = np.ndarray((), dtype, data)
                if fills_buffer:
                    buffers[k].fill(contents[k])
            for blocks in parts:
                slots = contents.copy()
                slots[: len(blocks)] = blocks
                for k, buffer in buffers.items():
                    slots[k] = buffer[: len(blocks[-1])]
                for (slot, dtype), k in self._views.items():
                    slots[k] = slots[slot].view(dtype)
                # Python's lock is free for other threads during a call: between two, as little as possible is done.
                calls = [(f, [slots[k] for k in operands], slots[out]) for f, operands, out in self._operations]
                for f, operands, y in calls:
                    f(*operands, out=y)


def _symbols(step: ArrayStep) -> list[Any]:
    return [x for x in step.inputs if not isinstance(x, np.generic)]


def _cast(x: Any, out: Any) -> None:
    np.copyto(out, x, casting="unsafe")


def _where(mask: Any, a: Any, b: Any, out: Any) -> None:
    if a.dtype == b.dtype == out.dtype and out.dtype.char in BITS:
        select(mask, a, b, out)
    else:
        np.copyto(out, np.where(mask, a, b))


_INTO = {np.where: _where, np.ndarray.astype: _cast}
