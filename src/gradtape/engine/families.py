"""The families own the algebra: from a kernel and its partials follow vjp, jvp, batching and broadcasting.

- elementwise: y[i] = f(a[i], b[i], ...); a partial for each argument
- linear:      y = A x; the transpose is an op
- bilinear:    y = B(a, b); each transpose is a contraction of the cotangent with the other argument
- reduction:   y = f(x along axes); the weight of each element of x in y
- opaque:      rules of its own beside the kernel
- constant:    the derivative is zero by mathematics, or does not exist

Conjugates, broadcasting, dtype checks and "who asks for a gradient" live here and in the walk, never in a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy import broadcast_shapes, copyto, empty, multiply, ndarray

from .. import dtypes
from ..dtypes import DType
from ..tensor import Tensor, wrap
from . import blocks, dispatch
from .blocks import LARGE
from .convert import readable, to_tensor
from .dispatch import run, thread
from .op import Op, Sample, Saved, compile_rule, kernel_arguments, ops, parameters, sample, wire

_new = object.__new__
_PLAIN = dtypes.BOOL | dtypes.INT | dtypes.FLOAT

ONE = "g"
NEG = "-g"


class Mask:
    """A partial that is 1 where the formula is true and 0 elsewhere: it selects, so a dead branch is 0 even for g = inf."""

    def __init__(self, formula: Callable[..., Any]) -> None:
        self.formula = formula


class ZeroWins:
    """A partial that may be infinite: an incoming cotangent of exactly 0 stays 0."""

    def __init__(self, formula: Callable[..., Any]) -> None:
        self.formula = formula


def _formula(partial: Any) -> Any:
    return partial.formula if isinstance(partial, Mask | ZeroWins) else partial


def _product(i: int, partial: Any, saved: Saved, arrays: bool, conjugate: bool) -> str:
    """Source code for the cotangent `g` times partial number `i`."""
    if partial is None or isinstance(partial, str):
        return str(partial)
    call = saved.call(f"p{i}", _formula(partial), arrays)
    if "g" in parameters(_formula(partial)):
        return call
    if isinstance(partial, Mask):
        return f"m.masked({call}, g)"
    if conjugate:
        call = f"m.conj({call})"
    return f"m.multiply_no_nan({call}, g)" if isinstance(partial, ZeroWins) else f"g * {call}"


def unbroadcast(m: Any, g: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of an argument of `shape` that was broadcast: summed over the axes it was stretched along."""
    given = tuple(g.shape)
    if given == shape:
        return g
    extra = len(given) - len(shape)
    stretched = tuple(i + extra for i, n in enumerate(shape) if n == 1 and given[i + extra] != 1)
    axes = (*range(extra), *stretched)
    return m.reshape(m.sum(g, axis=axes, keepdims=False) if axes else g, shape=shape)


def _shapes(inputs: Sequence[Any]) -> tuple[tuple[int, ...], ...] | None:
    """The inputs' shapes, or None when they are all the same and nothing is broadcast."""
    shapes = tuple(x.dims for x in inputs)
    return None if all(shape == shapes[0] for shape in shapes) else shapes


