"""Elementwise work on large float32 arrays by oneDNN: one pass over memory, on all its threads, without Python's.

Only what keeps NaN and infinities as NumPy does is here; its exponential, logarithm and relu do not.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_float
from typing import Any

import numpy as np

from .library import FLOAT32, Computation, Library, Refused, Role, Temporaries, library
from .products import is_finite, sums

# The values of the C interface's enumeration dnnl_alg_kind_t: of a function, and of its derivative, which is computed
# from the function's result, or from its argument for those in the second row.
_PAIRS: dict[np.ufunc, int] = {np.add: 0x1FFF0, np.multiply: 0x1FFF1, np.subtract: 0x1FFF5}
_OF_ARGUMENT = {"gelu": (0x31, 0x31), "gelu_tanh": (0x2B, 0x2B)}
_FUNCTIONS = {"tanh": (0x21, 0x101), "sigmoid": (0x29, 0x104), **_OF_ARGUMENT}
_PAIR = (Role.SRC, Role.SECOND_SRC, Role.DST)
_FORWARD = 64
_ZERO = c_float(0.0)  # the functions' parameters, which these have none of
_MOST_PREPARED = 1024
FEW_USES = 8  # of a sum or a product: to prepare it takes as long as several runs by NumPy

# By what is computed and for how many numbers: False where oneDNN refuses; and how often NumPy has computed it.
_prepared: dict[tuple[Any, int], Computation | bool] = {}
_uses: dict[tuple[Any, int], int] = {}


def combined(ufunc: np.ufunc, a: Any, b: Any, out: Any = None) -> Any:
    """`ufunc(a, b)` of two contiguous arrays of one shape, or one and a number; None where NumPy is to compute it."""
    if ufunc not in _PAIRS or a.dtype != FLOAT32 or b.dtype != FLOAT32:
        return None
    if not a.shape:
        if ufunc is np.subtract:
            return None
        a, b = b, a
    if b.shape:
        return _run((ufunc, 0), _pair, _PAIR, (a, b), out)
    return _run((ufunc, 1), _pair, _PAIR, (a, np.asarray(b)), out)


def mapped(function: str, x: Any) -> Any:
    """The function of each number of a contiguous array, or None where NumPy is to compute it."""
    y = _run((function, 0), _function, (Role.SRC, Role.DST), (x,)) if x.dtype == FLOAT32 else None
    # What oneDNN makes of infinity, and of numbers near it, is its own affair.
    return None if y is None or (function == "gelu" and not is_finite(y)) else y


def pulled(function: str, known: Any, g: Any) -> Any:
    """The cotangent `g` of the function's result times its derivative, or None where NumPy is to compute it.

    `known` is what the derivative is computed from: the result or the argument.
    """
    if known.dtype != FLOAT32 or g.dtype != FLOAT32 or known.shape != g.shape:
        return None
    if function in _OF_ARGUMENT:
        both = vjp_and_summed(function, known, g)
        return None if both is None else both[0]
    return _run((function, 1), _derivative, (Role.DST, Role.DIFF_DST, Role.DIFF_SRC), (known, g))


def vjp_and_summed(function: str, x: Any, g: Any) -> tuple[Any, Any] | None:
    """What `pulled` gives for a function whose derivative is computed from its argument, and the sum of its rows."""
    if x.dtype != FLOAT32 or g.dtype != FLOAT32 or x.shape != g.shape or not x.shape:
        return None
    value = _run((function, 1), _derivative, (Role.SRC, Role.DIFF_DST, Role.DIFF_SRC), (x, g))
    if value is None:
        return None
    total = sums(value)
    # For numbers whose cube is infinite, oneDNN knows no slope.
    return (value, total) if np.isfinite(np.add.reduce(total)) else None


def _run(what: Any, describe: Callable[..., Any], roles: tuple[Role, ...], arrays: Any, out: Any = None) -> Any:
    dnnl = library()
    if dnnl is None:
        return None
    key = (what, arrays[0].size)
    computation = _prepared.get(key)
    if computation is None:
        if roles is _PAIR and _is_new(key):
            return None
        computation = _prepare(dnnl, key, describe, roles)
    if not isinstance(computation, Computation):
        return None
    y = np.empty(arrays[0].shape, FLOAT32) if out is None else out
    computation.run(*arrays, y)
    return y


def _is_new(key: tuple[Any, int]) -> bool:
    """Whether a sum or a product of this size is left to NumPy, because it has not come often enough yet.

    A function never is: NumPy's has other last bits, and the same call is to give the same bits every time.
    """
    if len(_uses) >= _MOST_PREPARED:
        _uses.clear()
    _uses[key] = uses = _uses.get(key, 0) + 1
    return uses <= FEW_USES


def _prepare(
    dnnl: Library, key: tuple[Any, int], describe: Callable[..., Any], roles: tuple[Role, ...]
) -> Computation | bool:
    """A new computation, or False if oneDNN refuses it."""
    if len(_prepared) >= _MOST_PREPARED:
        _prepared.clear()
    what, size = key
    made: Computation | bool
    try:
        with dnnl.temporary() as objects:
            layouts = dict.fromkeys(roles, objects.layout((size,), (1,)))
            if roles is _PAIR and what[1]:
                layouts[Role.SECOND_SRC] = objects.layout((1,), (1,))
            made = Computation(objects, describe(objects, what, *layouts.values()), layouts)
    except Refused:
        made = False
    _prepared[key] = made
    return made  # another thread may have cleared what is prepared


def _pair(objects: Temporaries, what: tuple[np.ufunc, int], *layouts: Any) -> Any:
    return objects.description(
        "dnnl_binary_primitive_desc_create", objects.library.engine, _PAIRS[what[0]], *layouts
    )


def _function(objects: Temporaries, what: tuple[str, int], layout: Any, *_: Any) -> Any:
    kind = _FUNCTIONS[what[0]][what[1]]
    return objects.description(
        "dnnl_eltwise_forward_primitive_desc_create", objects.library.engine, _FORWARD, kind, layout, layout,
        _ZERO, _ZERO,
    )  # fmt: skip


def _derivative(objects: Temporaries, what: tuple[str, int], layout: Any, *_: Any) -> Any:
    return objects.description(
        "dnnl_eltwise_backward_primitive_desc_create", objects.library.engine, _FUNCTIONS[what[0]][1], layout, layout,
        layout, _ZERO, _ZERO, _function(objects, what, layout),
    )  # fmt: skip
