"""Elementwise ops by PyTorch: fused kernels by op name, and formulas step by step; `thresholds.py` has their sizes."""

from __future__ import annotations

import math
import operator
import platform
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..tuning import TORCH_FORMULAS
from .host_kernels import WITH_RESIDUALS, HostKernel
from .library import RENAMED, aten, can_import, on_arrays, torch

# A symbolic trace of an elementwise function: `Formula` in `engine/registry/formula.py`, a layer above; or None.
_Formula = Any

# Python's operators accept a number as either operand; that of a division multiplies a number by the reciprocal, which
# is infinite for subnormal numbers. `sign` is missing, because PyTorch's is 0 for NaN, and `where`, because PyTorch's
# takes eight times as long as NumPy's multiplication by the mask's bits.
_OPERATORS: dict[Any, Callable[..., Any]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul,
    np.negative: operator.neg, np.absolute: operator.abs, np.greater: operator.gt, np.less: operator.lt,
    np.greater_equal: operator.ge, np.less_equal: operator.le, np.equal: operator.eq, np.not_equal: operator.ne,
}  # fmt: skip
_FUNCTIONS = frozenset(
    "divide exp expm1 exp2 log log1p log2 log10 sqrt square reciprocal sin cos tan arcsin arccos arctan sinh cosh tanh "
    "arcsinh arccosh arctanh arctan2 floor ceil rint trunc hypot maximum minimum isnan isfinite isinf logical_and "
    "logical_or logical_not".split()
)
_SLOWER_ON_HOST = frozenset(["pow"])  # NumPy's time over PyTorch's is 0.3 for all sizes, on one core
# The same on ARM: 0.3 for comparisons, 0.4 for tanh and for the derivative of gelu, 0.6 for that of abs, 0.7 for cos
# and sin. But NumPy's loops over float16 are slow.
_ON_ARM = platform.machine().lower() in ("aarch64", "arm64")
_SLOWER_UNLESS_HALF = frozenset(
    "cos equal greater greater_equal less less_equal not_equal sin tanh".split() if _ON_ARM else ()
)
_SLOWER_VJPS_UNLESS_HALF = frozenset(["abs", "cos", "gelu", "sin"] if _ON_ARM else ())


@cache
def fused_kernels() -> dict[str, Callable[..., Any]]:
    """PyTorch's kernels of ops whose NumPy kernels are no formula or one of several steps, by op name."""
    t = torch()
    f = t.nn.functional
    kernels = {
        "elu": f.elu, "erf": t.erf if _erf_of_tiny_numbers_is_exact() else _erf, "erfc": t.erfc,
        "erfinv": t.erfinv, "log_sigmoid": f.logsigmoid, "pow": t.pow, "relu": t.relu, "rsqrt": t.rsqrt,
        "selu": f.selu, "sigmoid": t.sigmoid, "silu": f.silu, "softplus": lambda x: f.softplus(x, threshold=40.0),
    }  # fmt: skip
    if not _elu_of_tiny_numbers_is_exact():
        del kernels["elu"], kernels["selu"]  # their formulas have expm1
    return kernels


@cache
def _elu_of_tiny_numbers_is_exact() -> bool:
    """Whether PyTorch's elu is not 0 for tiny negative numbers, as that of PyTorch 2.6 is, which is exp(x) - 1."""
    return bool(torch().nn.functional.elu(torch().full((16,), -1e-12)).max() < 0)


@cache
def _erf_of_tiny_numbers_is_exact() -> bool:
    """Whether PyTorch's erf is not 0 for tiny numbers, as that for single precision on ARM processors is."""
    return bool(torch().erf(torch().full((16,), 1e-12)).min() > 0)


def _erf(x: Any) -> Any:
    """PyTorch's kernel for double precision."""
    t = torch()
    return t.erf(x.double()).to(x.dtype) if x.dtype == t.float32 else t.erf(x)


def _with_large(name: str) -> Callable[..., Any]:
    """Returns PyTorch's cosh or sinh, corrected where the exponential overflows and the result, half of it, does not.

    The square of the exponential's root is half a digit less accurate.
    """
    function = getattr(torch(), name)

    def corrected(x: Any) -> Any:
        y = function(x)
        if math.isfinite(y.sum().item()):
            return y
        root = x.abs().mul_(0.5).exp_()
        large = (0.5 * root).mul_(root)
        return torch().where(y.isinf(), large.copysign_(y), y)

    return corrected


def _sigmoid_cross_entropy(labels: Any, logits: Any) -> Any:
    """Computes max(x, 0) - x z + log(1 + exp(-|x|)), without new memory for each step."""
    loss = torch().addcmul(logits.clamp_min(0), logits, labels, value=-1)
    return loss.add_(logits.abs().neg_().exp_().log1p_())


GELU_SLOPE = math.sqrt(2 / math.pi)
GELU_BEND = 0.044715 * GELU_SLOPE