def elementwise(
    name: str,
    kernel: Any,
    *,
    args: str | None = None,
    on: int = dtypes.FLOATING,
    same: Sequence[int] | None = None,
    domain: tuple[float, float] = (-2.0, 2.0),
    samples: Sequence[Sample] = (),
    kinks: bool = False,
    to: DType | None = None,
    otherwise: Callable[..., Any] | None = None,
    **partials: Any,
) -> Op:
    """`y[i] = f(a[i], b[i], ...)`. The partial `d<arg>` may name `m`, `y`, any argument and any attribute.

    A partial is a formula, `ONE`, `NEG`, a `Mask`, `ZeroWins`, or None for an argument without a derivative; a formula
    that names `g` is not the partial but its product with the cotangent `g`. `args`
    names the arguments where the kernel is an operator or a function of the array module; `on` says which kinds of
    dtype the op takes, `same` which arguments must agree in dtype (all, unless told), `to` the result's dtype.
    `otherwise` is asked first about values that are not plain tensors of these kinds; it may return NotImplemented.
    """
    if args is None:
        names, attrs = kernel_arguments(kernel)
    else:
        names, attrs = tuple(args.split()), ()
    if set(partials) != {f"d{a}" for a in names}:
        raise TypeError(f"{name}: needs the partials {[f'd{a}' for a in names]}, got {sorted(partials)}")
    ordered = [partials[f"d{a}"] for a in names]
    shapes: Any = ((3, 4), (4,), ())
    op = Op(
        name, kernel, family="elementwise", args=names, kinds=on, domain=domain, kinks=kinks,
        samples=samples or [sample(*shapes[: len(names)])],
    )  # fmt: skip
    op.inert = tuple(i for i, partial in enumerate(ordered) if partial is None)
    matching = tuple(range(len(names))) if same is None else tuple(same)
    op.twin = twin = _differentiate_elementwise(op, ordered)
    op.batch = _batch_elementwise(op)

    def general(*values: Any, **attributes: Any) -> Any:
        try:
            if otherwise is not None:
                result = otherwise(*values)
                if result is not NotImplemented:
                    return result
            inputs = _matched(op, values, matching)
        except (TypeError, ValueError) as error:
            return dispatch.left_to_other(op, values, error)
        is_complex = any(x.dtype.is_complex for x in inputs)
        return run(twin if is_complex and twin is not None else op, inputs, attributes)

    if attrs or len(names) > 2 or len(matching) != len(names):
        op.call = general
    else:
        op.call = (_unary if len(names) == 1 else _binary)(op, general, to)
    return op.publish()


def _differentiate_elementwise(op: Op, partials: list[Any]) -> Op | None:
    """Gives `op` its rules; returns its twin for complex values, whose partials are conjugated."""
    if all(p is None for p in partials):
        return None
    formulas = [_formula(p) for p in partials if callable(_formula(p))]
    saved = Saved(op.args, formulas)
    names = {f"p{i}": _formula(p) for i, p in enumerate(partials)}
    several = len(partials) > 1

    def keeper() -> Any:
        keep = saved.keeper()
        return (lambda xs, y, attrs: (*keep(xs, y, attrs), _shapes(xs))) if several else keep

    op.defer("keep", keeper)
    if len(op.args) < 3:
        for i, attribute in enumerate(("keep_quiet", "keep_first", "keep_second")[: 2 * len(op.args) - 1]):
            op.defer(attribute, lambda i=i: _quiet_keepers(op, saved, partials)[i])

    def pull(arrays: bool, conjugate: bool) -> Any:
        products = [_product(i, p, saved, arrays, conjugate) for i, p in enumerate(partials)]
        asked = [f"({text}) if parents[{i}] >= 0 else None" for i, text in enumerate(products)] if several else products
        result = f"narrowed(m, s[-1], ({', '.join(asked)},))" if several else f"({products[0]},)"
        if not arrays:
            return compile_rule(f"lambda m, g, s, parents: {result}", narrowed=_narrowed, **names)
        large = _pull_large(saved, partials, names, conjugate)
        source = f"lambda m, g, s, parents: {result} if type(g) is not ndarray or g.size < {LARGE} else large(m, g, s, parents)"
        return compile_rule(source, narrowed=_narrowed, large=large, ndarray=ndarray, **names)

    op.defer("pull", lambda: pull(False, False))
    op.defer("pull_raw", lambda: pull(True, False))

    def pusher() -> Any:
        tangents = [
            None if p is None else compile_rule(f"lambda m, g, s: {_product(i, p, saved, False, False)}", **names)
            for i, p in enumerate(partials)
        ]

        def push(m: Any, inputs: Any, y: Any, attrs: Any, ts: Any) -> Any:
            s = op.keep(inputs, y, attrs)
            terms = [f(m, t, s) for f, t in zip(tangents, ts, strict=True) if f is not None and t is not None]
            if not terms:
                return None
            total = sum(terms[1:], terms[0])
            return total if tuple(total.shape) == y.dims else m.broadcast_to(total, shape=y.dims)

        return push

    op.defer("push", pusher)
    if not op.kinds & dtypes.COMPLEX:
        return None
    twin = _new(Op)
    vars(twin).update(vars(op))
    twin.defer("pull", lambda: pull(False, True))
    twin.defer("pull_raw", lambda: pull(True, True))
    twin.batch = _batch_elementwise(twin)
    return twin


