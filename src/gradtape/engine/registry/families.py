"""The op families: each derives vjp, jvp, batching and broadcasting from a kernel and its partial derivatives.

- elementwise: y[i] = f(a[i], b[i], ...); a partial derivative for each argument
- linear:      y = A x; the transpose is an op
- bilinear:    y = B(a, b); each transpose is a contraction of the cotangent with the other argument
- reduction:   y = f(x along axes); the weight of each element of x in y
- opaque:      custom rules beside the kernel
- constant:    the derivative is zero mathematically, or does not exist

The families and the sweep handle conjugation, broadcasting, dtype checks and which inputs need gradients; rules never
do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...backends.arrays import kind_of
from ...core import dtypes
from ...core.protocols import Attrs, Operand, OpNamespace, Tensors
from ...core.tensor import Tensor
from ..run import dispatch
from ..run.dispatch import run
from ..run.namespace import ops
from .batching import broadcast_batch
from .devices import device_first
from .elementwise import NEG, ONE, Mask, ZeroWins, elementwise, unbroadcast
from .examples import Rows, rows_beside_axis
from .op import Op, Sample, SingleInputRule, compile_vjp, keep_residual, match_dtypes, wire
from .rules import Residuals, compile_rule, parameters
from .shape_rules import ShapeRule, reduced_shape

__all__ = [
    "NEG", "ONE", "Mask", "QuotientWeight", "ZeroWins", "bilinear", "conjugate", "constant", "elementwise", "linear",
    "no_rule", "opaque", "reduction", "shift_axes", "unbroadcast",
]  # fmt: skip


_ON_ARRAYS = dtypes.BOOL | dtypes.INT | dtypes.FLOAT | dtypes.COMPLEX  # kinds of dtype without special semantics


def linear(
    name: str,
    kernel: Callable[..., Any],
    *,
    transpose: Callable[..., Any] | None,
    shift: Callable[..., dict[str, Any]] | None = None,
    batch: Callable[..., Any] | None = None,
    rows: Rows | None = None,
    shape: ShapeRule | None = None,
    samples: Sequence[Sample],
    on: int = dtypes.ANY,
    moves_data: bool = True,
    never_aliases: bool = False,
) -> Op:
    """`y = A x`, linear in the first argument, or in all of `*xs`; further arguments are constants, such as indices.

    `transpose(m, g, <names>)` is the cotangent of the first argument (a tuple of cotangents for `*xs`).
    `shift(attrs, size)` rewrites the attributes for a leading batch axis; where that is not enough, `batch` is a rule.
    `rows` says how the op treats rows that belong to examples: see `examples.py`.
    """
    op = Op(name, kernel, family="linear", samples=samples, rules=(transpose,), kinds=on, moves_data=moves_data)
    op.shape_rule = shape
    op.never_aliases = never_aliases
    if transpose is not None:
        wire(op, transpose, constants=0 if op.variadic else len(op.args) - 1)

    def jvp(m: OpNamespace, inputs: Tensors, y: Tensor, attrs: Attrs, ts: Sequence[Tensor | None]) -> Any:
        if op.variadic:
            return op(*[m.zeros_like(x) if t is None else t for x, t in zip(inputs, ts, strict=True)], **attrs)
        return None if ts[0] is None else op(ts[0], *inputs[1:], **attrs)

    op.jvp = jvp if transpose is not None else None
    if shift is not None:

        def batch_by_shift(m: OpNamespace, size: int, inputs: Tensors, flags: Sequence[bool], attrs: Attrs) -> Any:
            if any(flags[1:]) and not op.variadic:
                return NotImplemented
            whole = [broadcast_batch(m, x, flag, size) for x, flag in zip(inputs, flags, strict=True)]
            if not op.variadic:
                whole[1:] = inputs[1:]
            return op(*whole, **shift(attrs, size))

        op.batch = batch_by_shift
    if batch is not None:
        op.batch = batch
    op.rows = rows_beside_axis if rows is None and shift is shift_axes else rows
    return _with_fast_path(op).publish()


def _with_fast_path(op: Op) -> Op:
    """Gives an op of one argument its own runner."""
    if len(op.args) == 1 and not op.variadic:
        op.call = dispatch.fast_path(op, 1, "general", op.kinds & _ON_ARRAYS, device_first(op, op.run))
    return op


def bilinear(
    name: str,
    kernel: Callable[..., Any],
    *,
    da: Callable[..., Any],
    db: Callable[..., Any],
    batch: Callable[..., Any] | None = None,
    rows: Rows | None = None,
    never_aliases: bool = False,
    shape: ShapeRule | None = None,
    samples: Sequence[Sample],
    on: int = dtypes.NUMERIC,
) -> Op:
    """`y = B(a, b)` with the transposes `da(m, g, b, <names>)` and `db(m, g, a, <names>)`; conjugation is automatic."""
    op = Op(name, kernel, family="bilinear", samples=samples, rules=(da, db), kinds=on)
    op.shape_rule = shape
    op.never_aliases = never_aliases
    residuals = Residuals(op.args, [da, db])
    op.defer("keep", residuals.keeper)
    op.kept = residuals.names
    op.defer("keep_both", partial(residuals.keeper_of_plain, (da, db)))

    names: dict[str, Any] = {"da": da, "db": db, "conj": conjugate, "single": np.dtype(np.float32)}

    def cotangent(f: Callable[..., Any], arrays: str) -> str:
        texts = []
        for n in parameters(f):
            value = residuals.lookup(n, arrays)
            # Most values are real float32, for which the call of `conj` is skipped.
            conjugated = f"x if (x := {value}).dtype is single else conj(m, x)"
            texts.append(f"{n}=({conjugated})" if n in op.args else f"{n}={value}")
        return f"{'da' if f is da else 'db'}({', '.join(texts)})"

    def both(arrays: str) -> Any:
        first, second = (f"{cotangent(f, arrays)} if parents[{i}] >= 0 else None" for i, f in enumerate((da, db)))
        return compile_vjp(name, residuals, arrays, f"({first}, {second})", **names)

    def alone(f: Callable[..., Any], arrays: str) -> Any:
        return compile_rule("m, g, s", cotangent(f, arrays), **names)

    op.defer_vjp(both)
    op.first, op.second = SingleInputRule(op, 0), SingleInputRule(op, 1)
    for one, f in ((op.first, da), (op.second, db)):
        one.defer("keep", partial(residuals.keeper_of_plain, (f,)))
        one.defer_vjp(partial(alone, f))

    def jvp(m: OpNamespace, inputs: Tensors, y: Tensor, attrs: Attrs, ts: Sequence[Tensor | None]) -> Any:
        (a, b), (ta, tb) = inputs, ts
        terms = [op(*pair, **attrs) for pair, t in (((ta, b), ta), ((a, tb), tb)) if t is not None]
        return sum(terms[1:], terms[0]) if terms else None

    def other(a: Any, b: Any, **attrs: Any) -> Any:
        try:
            inputs = match_dtypes(op, (a, b), (0, 1))
        except (TypeError, ValueError) as error:
            return dispatch.delegate_to_operands(op, (a, b), error)
        return run(op, inputs, attrs)

    op.jvp = jvp
    op.batch = batch
    op.rows = rows
    op.call = dispatch.fast_path(op, 2, "product", op.kinds & ~dtypes.NARROW, device_first(op, other))
    return op.publish()


def conjugate(m: OpNamespace, x: Operand) -> Any:
    is_complex = getattr(x.dtype, "is_complex", None)  # of tensors, and of PyTorch
    return m.conj(x) if (kind_of(x) == "c" if is_complex is None else is_complex) else x


def shift_axes(attrs: Attrs, size: int) -> dict[str, Any]:
    """Shifts the attribute `axis` for a value with an additional leading axis."""
    axis = attrs["axis"]
    moved = tuple(i + 1 if i >= 0 else i for i in axis) if isinstance(axis, tuple) else axis + 1 if axis >= 0 else axis
    return {**attrs, "axis": moved}


class QuotientWeight(NamedTuple):
    """A real weight, `part / total`: dividing the cotangent by the total, which is reduced, takes one pass less.

    The part is a new array, which the rule may overwrite.
    """

    part: Any
    total: Any


def reduction(
    name: str,
    kernel: Callable[..., Any],
    *,
    weight: Callable[..., Any],
    product: Callable[..., Any] | None = None,
    samples: Sequence[Sample],
    on: int = dtypes.FLOATING,
    domain: tuple[float, float] = (-2.0, 2.0),
) -> Op:
    """`y = f(x)` along `axis` (a tuple), with `keepdims`; `weight(m, x, y, axis)` is dy/dx for each element of x.

    The weight receives `y` with the reduced axes kept as size 1. It may be a `QuotientWeight`. `product(g, x, axis)` is
    that of the cotangent and the weight, computed at once, of NumPy arrays; None for what it does not cover.
    """
    op = Op(name, kernel, family="reduction", samples=samples, rules=(weight,), kinds=on, domain=domain)
    op.shape_rule = reduced_shape
    given = ", ".join(f"{name}={name}" for name in parameters(weight))
    weigh = compile_rule("m, x, y, axis", f"weight({given})", weight=weight)

    def weights(m: OpNamespace, x: Operand, y: Operand, axis: tuple[int, ...]) -> Any:
        kept = tuple([1 if i in axis else n for i, n in enumerate(x.shape)])
        return kept, weigh(m, x, m.reshape(y, shape=kept), axis)

    def vjp(m: OpNamespace, g: Operand, x: Operand, y: Operand, axis: tuple[int, ...]) -> Any:
        found = product(g, x, axis) if product is not None and type(x) is type(g) is np.ndarray else None
        if found is not None:
            return found
        kept, w = weights(m, x, y, axis)
        g = m.reshape(g, shape=kept)
        if type(w) is not QuotientWeight:
            return g * conjugate(m, w)
        parts = w.part
        parts *= g / w.total
        return parts

    def jvp(m: OpNamespace, inputs: Tensors, y: Tensor, attrs: Attrs, ts: Sequence[Tensor | None]) -> Any:
        if ts[0] is None:
            return None
        _, w = weights(m, inputs[0], y, attrs["axis"])
        w = w.part / w.total if type(w) is QuotientWeight else w
        return ops.sum(ts[0] * w, axis=attrs["axis"], keepdims=attrs.get("keepdims", False))

    wire(op, vjp)
    op.jvp = jvp
    op.batch = lambda m, size, inputs, flags, attrs: op(inputs[0], **shift_axes(attrs, size))
    return _with_fast_path(op).publish()


def opaque(
    name: str,
    kernel: Callable[..., Any],
    *,
    vjp: Callable[..., Any] | None,
    jvp: Callable[..., Any] | None = None,
    batch: Callable[..., Any] | None = None,
    rows: Rows | None = None,
    shape: ShapeRule | None = None,
    samples: Sequence[Sample],
    on: int = dtypes.ANY,
    moves_data: bool = False,
    random: bool = False,
    shaped_by_values: bool = False,
    never_aliases: bool = False,
    domain: tuple[float, float] = (-2.0, 2.0),
) -> Op:
    """An op with custom rules.

    `vjp(m, g, need, <names>)` returns one cotangent per argument (a bare cotangent for a single argument); it may be
    None, or `no_rule(reason)`. Without `jvp(m, inputs, outputs, attrs, tangents)` forward mode transposes the vjp,
    without `batch(m, size, inputs, flags, attrs)` a vectorized call is a loop. The kernel of an op that `never_aliases`
    allocates what it returns, unless that is empty: an executor may overwrite it.
    """
    op = Op(
        name, kernel, family="opaque", samples=samples, rules=(vjp, jvp), kinds=on,
        moves_data=moves_data, random=random, shaped_by_values=shaped_by_values, domain=domain,
    )  # fmt: skip
    op.shape_rule = shape
    op.never_aliases = never_aliases
    if vjp is not None:
        wire(op, vjp)
        op.backward_may_raise = hasattr(vjp, "missing")
    op.jvp = jvp
    op.batch = batch
    op.rows = rows
    op.call = keep_residual(_with_fast_path(op))
    return op.publish()


def constant(
    name: str,
    kernel: Callable[..., Any],
    *,
    shape: ShapeRule | None = None,
    samples: Sequence[Sample],
    batch: Callable[..., Any] | None = None,
    on: int = dtypes.ANY,
    moves_data: bool = False,
    shaped_by_values: bool = False,
    detaches: bool = False,
) -> Op:
    """An op whose result is not differentiable in its inputs: gradients stop here and are None.

    The result itself may be a source of gradients, unless the op `detaches` it from tapes.
    """
    op = Op(
        name, kernel, family="constant", samples=samples, kinds=on, moves_data=moves_data,
        shaped_by_values=shaped_by_values,
    )  # fmt: skip
    op.shape_rule = shape
    op.batch = batch
    op.detaches = detaches
    return op.publish()


def no_rule(reason: str) -> Callable[..., Any]:
    """Returns a vjp that raises LookupError with the reason, for an op without a gradient in TensorFlow."""

    def vjp(m: OpNamespace, g: Operand) -> Any:
        raise LookupError(f"gradient registry has no entry for: {reason}")

    vjp.missing = True  # type: ignore[attr-defined]
    return vjp
