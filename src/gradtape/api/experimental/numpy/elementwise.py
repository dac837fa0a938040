"""NumPy's elementwise functions: a table for `tf.experimental.numpy` and Keras' `keras.ops`, and the rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NamedTuple

from ....core import dtypes
from ....core.dtypes import DType
from ....core.tensor import Tensor
from ....core.type_hints import TensorLike
from ....engine.run.namespace import ops
from ...catalogue import rows
from ...catalogue.fronts import renamed
from ...namespace import resolve
from .promotion import NUMPY, PromotionPolicy, cast, floating, promoted, tensor, with_policy

NAMESPACES = ("experimental.numpy",)

Compute = Callable[..., Tensor]


class Elementwise(NamedTuple):
    """A function that converts its operands and computes with an op, or an expression on tensors."""

    name: str
    compute: str | Compute
    operands: str  # the conversion, a field of `PromotionPolicy`
    zeros: str = ""  # where a sparse result has entries: `values` and `linear` (f(0) = 0), `union` (f(0, 0) = 0), ...
    result: str = "float64"  # the dtype of the example in the docstring

    def bind(self, policy: PromotionPolicy, *parameters: str) -> FunctionType:
        """Creates the function under a policy, with other names of its parameters if given."""
        compute = getattr(ops, self.compute) if isinstance(self.compute, str) else self.compute
        template = _binary if self.is_binary else _unary
        return renamed(template(compute, getattr(policy, self.operands)), self.name, parameters)

    @property
    def is_binary(self) -> bool:
        return self.operands == "truths" or self.operands.startswith("promote")

    def publish(self) -> FunctionType:
        """Creates the function of `tf.experimental.numpy`, with types and an example."""
        function = self.bind(NUMPY)
        result, names = self.result, ("x1", "x2") if self.is_binary else ("x",)
        function.__annotations__ = {**dict.fromkeys(names, "TensorLike"), "return": "Tensor"}
        function.__module__ = __name__
        operand = "[True]" if self.operands.startswith("truth") else "[1]" if result == "int64" else "[1.0]"
        values = f"{operand}, {operand}" if self.is_binary else operand
        function.__doc__ = f"""NumPy's `{self.name}`, on tensors and whatever becomes one.

    >>> tf.experimental.numpy.{self.name}({values}).dtype
    tf.{result}
    """
        return function


def _unary(compute: Compute, convert: Callable[[TensorLike], Tensor]) -> Any:
    def function(x: TensorLike) -> Tensor:
        return compute(convert(x))

    return function


def _binary(compute: Compute, promote: Callable[..., Sequence[Tensor]]) -> Any:
    def function(x1: TensorLike, x2: TensorLike) -> Tensor:
        a, b = promote(x1, x2)
        return compute(a, b)

    return function


def on_bools(name: str, wider: DType | None = None) -> Compute:
    """Returns an op that computes with bools as 0 and 1: of bool, or of the dtype `wider` where it is given."""

    def compute(*xs: Tensor, **attributes: Any) -> Tensor:
        if not xs[0].dtype.is_bool:
            return getattr(ops, name)(*xs, **attributes)
        found = getattr(ops, name)(*(cast(x, wider or dtypes.uint8) for x in xs), **attributes)
        return found if wider else cast(found, dtypes.bool)

    return compute


def _test(op: str | Compute, otherwise: bool) -> Compute:
    """Returns a predicate on floats; its result for other dtypes is constant."""
    test: Compute = (lambda x: getattr(ops, op)(x)) if isinstance(op, str) else op

    def compute(x: Tensor) -> Tensor:
        if x.dtype.is_complex:
            return (ops.logical_and if otherwise else ops.logical_or)(test(ops.real(x)), test(ops.imag(x)))
        return test(x) if x.dtype.is_floating else _filled(x, otherwise)

    return compute


def _equal_to(infinity: float) -> Compute:
    """Returns the test for an infinity of one sign, which complex numbers do not have."""
    test = _test(lambda x: ops.equal(x, tensor(infinity, x.dtype)), False)

    def compute(x: Tensor) -> Tensor:
        if x.dtype.is_complex:
            raise TypeError(
                f"This operation is not supported for {x.dtype.name} values because it would be ambiguous: pass the "
                "real or the imaginary part"
            )
        return test(x)

    return compute


def _signbit(x: Tensor) -> Tensor:
    """The sign of a float, also of -0.0 and NaN; whether another number is negative."""
    if x.dtype.is_floating:
        return ops.signbit(x)
    return _filled(x, False) if x.dtype.is_bool else ops.less(x, ops.zeros_like(x))


def _filled(x: Tensor, value: bool) -> Tensor:
    return ops.broadcast_to(tensor(value), shape=x.dims)


is_finite, is_nan = _test("is_finite", True), _test("is_nan", False)


def _rounded(name: str) -> Compute:
    return lambda x: x if x.dtype.is_integer or x.dtype.is_bool else getattr(ops, name)(x)


def _fix(x: Tensor) -> Tensor:
    if x.dtype.is_integer or x.dtype.is_bool:
        return x
    return ops.where(ops.less(x, ops.zeros_like(x)), ops.ceil(x), ops.floor(x))


def _real(x: Tensor) -> Tensor:
    return ops.real(x) if x.dtype.is_complex else x


def _imag(x: Tensor) -> Tensor:
    return ops.imag(x) if x.dtype.is_complex else ops.zeros_like(x)


def _conj(x: Tensor) -> Tensor:
    return ops.conj(x) if x.dtype.is_complex else x


def _angle(x: Tensor) -> Tensor:
    if x.dtype.is_complex:
        return ops.angle(x)
    return ops.where(ops.is_nan(x), x, ops.where(ops.signbit(x), math.pi, ops.zeros_like(x)))


def rounded(x: Tensor, decimals: int = 0) -> Tensor:
    """Rounds to decimal places, or to tens, hundreds, ..., and half to even."""
    if x.dtype.is_complex:
        return ops.complex(rounded(ops.real(x), decimals), rounded(ops.imag(x), decimals))
    if x.dtype.is_integer and decimals < 0:
        return cast(ops.rint(floating(x) / 10**-decimals) * 10**-decimals, x.dtype)
    if not x.dtype.is_floating or not decimals:
        return ops.rint(x) if x.dtype.is_floating else x
    return ops.rint(x * 10.0**decimals) / 10.0**decimals


@with_policy
def nan_to_num(
    p: PromotionPolicy,
    x: TensorLike,
    nan: TensorLike = 0.0,
    posinf: TensorLike | None = None,
    neginf: TensorLike | None = None,
) -> Tensor:
    """Replaces NaN and infinities: by default, by the largest and the smallest number of the dtype."""
    value = p.tensor(x)
    if value.dtype.is_complex:
        return ops.complex(*(nan_to_num(part, nan, posinf, neginf) for part in (ops.real(value), ops.imag(value))))
    if not value.dtype.is_floating:
        return value
    infinite, positive = ops.is_inf(value), ops.greater(value, ops.zeros_like(value))
    high = p.tensor(value.dtype.max if posinf is None else posinf, value.dtype)
    low = p.tensor(value.dtype.min if neginf is None else neginf, value.dtype)
    finite = ops.where(infinite, ops.where(positive, high, low), value)
    return ops.where(ops.is_nan(value), p.tensor(nan, value.dtype), finite)


def replace_nan(x: Tensor, value: float) -> Tensor:
    """Replaces NaN by a number."""
    return ops.where(is_nan(x), tensor(value, x.dtype), x) if x.dtype.is_floating or x.dtype.is_complex else x


def _is_real(x: Tensor) -> Tensor:
    return ops.equal(ops.imag(x), ops.zeros_like(ops.imag(x))) if x.dtype.is_complex else _filled(x, True)


def _sinc(x: Tensor) -> Tensor:
    x = x * math.pi
    nonzero = ops.not_equal(x, ops.zeros_like(x))
    apart = ops.where(nonzero, x, ops.ones_like(x))  # keeps the gradient of the unselected branch free of NaN
    return ops.where(nonzero, ops.sin(apart) / apart, 1 - ops.square(x) / 6)


def _bits(name: str) -> Compute:
    return lambda x, *y: getattr(ops, f"logical_{name}" if x.dtype.is_bool else f"bitwise_{name}")(x, *y)


def _heaviside(a: Tensor, b: Tensor) -> Tensor:
    zero = ops.zeros_like(a)
    step = ops.where(ops.less(a, zero), zero, ops.where(ops.equal(a, zero), b, ops.ones_like(a)))
    return ops.where(ops.is_nan(a), a, step)


def _step(a: Tensor, b: Tensor) -> Tensor:
    zero = ops.zeros_like(a)
    return ops.where(ops.less(a, zero), zero, ops.where(ops.greater(a, zero), ops.ones_like(a), b))


def _logaddexp2(a: Tensor, b: Tensor) -> Tensor:
    return ops.logaddexp(a * math.log(2), b * math.log(2)) * (1 / math.log(2))


def _nextafter(a: Tensor, b: Tensor) -> Tensor:
    if not a.dtype.narrow:
        return ops.nextafter(a, b)
    # Steps through the bit patterns: floats of one sign are ordered like the integers with the same bits.
    zero, one = ops.zeros_like(a), tensor(1, dtypes.int16)
    bits, up = ops.bitcast(a, dtype=dtypes.int16), ops.greater(b, a)
    stepped = ops.where(ops.equal(up, ops.greater(a, zero)), bits + one, bits - one)
    smallest = ops.where(up, one, tensor(1 - 2**15, dtypes.int16))
    moved = ops.bitcast(ops.where(ops.equal(a, zero), smallest, stepped), dtype=a.dtype)
    return ops.where(ops.logical_or(ops.equal(a, b), ops.is_nan(a + b)), a * 0 + b, moved)


_add: Compute = lambda a, b: (ops.logical_or if a.dtype.is_bool else ops.add)(a, b)  # noqa: E731
_floor_divide, _gcd, _lcm = on_bools("floordiv", dtypes.int8), on_bools("gcd"), on_bools("lcm")


def _integral(compute: Compute) -> Compute:
    def checked(a: Tensor, b: Tensor) -> Tensor:
        if not a.dtype.is_integer:
            raise ValueError(f"Arguments to gcd must be integers, got {a.dtype.name} and {b.dtype.name}.")
        return compute(a, b)

    return checked


def without_nan(name: str) -> Compute:
    """Returns the extremum of two tensors that is NaN only where both are."""

    def compute(a: Tensor, b: Tensor) -> Tensor:
        if not a.dtype.is_floating:
            return on_bools(name)(a, b)
        first = ops.where(ops.is_nan(a), b, a)
        return getattr(ops, name)(first, ops.where(ops.is_nan(b), first, b))

    return compute


def _rows(operands: str, zeros: str = "", result: str = "float64", /, **computes: str | Compute) -> list[Elementwise]:
    return [Elementwise(name, compute, operands, zeros, result) for name, compute in computes.items()]


# The functions of both front ends: rows of the catalogue, and what is not a function of TensorFlow.
SHARED = [
    *(Elementwise(row.numpy, row.call, row.operands, row.zeros) for row in rows() if row.numpy),
    *_rows("floating", sinc=_sinc),
    *_rows("floating", "linear", deg2rad=lambda x: x * (math.pi / 180), rad2deg=lambda x: x * (180 / math.pi)),
    *_rows("real", "values", ceil=_rounded("ceil"), fabs="abs", floor=_rounded("floor")),
    *_rows("tensor", "values", abs=on_bools("abs"), absolute=on_bools("abs")),
    *_rows("tensor", "linear", conj=_conj, conjugate=_conj),
    *_rows("tensor", "", "int64", bitwise_not=lambda x: (ops.logical_not if x.dtype.is_bool else ops.invert)(x)),
    *_rows(
        "tensor", "", "bool", isfinite=is_finite, isinf=_test("is_inf", False), isnan=is_nan, isreal=_is_real,
        isneginf=_equal_to(-math.inf), isposinf=_equal_to(math.inf),
    ),
    *_rows("truth", "", "bool", logical_not="logical_not"),
    *_rows("truths", "", "bool", logical_and="logical_and", logical_or="logical_or", logical_xor="logical_xor"),
    *_rows("promote", "union", add=_add, maximum=on_bools("maximum"), minimum=on_bools("minimum")),
    *_rows("promote", floor_divide=_floor_divide),
    *_rows("promote", "", "int64", bitwise_and=_bits("and"), bitwise_or=_bits("or"), bitwise_xor=_bits("xor")),
    *_rows(
        "promote", "", "bool", equal="equal", not_equal="not_equal", less=on_bools("less", dtypes.uint8),
        less_equal=on_bools("less_equal", dtypes.uint8), greater=on_bools("greater", dtypes.uint8),
        greater_equal=on_bools("greater_equal", dtypes.uint8),
    ),
    *_rows("promote_floats", hypot="hypot", logaddexp="logaddexp", logaddexp2=_logaddexp2, nextafter=_nextafter),
]  # fmt: skip
# Keras' functions that TensorFlow lacks, or that have another formula or other parameters there.
KERAS_ROWS = [
    *_rows("floating", angle=_angle, exp2="exp2", i0="bessel_i0", log2="log2", log10="log10"),
    *_rows("floating", "values", cbrt="cbrt"),
    *_rows("tensor", "linear", imag=_imag, real=_real),
    *_rows("tensor", "values", sign=on_bools("sign"), trunc=_fix),
    *_rows("promote", fmax=without_nan("maximum"), fmin=without_nan("minimum"), gcd=_gcd, lcm=_lcm),
    *_rows("promote_floats", divide_no_nan="divide_no_nan", heaviside=_heaviside),
    *_rows("promote_numeric", fmod="truncatemod", left_shift="left_shift", right_shift="right_shift"),
]
_TENSORFLOW_ROWS = [
    *_rows("tensor", positive=lambda x: x),
    *_rows(
        "floating", cbrt=lambda x: ops.sign(x) * ops.abs(x) ** (1 / 3), exp2=lambda x: ops.exp(x * math.log(2)),
        fix=_fix, log2=lambda x: ops.log(x) / math.log(2), log10=lambda x: ops.log(x) / math.log(10),
    ),
    *_rows(
        "tensor", "", "bool", iscomplex=lambda x: ops.logical_not(_is_real(x)),
        signbit=_signbit,
    ),
    *_rows("promote", float_power="pow", power="pow", remainder="mod"),
    *_rows("promote", "", "int64", gcd=_integral(_gcd), lcm=_integral(_lcm)),
    *_rows("promote_floats", heaviside=_step),
]  # fmt: skip
_PUBLISHED = [*SHARED, *_TENSORFLOW_ROWS]
globals().update({row.name: row.publish() for row in _PUBLISHED})
__all__ = [
    *(row.name for row in _PUBLISHED), "angle", "around", "divmod", "imag", "real", "round", "sign",
]  # fmt: skip


def divmod(x1: TensorLike, x2: TensorLike) -> tuple[Tensor, Tensor]:
    """Returns the quotient rounded down, and the remainder.

    >>> [int(x) for x in tf.experimental.numpy.divmod(-7, 3)]
    [-3, 2]
    """
    a, b = promoted(x1, x2)
    return _floor_divide(a, b), ops.mod(a, b)


def around(a: TensorLike, decimals: int = 0) -> Tensor:
    """Rounds to `decimals` decimal places, and half to even.

    >>> tf.experimental.numpy.around([1.25, 2.5], 1).numpy().tolist()
    [1.2, 2.5]
    """
    return rounded(tensor(a), decimals)


def round(a: TensorLike, decimals: int = 0) -> Tensor:
    """Alias of `around`.

    >>> tf.experimental.numpy.round([1.5, 2.5]).numpy().tolist()
    [2.0, 2.0]
    """
    return rounded(tensor(a), decimals)


def sign(x: TensorLike, out: None = None, where: Any = None, **kwargs: Any) -> Tensor:
    """Returns -1, 0 or 1; for a complex number, the number of modulus 1 in its direction.

    >>> tf.experimental.numpy.sign([-2, 0]).numpy().tolist()
    [-1, 0]
    """
    given = [name for name, value in {"out": out, "where": where, **kwargs}.items() if value is not None]
    if given:
        raise ValueError(f"sign takes x alone, got {', '.join(given)}: tensors are not written into")
    return ops.sign(tensor(x))


def real(val: TensorLike) -> Tensor:
    """Returns the real part.

    >>> float(tf.experimental.numpy.real(1 + 2j))
    1.0
    """
    return _real(tensor(val))


def imag(val: TensorLike) -> Tensor:
    """Returns the imaginary part: zero if the dtype is not complex.

    >>> float(tf.experimental.numpy.imag(1 + 2j))
    2.0
    """
    return _imag(tensor(val))


def angle(z: TensorLike, deg: bool = False) -> Tensor:
    """Returns the argument of a complex number: 0 or pi for a real one.

    >>> float(tf.experimental.numpy.angle(1j, deg=True))
    90.0
    """
    angles = resolve("math.angle")(floating(z))
    return angles * (180 / math.pi) if deg else angles