def _pull_large(saved: Saved, partials: list[Any], names: dict[str, Any], conjugate: bool) -> Any:
    """`pull_raw` for large arrays: each product is computed on all cores."""
    tensors = [i for i, name in enumerate(saved.names) if saved.is_tensor(name)]
    unpacked = ", ".join(["g", *(f"a{i}" for i in tensors), "out"])
    formulas = []
    for i, partial in enumerate(partials):
        text = _product(i, partial, saved, True, conjugate)
        for k in tensors:
            text = text.replace(f"s[{k}].array", f"a{k}")
        # The last product of `g * ...` is written straight to where it belongs.
        written = f"multiply(g, {text[4:]}, out)" if text.startswith("g * ") else f"copyto(out, {text})"
        trivial = partial is None or partial == ONE
        rule = f"lambda m, s: lambda {unpacked}: {written}"
        formulas.append(None if trivial else compile_rule(rule, multiply=multiply, copyto=copyto, **names))

    def pull(m: Any, g: Any, s: tuple[Any, ...], parents: tuple[int, ...]) -> tuple[Any, ...]:
        # An argument that no cotangent asked for needs was not kept; its place is taken by what is at hand.
        arrays = (g, *(g if s[k] is None else s[k].array for k in tensors))
        cotangents: list[Any] = []
        for parent, partial, formula in zip(parents, partials, formulas, strict=True):
            if parent < 0 or partial is None:
                cotangents.append(None)
            elif formula is None:
                cotangents.append(g)
            else:
                run = formula(m, s)
                value = blocks.run(run, arrays, g.dtype)
                if value is None:
                    value = empty(broadcast_shapes(*(a.shape for a in arrays)), g.dtype)
                    run(*arrays, value)
                cotangents.append(value)
        return _narrowed(m, s[-1], tuple(cotangents)) if len(partials) > 1 else tuple(cotangents)

    return pull


def _narrowed(m: Any, shapes: Any, cotangents: tuple[Any, ...]) -> tuple[Any, ...]:
    if shapes is None:
        return cotangents
    return tuple(
        None if g is None else unbroadcast(m, g, shape) for g, shape in zip(cotangents, shapes, strict=True)
    )


def _quiet_keepers(op: Op, saved: Saved, partials: list[Any]) -> list[Any]:
    """`keep` for the quiet case, where inputs are arguments and known to be plain tensors.

    For two arguments there are three: both are on the tape, the first is, the second is. What only the partial of an
    argument that is not on the tape needs is not kept.
    """
    needs = [set() if _formula(p) is None or isinstance(p, str) else set(parameters(_formula(p))) for p in partials]

    def keeper(wanted: set[str]) -> Any:
        fields = "".join(f"{name if name in wanted else None}, " for name in saved.names)
        if len(op.args) == 1:
            return compile_rule(f"lambda {op.args[0]}, y: ({fields})")
        a, b = op.args
        shapes = f"None if (sa := {a}.array.shape) == (sb := {b}.array.shape) else (sa, sb)"
        return compile_rule(f"lambda {a}, {b}, y: ({fields} {shapes},)")

    return [keeper(needs[0])] if len(needs) == 1 else [keeper(needs[0] | needs[1]), keeper(needs[0]), keeper(needs[1])]


def _unary(op: Op, general: Any, to: DType | None) -> Any:
    kernel, kinds, recorded = op.numpy, op.kinds & _PLAIN, op.pull is not None
    kernel_into = blocks.into(kernel)

    def call(x: Any) -> Any:
        if type(x) in readable:
            x = x._as_tensor()
        if type(x) is not Tensor or not x.dtype.kind & kinds:
            return general(x)
        array = x.array
        value = None
        if type(array) is ndarray and array.size >= LARGE:
            value = blocks.run(kernel_into, (array,), (to or x.dtype).numpy)
        y = _new(Tensor)
        y.array = kernel(array) if value is None else value
        y.dtype = to or x.dtype
        y.mark = None
        if recorded and x.mark is not None:
            recorder = thread.recorder
            if recorder is not None:
                recorder.unary(op, x, y)
        return y

    return call


