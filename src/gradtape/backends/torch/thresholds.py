"""From which size PyTorch computes an elementwise op, by the op's name; `elementwise.py` has the kernels.

Every elementwise op reads its thresholds when it is defined, and most processes never need the kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..tuning import LARGE, SHORT_ROWS, TORCH_ARITHMETIC, TORCH_DERIVATIVES, TORCH_FORMULAS, TORCH_FUNCTIONS
from .library import IS_ENABLED, torch

# float16, float32, float64: NumPy's loops over float16 take several times as long as PyTorch's.
DTYPES = "efd"
# Ops of which NumPy computes value and derivative by arithmetic, or the value by one other loop.
_ARITHMETIC = frozenset(
    "abs add div equal floor greater greater_equal less less_equal maximum minimum mul neg not_equal power_1 power_2 "
    "power_3 rint sqrt square sub where_positive".split()
)
_SINGLE_LOOPS = frozenset(
    "acos acosh asin asinh atan atan2 atanh cos cosh exp exp2 expm1 hypot log log10 log1p log2 relu rsqrt sin sinh tan "
    "tanh".split()
)
_ARITHMETIC_VJPS = _ARITHMETIC | frozenset("exp exp2 log log10 log1p log2 relu tan".split())
# Ops whose derivatives are formulas of several loops, or contain one that is not arithmetic.
_FORMULA_VJPS = frozenset("gelu gelu_tanh silu softplus".split())
_FUNCTION_VJPS = frozenset("atan2 cos cosh erf erfc erfcinv erfinv expm1 log_sigmoid ndtr ndtri pow sin sinh".split())


def min_elements(name: str) -> int:
    """Returns the array size from which an op has a parallel kernel: PyTorch's, or NumPy's on several threads."""
    if not IS_ENABLED:
        return LARGE
    if name in _ARITHMETIC:
        return TORCH_ARITHMETIC
    return TORCH_FUNCTIONS if name in _SINGLE_LOOPS else TORCH_FORMULAS


def vjp_min_elements(name: str) -> int:
    """Returns the same for the op's vjp and the size of the cotangent."""
    if not IS_ENABLED:
        return LARGE
    if name in _FORMULA_VJPS:
        return TORCH_FORMULAS
    return TORCH_FUNCTIONS if name in _FUNCTION_VJPS else TORCH_DERIVATIVES


def is_slower(name: str, arrays: Sequence[Any], is_vjp: bool = False) -> bool:
    """Whether NumPy computes an op, or its vjp, faster: arithmetic, with one thread of PyTorch.

    NumPy's loops over float16 are slow, and so are those along a short axis of broadcast operands.
    """
    if name not in (_ARITHMETIC_VJPS if is_vjp else _ARITHMETIC) or torch().get_num_threads() > 1:
        return False
    given = [x for x in arrays if x.shape]
    is_dense = all([x.shape == given[0].shape and x.flags.c_contiguous for x in given])
    return (is_dense or max([x.shape[-1] for x in given]) > SHORT_ROWS) and arrays[0].dtype.char != "e"