def _half_erfc(x: Any) -> Any:
    """The standard normal CDF. PyTorch's gelu has 1 + erf(x) instead, which is 4% off at -5."""
    return (x * -math.sqrt(0.5)).erfc_().mul_(0.5)


def _gelu_by_erfc(x: Any) -> Any:
    return _half_erfc(x).mul_(x)


def _gelu_slope(x: Any, share: Any) -> Any:
    bell = (x * x).mul_(-0.5).exp_()
    return torch().addcmul(share, bell, x, value=math.sqrt(0.5 / math.pi), out=bell)


def _gelu_share(square: Any, x: Any) -> Any:
    """sigmoid(2u) as in `ops/elementwise/activations.py`; PyTorch's gelu has (1 + tanh u) / 2, which is 30% off at -5.

    Takes x², at most 900.
    """
    return (square * (2 * GELU_BEND)).add_(2 * GELU_SLOPE).mul_(x).sigmoid_()


def _gelu_tanh_by_sigmoid(x: Any) -> Any:
    return _gelu_share((x * x).clamp_(max=900.0), x).mul_(x)


def _gelu_tanh_slope(x: Any, square: Any, share: Any) -> Any:
    change = square.mul_(6 * GELU_BEND).add_(2 * GELU_SLOPE).mul_(x)
    return change.mul_(1 - share).add_(1).mul_(share)


def _gelu_with_slope(t: Any, x: Any) -> Any:
    share = _half_erfc(x)
    slope = _gelu_slope(x, share)
    return share.mul_(x), slope.numpy()


def _gelu_tanh_with_slope(t: Any, x: Any) -> Any:
    square = (x * x).clamp_(max=900.0)
    share = _gelu_share(square, x)
    slope = _gelu_tanh_slope(x, square, share)
    return share.mul_(x), slope.numpy()


def _gelu_vjp_by_erfc(g: Any, x: Any) -> Any:
    return _gelu_slope(x, _half_erfc(x)).mul_(g)


def _gelu_tanh_vjp_by_sigmoid(g: Any, x: Any) -> Any:
    square = (x * x).clamp_(max=900.0)
    return _gelu_tanh_slope(x, square, _gelu_share(square, x)).mul_(g)


WITH_RESIDUALS["gelu"] = HostKernel(_gelu_with_slope, TORCH_FORMULAS, 0, "f")
WITH_RESIDUALS["gelu_tanh"] = HostKernel(_gelu_tanh_with_slope, TORCH_FORMULAS, 0, "f")