def _binary(op: Op, general: Any, to: DType | None) -> Any:
    kernel, kinds, recorded = op.numpy, op.kinds & _PLAIN, op.pull is not None
    kernel_into = blocks.into(kernel)

    def call(a: Any, b: Any) -> Any:
        if type(a) is not Tensor or type(b) is not Tensor:
            a, b = _read_both(a, b)
            if type(a) is not Tensor or type(b) is not Tensor:
                return general(a, b)
        if a.dtype is not b.dtype or not a.dtype.kind & kinds:
            return general(a, b)
        first, second = a.array, b.array
        value = None
        try:
            if type(first) is ndarray and first.size >= LARGE:
                value = blocks.run(kernel_into, (first, second), (to or a.dtype).numpy)
            if value is None:
                value = kernel(first, second)
        except ValueError as error:
            raise dispatch.failure(op, (a, b), error) from None
        y = _new(Tensor)
        y.array = value
        y.dtype = to or a.dtype
        y.mark = None
        if recorded and (a.mark is not None or b.mark is not None):
            recorder = thread.recorder
            if recorder is not None:
                recorder.binary(op, a, b, y)
        return y

    return call


def _read_both(a: Any, b: Any) -> tuple[Any, Any]:
    """Variables as their values, and a Python number beside a tensor of floats as a tensor; others as they are."""
    if type(a) in readable:
        a = a._as_tensor()
    if type(b) in readable:
        b = b._as_tensor()
    if type(a) is Tensor:
        if (type(b) is float or type(b) is int) and a.dtype.kind == dtypes.FLOAT:
            b = wrap(a.dtype.as_numpy_dtype(b), a.dtype)
    elif type(b) is Tensor and (type(a) is float or type(a) is int) and b.dtype.kind == dtypes.FLOAT:
        a = wrap(b.dtype.as_numpy_dtype(a), b.dtype)
    return a, b


def _matched(op: Op, values: Sequence[Any], matching: tuple[int, ...]) -> list[Tensor]:
    """The values as tensors; those at `matching` agree in dtype, and Python numbers follow the first tensor."""
    hint: DType | None = None
    for i in matching:
        if isinstance(values[i], Tensor) or hasattr(values[i], "_as_tensor"):
            hint = values[i].dtype
            break
    inputs: list[Tensor] = []
    for i, value in enumerate(values):
        if i not in matching:
            inputs.append(to_tensor(value))
            continue
        if hint is None or isinstance(value, Tensor) or hasattr(value, "_as_tensor"):
            x = to_tensor(value)
        else:
            x = to_tensor(value, dtype=hint)
        if hint is None:
            hint = x.dtype
        elif x.dtype is not hint:
            raise dispatch.mixed_dtypes(op, i, hint, x.dtype)
        if not x.dtype.kind & op.kinds:
            raise dispatch.wrong_kind(op, x.dtype)
        inputs.append(x)
    return inputs


def _batch_elementwise(op: Op) -> Any:
    def batch(m: Any, size: int, inputs: Any, flags: Any, attrs: Any) -> Any:
        rank = max(len(x.dims) - flag for x, flag in zip(inputs, flags, strict=True))
        aligned = []
        for x, flag in zip(inputs, flags, strict=True):
            missing = rank + 1 - len(x.dims)
            if flag and missing:
                x = m.reshape(x, shape=(x.dims[0], *(1,) * missing, *x.dims[1:]))
            aligned.append(x)
        return run(op, aligned, attrs)

    return batch


