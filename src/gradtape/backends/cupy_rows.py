"""Compiles a row formula to one CUDA kernel, in which the threads of a row traverse it once per reduction.

Per-element values are recomputed (rematerialized) in each traversal, from cached inputs; only per-row values are kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import cupy
import numpy as np

from .cupy_fusion import Unwritable, line, type_of

_WARP, _BLOCK = 32, 256  # threads per short row and per long row
_SHORT = 1024
_LONG_ROWS = 1 << 13  # longer rows need many rows to occupy the device
_MANY_ROWS = 256

_START = {"sum": "0", "prod": "1", "max": "-__int_as_float(0x7f800000)", "min": "__int_as_float(0x7f800000)"}  # inf
_JOIN = {
    "sum": "a + b", "prod": "a * b", "max": "(a >= b || a != a) ? a : b", "min": "(a <= b || a != a) ? a : b"
}  # fmt: skip
_SOURCE = """
#define TOGETHER(name, join) template <class T> __device__ T name(T a) { \\
    for (int o = 16; o; o >>= 1) { T b = __shfl_xor_sync(~0u, a, o); a = join; } \\
    if (THREADS > 32) { \\
        __shared__ T each[THREADS / 32]; \\
        __syncthreads(); \\
        if (threadIdx.x %% 32 == 0) each[threadIdx.x / 32] = a; \\
        __syncthreads(); \\
        a = each[0]; \\
        for (int k = 1; k < THREADS / 32; k++) { T b = each[k]; a = join; } \\
    } \\
    return a; }
%s
extern "C" __global__ void rows(%s, long long count, int n) {
long long row = (long long)blockIdx.x * blockDim.y + threadIdx.y;
if (row >= count) return;
%s
}
"""


def fuse_rows(traced: Any) -> Callable[..., Any] | None:
    """Compiles a kernel for a row formula on contiguous arrays; None where it does not pay."""
    formula, shape, length = traced
    count = max(math.prod(x.shape) for x in formula.inputs) // length
    if (length > _LONG_ROWS and count < _MANY_ROWS) or length >= 1 << 31:
        return None
    try:
        text = _Writer(formula).text()
    except Unwritable:
        return None
    threads = _WARP if length <= _SHORT else _BLOCK
    rows = 4 if threads == _WARP else 1
    kernel = _kernel(text, threads)
    grid, block = (-(-count // rows),), (threads, rows)
    dtype, numbers = formula.result.dtype, (np.int64(count), np.int32(length))

    def whole(x: Any) -> Any:
        return x if type(x) is cupy.ndarray and x.flags.c_contiguous else cupy.ascontiguousarray(x)

    def run(*arrays: Any) -> Any:
        out = cupy.ndarray(shape, dtype)
        kernel(grid, block, (*map(whole, arrays), out, *numbers))
        return out

    return run


@lru_cache(maxsize=256)
def _kernel(text: str, threads: int) -> Callable[..., Any]:
    return cupy.RawKernel(text, "rows", options=(f"-DTHREADS={threads}",))


class _Writer:
    """Generates C++ from a row formula: per-row values in order, per-element values in the loops that need them."""

    def __init__(self, formula: Any) -> None:
        self.formula = formula
        self.steps = {step.output: step for step in formula.steps}
        self.names = {x: f"i{n}" for n, x in enumerate(formula.inputs)}
        self.names |= {step.output: f"t{n}" for n, step in enumerate(formula.steps)}

    def text(self) -> str:
        lines = [f"const {type_of(x)} {self.names[x]} = p{n}[row];" for n, x in self._inputs("row")]
        used = []
        for step in self.formula.steps:
            if step.output.kind == "row":
                lines += self._of_row(step)
                used += [step.function] if step.function in _JOIN else []
        result = self.formula.result
        name = self.names[result]
        if result.kind == "row":
            lines.append(f"if (threadIdx.x == 0) out[row] = {name};")
        else:
            lines += [_ALONG, *self._each([result]), f"out[row * n + j] = {name};", "}"]
        takes = [f"const {type_of(x)}* p{n}" for n, x in enumerate(self.formula.inputs)]
        joins = [f"TOGETHER({name}_of, {_JOIN[name]})" for name in dict.fromkeys(used)]
        return _SOURCE % ("\n".join(joins), ", ".join([*takes, f"{type_of(result)}* out"]), "\n".join(lines))

    def _inputs(self, *kinds: str) -> list[tuple[int, Any]]:
        return [(n, x) for n, x in enumerate(self.formula.inputs) if x.kind in kinds]

    def _of_row(self, step: Any) -> list[str]:
        """Returns the lines that compute a per-row value."""
        name, c = self.names[step.output], type_of(step.output)
        if step.function in _JOIN:
            (x,) = step.inputs
            join = _JOIN[step.function]
            return [
                f"{c} {name} = {_START[step.function]};", _ALONG, *self._each([x]),
                f"const {c} a = {name}, b = {self.names[x]}; {name} = {join};", "}",
                f"{name} = {step.function}_of({name});",
            ]  # fmt: skip
        if step.function == "take":
            x, place = step.inputs
            nearest = f"const long long j = max(0ll, min((long long){self.names[place]}, n - 1ll));"
            return [f"{c} {name};", "{", nearest, *self._each([x]), f"{name} = {self.names[x]};", "}"]
        return [self._line(step)]

    def _each(self, wanted: list[Any]) -> list[str]:
        """Returns the lines that compute per-element values at position `j`, and everything they depend on."""
        needed: dict[Any, None] = {}

        def need(x: Any) -> None:
            if isinstance(x, np.generic) or x.kind == "row" or x in needed:
                return
            for y in self.steps[x].inputs if x in self.steps else ():
                need(y)
            needed[x] = None

        for x in wanted:
            need(x)
        return [self._line(self.steps[x]) if x in self.steps else self._load(x) for x in needed]

    def _load(self, x: Any) -> str:
        name = self.names[x]
        return f"const {type_of(x)} {name} = p{name[1:]}[{'row * n + j' if x.kind == 'each' else 'j'}];"

    def _line(self, step: Any) -> str:
        name = self.names[step.output]
        if step.function == "arange":
            return f"const long long {name} = j;"
        if step.function == "view":
            return f"const {type_of(step.output)} {name} = {self.names[step.inputs[0]]};"
        return line(step, self.names)


_ALONG = "for (long long j = threadIdx.x; j < n; j += THREADS) {"