def _in_single(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a function of several steps to compute halves in float32."""

    def run(*given: Any) -> Any:
        dtype = given[-1].dtype
        if dtype.itemsize > 2:
            return function(*given)
        return function(*[x.float() for x in given]).to(dtype)

    return run


# Kernels of several steps for the host: a GPU computes the same in one launch.
IN_STEPS: dict[str, Callable[..., Any]] = {
    "gelu": _in_single(_gelu_by_erfc), "gelu_tanh": _in_single(_gelu_tanh_by_sigmoid),
    "sigmoid_cross_entropy": _sigmoid_cross_entropy,
}  # fmt: skip
VJPS_IN_STEPS: dict[str, Callable[..., Any]] = {
    "gelu": _in_single(_gelu_vjp_by_erfc), "gelu_tanh": _in_single(_gelu_tanh_vjp_by_sigmoid),
}  # fmt: skip


def _zero_where(g: Any, product: Any) -> Any:
    """Returns a product with the cotangent, and 0 where the cotangent is 0 although the slope may be infinite."""
    if math.isfinite(product.sum().item()):
        return product
    return aten("threshold_backward")(product, g.abs(), 0)


def _rsqrt_vjp(g: Any, y: Any) -> Any:
    cube = y.pow(3)
    return _zero_where(g, torch().addcmul(g.new_zeros(()), cube, g, value=-0.5, out=cube))


def _abs_vjp(g: Any, x: Any) -> Any:
    """Multiplies by the sign of `x`: NaN for NaN, of which PyTorch's sign is 0."""
    sign = torch().sign(x)
    if not math.isfinite(x.sum().item()):
        sign = torch().where(x.isnan(), x, sign)
    return sign.mul_(g)


def _relu_vjp(g: Any, y: Any) -> Any:
    """Returns the cotangent where `y` is positive; PyTorch's kernel would also return it where `y` is NaN."""
    t = torch()
    y = y.nan_to_num(0.0) if math.isnan(t.amin(y).item()) else y
    return aten("threshold_backward")(g, y, 0)


def _log_sigmoid_vjp(g: Any, x: Any) -> Any:
    """PyTorch's kernel for the host needs a buffer of the forward pass, which that for a GPU does not read."""
    if x.is_cuda:
        return aten("log_sigmoid_backward")(g, x, x)
    return aten("softplus_backward")(g, -x, 1.0, 40.0)


@cache
def fused_vjps() -> dict[str, tuple[tuple[str, ...], Callable[..., Any]]]:
    """The derivatives of unary ops in one pass or a few: the residuals' names, and `f(cotangent, *residuals)`."""
    t = torch()
    softplus = aten("softplus_backward")
    return {
        "abs": (("x",), _abs_vjp),
        "log": (("x",), t.div),
        "log_sigmoid": (("x",), _log_sigmoid_vjp),
        "relu": (("y",), _relu_vjp),
        "sigmoid": (("y",), aten("sigmoid_backward")),
        "silu": (("x",), aten("silu_backward")),
        "softplus": (("x",), lambda g, x: softplus(g, x, 1.0, 40.0)),
        "tanh": (("y",), aten("tanh_backward")),
        "rsqrt": (("y",), _rsqrt_vjp),
        "sqrt": (("y",), lambda g, y: _zero_where(g, t.addcdiv(g.new_zeros(()), g, y, value=0.5))),
    }


def forward_kernel(name: str, formula: _Formula, arity: int) -> Callable[..., Any] | None:
    """Returns an op's kernel on NumPy arrays of the dtypes `thresholds.DTYPES`; None if PyTorch has none.

    The kernel returns None for arrays that PyTorch cannot read.
    """
    if name in _SLOWER_ON_HOST or (name in _SLOWER_UNLESS_HALF and not _is_half(formula)) or not can_import():
        return None
    function = IN_STEPS.get(name) or fused_kernels().get(name) or compile_steps(formula)
    if function is _erf and formula is not None and formula.inputs[0].dtype == np.float32:
        return None  # NumPy computes it in half of the time
    return None if function is None else on_arrays(function, arity)


def _is_half(formula: _Formula) -> bool:
    return formula is not None and formula.inputs[0].dtype == np.float16


def vjp_kernel(name: str, residuals: tuple[str, ...], formula: _Formula) -> Callable[..., Any] | None:
    """Returns the product of the cotangent and a partial derivative as a kernel `f(cotangent, *residuals)`."""
    if (name in _SLOWER_VJPS_UNLESS_HALF and not _is_half(formula)) or not can_import():
        return None
    names, fused = fused_vjps().get(name, ((), None))
    function = VJPS_IN_STEPS.get(name) or (fused if fused is not None and names == residuals else None)
    function = function or compile_steps(formula)
    return None if function is None else on_arrays(function, 1 + len(residuals))


def compile_steps(formula: _Formula) -> Callable[..., Any] | None:
    """Compiles a formula to calls of PyTorch's functions; None if a step has no counterpart.

    The program addresses values by position: first the inputs, then the constants, then the steps' outputs. Symbols
    are compared by identity, because `==` adds a step to their formula.
    """
    if formula is None or not formula.steps:
        return None
    functions = [_function(step) for step in formula.steps]
    if None in functions:
        return None
    pairs = list(zip(functions, formula.steps, strict=True))
    symbols = {id(x) for x in formula.inputs} | {id(step.output) for step in formula.steps}
    numbers = {id(x): _number(function, x) for function, step in pairs for x in step.inputs if id(x) not in symbols}
    order = [*map(id, formula.inputs), *numbers, *[id(step.output) for step in formula.steps]]
    position = {key: i for i, key in enumerate(order)}
    steps: list[Any] = [(function, [position[id(x)] for x in step.inputs]) for function, step in pairs]
    if len(steps) == 1 and not numbers and steps[0][1] == list(range(len(formula.inputs))):
        return steps[0][0]
    constants, result = list(numbers.values()), position[id(formula.result)]

    def run(*tensors: Any) -> Any:
        known = [*tensors, *constants]
        for function, inputs in steps:
            known.append(function(*[known[i] for i in inputs]))
        return known[result]

    return run


def _function(step: Any) -> Callable[..., Any] | None:
    """Returns PyTorch's counterpart of a step's function."""
    if step.function is np.ndarray.astype:
        t = torch()
        dtype = {"e": t.float16, "f": t.float32, "d": t.float64, "?": t.bool}.get(step.attrs["dtype"].char)
        return None if dtype is None else lambda x: x.to(dtype)
    if step.attrs:
        return None
    name = step.function.__name__
    if name in ("sinh", "cosh"):
        return _with_large(name)
    return getattr(torch(), RENAMED.get(name, name)) if name in _FUNCTIONS else _OPERATORS.get(step.function)


def _number(function: Callable[..., Any] | None, value: np.generic) -> Any:
    """Returns a number as an operand: a Python number for operators, a scalar tensor for functions."""
    if function in _OPERATORS.values():
        return value.item()
    return torch().tensor(float(value) if value.dtype.kind == "V" else value)  # PyTorch reads no bfloat16 of NumPy