def linear(
    name: str,
    kernel: Any,
    *,
    transpose: Callable[..., Any] | None,
    shift: Callable[..., dict[str, Any]] | None = None,
    batch: Callable[..., Any] | None = None,
    samples: Sequence[Sample],
    on: int = dtypes.ANY,
    moves_data: bool = True,
    domain: tuple[float, float] = (-2.0, 2.0),
) -> Op:
    """`y = A x`, linear in the first argument, or in all of `*xs`; further arguments are constants, such as indices.

    `transpose(m, g, <names>)` is the cotangent of the first argument (a tuple of cotangents for `*xs`).
    `shift(attrs, size)` rewrites the attributes for a leading batch axis; where that is not enough, `batch` is a rule.
    """
    args, _ = kernel_arguments(kernel)
    op = Op(name, kernel, family="linear", args=args, samples=samples, kinds=on, moves_data=moves_data, domain=domain)
    if transpose is not None:
        constants = len(args) - 1
        if op.variadic or not constants:
            wire(op, transpose)
        else:
            wire(op, _with_constants(transpose, constants))

    def push(m: Any, inputs: Any, y: Any, attrs: Any, ts: Any) -> Any:
        if op.variadic:
            return op(*[m.zeros_like(x) if t is None else t for x, t in zip(inputs, ts, strict=True)], **attrs)
        return None if ts[0] is None else op(ts[0], *inputs[1:], **attrs)

    op.push = push if transpose is not None else None
    if shift is not None:

        def batch_by_shift(m: Any, size: int, inputs: Any, flags: Any, attrs: Any) -> Any:
            if any(flags[1:]) and not op.variadic:
                return NotImplemented
            spread = [x if f else m.broadcast_to(x, shape=(size, *x.dims)) for x, f in zip(inputs, flags, strict=True)]
            if not op.variadic:
                spread[1:] = inputs[1:]
            return op(*spread, **shift(attrs, size))

        op.batch = batch_by_shift
    if batch is not None:
        op.batch = batch
    return op.publish()


def _with_constants(transpose: Any, constants: int) -> Any:
    """A rule for all arguments from one for the first."""
    names = ", ".join(parameters(transpose))
    call = ", ".join(f"{n}={n}" for n in parameters(transpose))
    return compile_rule(f"lambda {names}: (transpose({call}), {'None, ' * constants})", transpose=transpose)


def bilinear(
    name: str,
    kernel: Any,
    *,
    da: Callable[..., Any],
    db: Callable[..., Any],
    batch: Callable[..., Any] | None = None,
    samples: Sequence[Sample],
    on: int = dtypes.NUMERIC,
) -> Op:
    """`y = B(a, b)`: `da(m, g, b, <names>)` and `db(m, g, a, <names>)` are the transposes; the conjugate is taken here."""
    args, _ = kernel_arguments(kernel)
    first, second = args
    op = Op(name, kernel, family="bilinear", args=args, samples=samples, kinds=on)
    saved = Saved(args, [da, db])
    op.defer("keep", saved.keeper)

    def rule(arrays: bool) -> Any:
        def call(function: str, f: Any) -> str:
            texts = []
            for n in parameters(f):
                value = saved.lookup(n, arrays)
                texts.append(f"{n}=conj(m, {value})" if n in args else f"{n}={value}")
            return f"{function}({', '.join(texts)})"

        source = (
            f"lambda m, g, s, parents: ({call('da', da)} if parents[0] >= 0 else None,"
            f" {call('db', db)} if parents[1] >= 0 else None)"
        )
        return compile_rule(source, da=da, db=db, conj=conjugate)

    op.defer("pull", lambda: rule(False))
    op.defer("pull_raw", lambda: rule(True))

    def push(m: Any, inputs: Any, y: Any, attrs: Any, ts: Any) -> Any:
        (a, b), (ta, tb) = inputs, ts
        terms = [op(*pair, **attrs) for pair, t in (((ta, b), ta), ((a, tb), tb)) if t is not None]
        return sum(terms[1:], terms[0]) if terms else None

    def call(a: Any, b: Any, **attrs: Any) -> Any:
        a, b = _read_both(a, b)
        if type(a) is not Tensor or type(b) is not Tensor or a.dtype is not b.dtype or not a.dtype.kind & kinds:
            try:
                inputs = _matched(op, (a, b), (0, 1))
            except (TypeError, ValueError) as error:
                return dispatch.left_to_other(op, (a, b), error)
            return run(op, inputs, attrs)
        try:
            y = wrap(product(a.array, b.array, **attrs), a.dtype)
        except ValueError as error:
            raise dispatch.failure(op, (a, b), error) from error
        if (a.mark is not None or b.mark is not None) and thread.recorder is not None:
            thread.recorder.record(op, (a, b), y, attrs)
        return y

    kinds, product = op.kinds & ~dtypes.NARROW, op.numpy
    op.push = push
    op.batch = batch
    op.call = call
    return op.publish()


def conjugate(m: Any, x: Any) -> Any:
    dtype = x.dtype
    return m.conj(x) if (dtype.is_complex if type(dtype) is DType else dtype.kind == "c") else x


def shift_axes(attrs: dict[str, Any], size: int) -> dict[str, Any]:
    """The attributes of an op over `axis`, for a value with one more leading axis."""
    axis = attrs["axis"]
    moved = tuple(i + 1 if i >= 0 else i for i in axis) if isinstance(axis, tuple) else axis + 1 if axis >= 0 else axis
    return {**attrs, "axis": moved}


def reduction(
    name: str,
    kernel: Any,
    *,
    weight: Callable[..., Any],
    samples: Sequence[Sample],
    on: int = dtypes.FLOATING,
    kinks: bool = False,
    domain: tuple[float, float] = (-2.0, 2.0),
) -> Op:
    """`y = f(x)` along `axis` (a tuple), with `keepdims`; `weight(m, x, y, axis)` is dy/dx for each element of x.

    The weight sees `y` with the reduced axes kept.
    """
    op = Op(name, kernel, family="reduction", args=("x",), samples=samples, kinds=on, kinks=kinks, domain=domain)
    needed = parameters(weight)

    def weights(m: Any, x: Any, y: Any, axis: tuple[int, ...]) -> Any:
        kept = tuple(1 if i in axis else n for i, n in enumerate(x.shape))
        values = {"m": m, "x": x, "y": m.reshape(y, shape=kept), "axis": axis}
        return kept, weight(**{n: values[n] for n in needed})

    def vjp(m: Any, g: Any, x: Any, y: Any, axis: Any) -> Any:
        kept, w = weights(m, x, y, axis)
        return m.reshape(g, shape=kept) * conjugate(m, w)

    def push(m: Any, inputs: Any, y: Any, attrs: Any, ts: Any) -> Any:
        if ts[0] is None:
            return None
        _, w = weights(m, inputs[0], y, attrs["axis"])
        return ops.sum(ts[0] * w, axis=attrs["axis"], keepdims=attrs.get("keepdims", False))

    wire(op, vjp)
    op.push = push
    op.batch = lambda m, size, inputs, flags, attrs: op(inputs[0], **shift_axes(attrs, size))
    return op.publish()


def opaque(
    name: str,
    kernel: Any,
    *,
    vjp: Callable[..., Any] | None,
    jvp: Callable[..., Any] | None = None,
    batch: Callable[..., Any] | None = None,
    samples: Sequence[Sample],
    on: int = dtypes.ANY,
    kinks: bool = False,
    moves_data: bool = False,
    random: bool = False,
    domain: tuple[float, float] = (-2.0, 2.0),
) -> Op:
    """An op with rules of its own.

    `vjp(m, g, need, <names>)` returns one cotangent for each argument (the bare cotangent when there is one); it may
    be None with a reason given by `missing`. Without `jvp(m, inputs, outputs, attrs, tangents)` forward mode
    transposes the vjp, without `batch(m, size, inputs, flags, attrs)` a vectorised call is a loop.
    """
    args, _ = kernel_arguments(kernel)
    op = Op(
        name, kernel, family="opaque", args=args, samples=samples, kinds=on, kinks=kinks, moves_data=moves_data,
        random=random, domain=domain,
    )  # fmt: skip
    if vjp is not None:
        wire(op, vjp)
    op.push = jvp
    op.batch = batch
    return op.publish()


def constant(
    name: str,
    kernel: Any,
    *,
    samples: Sequence[Sample],
    batch: Callable[..., Any] | None = None,
    on: int = dtypes.ANY,
    moves_data: bool = False,
    random: bool = False,
) -> Op:
    """An op whose result does not depend smoothly on its inputs: gradients stop here, and are None."""
    args, _ = kernel_arguments(kernel)
    op = Op(
        name, kernel, family="constant", args=args, samples=samples, kinds=on, moves_data=moves_data, random=random
    )
    op.batch = batch
    return op.publish()


def no_rule(reason: str) -> Callable[..., Any]:
    """A vjp for an op TensorFlow knows no gradient for either: asking for one is a LookupError that says why."""

    def vjp(m: Any, g: Any) -> Any:
        raise LookupError(f"gradient registry has no entry for: {reason}")

    return vjp
