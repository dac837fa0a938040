"""The cases of the sweep for elementwise functions, reductions, linear algebra and moved elements."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from sweep_draws import ANY, REAL, WIDE, WIDE_ANY, Case, between, bound, definite, normal, positive, regular

import gradtape as tf


def reductions() -> Iterator[tuple[str, Case]]:
    shapes_and_axes = [
        ((7,), 0), ((3, 4), None), ((3, 4), 0), ((3, 4), -1), ((2, 3, 4), (0, 2)), ((2, 3, 4), 1), ((1, 5), 0),
        ((2, 3, 4), ()), ((130, 3), 0), ((3, 130), 1), ((2, 0, 3), 0),
    ]  # fmt: skip
    takes_complex = ("sum", "mean", "prod", "euclidean_norm", "variance", "std")
    for name, (shape, axis), keepdims in itertools.product(
        ("sum", "mean", "max", "min", "prod", "logsumexp", "euclidean_norm", "variance", "std"),
        shapes_and_axes, (False, True),
    ):  # fmt: skip
        dtypes = ANY if name in takes_complex[:3] else REAL
        draw = between(0.7, 1.4, *shape) if name == "prod" else normal(*shape)
        if name == "prod" and 130 in shape:
            draw = between(0.97, 1.03, *shape)
        flat = name in ("std", "euclidean_norm") and (axis == () or (name == "std" and 1 in shape))
        yield f"reduce_{name} {shape} {axis} {keepdims}", Case(
            bound(getattr(tf.math, f"reduce_{name}"), axis, keepdims), (draw,), dtypes, 1 if flat else 2
        )
    for name, (shape, axis) in itertools.product(("any", "all"), shapes_and_axes):
        reduce = getattr(tf, f"reduce_{name}")
        yield f"reduce_{name} {shape} {axis}", Case(
            lambda x, f=reduce, a=axis: tf.cast(f(x > -0.5, a, True), x.dtype) * x, (normal(*shape),), ("float32",)
        )
    for order, (shape, axis) in itertools.product((1, 2, 3, np.inf, "euclidean"), [((5,), None), ((3, 4), 1)]):
        yield f"norm {order} {shape} {axis}", Case(
            lambda x, o=order, a=axis: tf.norm(x, o, a), (normal(*shape),), REAL
        )
    for order in (1, 2, np.inf, "fro"):
        yield f"matrix norm {order}", Case(
            lambda x, o=order: tf.norm(x, o, axis=[-2, -1]), (normal(2, 3, 4),), WIDE, 1 if order == 2 else 2
        )
    ids = [0, 0, 1, 3, 3]
    for name in ("sum", "mean", "max", "min", "prod"):
        yield f"segment_{name}", Case(
            bound(getattr(tf.math, f"segment_{name}"), ids), (positive(5, 3),), ANY if name == "sum" else REAL
        )
    for name in ("sum", "mean", "max", "min", "prod", "sqrt_n"):
        yield f"unsorted_segment_{name}", Case(
            bound(getattr(tf.math, f"unsorted_segment_{name}"), [2, 0, -1, 2, 2], 4), (positive(5, 3),)
        )


def scans() -> Iterator[tuple[str, Case]]:
    for name, (shape, axis), exclusive, reverse in itertools.product(
        ("cumsum", "cumprod", "cumulative_logsumexp"),
        [((6,), 0), ((3, 5), 0), ((3, 5), -1), ((2, 3, 4), 1), ((2, 150), 1), ((1, 4), 0)],
        (False, True), (False, True),
    ):  # fmt: skip
        draw = between(0.97, 1.03, *shape) if name == "cumprod" else normal(*shape)
        dtypes = WIDE if name == "cumulative_logsumexp" else ANY
        yield f"{name} {shape} {axis} {exclusive} {reverse}", Case(
            bound(getattr(tf.math, name), axis, exclusive, reverse), (draw,), dtypes
        )


def linear_algebra() -> Iterator[tuple[str, Case]]:
    for a, b in itertools.product((False, True), (False, True)):
        for batch, other in (((), ()), ((2,), (2,)), ((2, 1), (3,)), ((0,), (0,))):
            left, right = ((4, 3) if a else (3, 4)), ((5, 4) if b else (4, 5))
            yield f"matmul {batch} {other} {a} {b}", Case(
                lambda x, y, a=a, b=b: tf.matmul(x, y, transpose_a=a, transpose_b=b),
                (normal(*batch, *left), normal(*other, *right)), ANY,
            )  # fmt: skip
            yield f"matmul adjoint {batch} {other} {a} {b}", Case(
                lambda x, y, a=a, b=b: tf.matmul(x, y, adjoint_a=a, adjoint_b=b),
                (normal(*batch, *left), normal(*other, *right)), WIDE_ANY,
            )  # fmt: skip
    for equation, shapes in {
        "ij,jk->ik": ((2, 3), (3, 4)), "bij,bjk->bik": ((2, 2, 3), (2, 3, 4)), "ij,ij->": ((2, 3), (2, 3)),
        "i,j->ij": ((3,), (4,)), "ijk->kji": ((2, 3, 4),), "ii->i": ((3, 3),), "abc,cd->abd": ((2, 3, 4), (4, 2)),
        "bhqd,bhkd->bhqk": ((2, 2, 3, 4), (2, 2, 5, 4)), "...ij,...jk->...ik": ((2, 2, 3), (3, 4)),
    }.items():  # fmt: skip
        yield f"einsum {equation}", Case(
            lambda *xs, e=equation: tf.einsum(e, *xs), tuple(normal(*shape) for shape in shapes), ANY
        )
    for axes in (0, 1, [[0], [1]], [[1, 0], [0, 1]]):
        yield f"tensordot {axes}", Case(
            lambda x, y, a=axes: tf.tensordot(x, y, a), (normal(3, 3), normal(3, 3)), ANY
        )
    for batch in ((), (2,), (2, 3)):
        for n in (1, 2, 5):
            square, pair = regular(n, *batch), definite(n, *batch)
            both = f"{n} {batch}"
            for name in ("inv", "det", "logdet", "slogdet", "trace", "diag_part", "adjoint", "matrix_transpose"):
                function = getattr(tf.linalg, name)
                if name in ("logdet", "slogdet"):
                    function = {
                        "logdet": lambda x: tf.linalg.logdet(x @ tf.linalg.matrix_transpose(x)),
                        "slogdet": lambda x: tf.linalg.slogdet(x)[1],
                    }[name]
                yield f"{name} {both}", Case(function, (square,), WIDE if "log" in name else WIDE_ANY)
            yield f"cholesky {both}", Case(
                lambda x: tf.linalg.cholesky(0.5 * (x + tf.linalg.matrix_transpose(x))), (pair,), WIDE
            )
            yield f"qr {both}", Case(lambda x: tf.linalg.qr(x)[1], (square,), WIDE)
            yield f"svd {both}", Case(lambda x: tf.linalg.svd(x, compute_uv=False), (square,), WIDE, 1)
            yield f"eigh {both}", Case(
                lambda x: tf.linalg.eigh(0.5 * (x + tf.linalg.matrix_transpose(x)))[0], (pair,), WIDE
            )
            yield f"expm {both}", Case(lambda x: tf.linalg.expm(0.2 * x), (square,), WIDE, 1)
            yield f"pinv {both}", Case(tf.linalg.pinv, (square,), WIDE, 1)
            for adjoint in (False, True):
                right = normal(*batch, n, 2)
                yield f"solve {both} {adjoint}", Case(
                    lambda a, b, t=adjoint: tf.linalg.solve(a, b, adjoint=t), (square, right), WIDE_ANY
                )
                for lower in (False, True):
                    yield f"triangular_solve {both} {lower} {adjoint}", Case(
                        lambda a, b, low=lower, t=adjoint: tf.linalg.triangular_solve(a, b, low, t), (square, right),
                        WIDE_ANY,
                    )  # fmt: skip
            yield f"cholesky_solve {both}", Case(tf.linalg.cholesky_solve, (square, normal(*batch, n, 2)), WIDE)
            yield f"lu {both}", Case(lambda x: tf.linalg.lu(x)[0], (square,), WIDE, 1)
    for shape in ((5, 3), (3, 5), (2, 4, 3)):
        yield f"lstsq {shape}", Case(
            lambda a, b: tf.linalg.lstsq(a, b, 0.1), (normal(*shape), normal(*shape[:-1], 2)), WIDE, 1
        )
        yield f"qr {shape}", Case(lambda x: tf.linalg.qr(x)[1], (normal(*shape),), WIDE, 1)
        yield f"svd {shape}", Case(lambda x: tf.linalg.svd(x, compute_uv=False), (normal(*shape),), WIDE, 1)
        for low, high in ((0, 0), (1, 0), (-1, 1), (0, -1)):
            yield f"band_part {shape} {low} {high}", Case(
                lambda x, a=low, b=high: tf.linalg.band_part(x, a, b), (normal(*shape),), ANY
            )
        for k in (0, 1, -1, (-1, 1)):
            yield f"diag_part {shape} {k}", Case(
                lambda x, k=k: tf.linalg.diag_part(x, k=k, padding_value=0), (normal(*shape),), WIDE_ANY
            )
    for k in (0, 1, -2):
        yield f"diag {k}", Case(lambda x, k=k: tf.linalg.diag(x, k=k), (normal(2, 3),), ANY)
    yield "set_diag", Case(tf.linalg.set_diag, (normal(2, 3, 4), normal(2, 3)), ANY)
    yield "cross", Case(tf.linalg.cross, (normal(4, 3), normal(4, 3)), WIDE)
    yield "matvec", Case(tf.linalg.matvec, (normal(2, 3, 4), normal(2, 4)), ANY)
    yield "sqrtm", Case(tf.linalg.sqrtm, (definite(3),), WIDE, 1)
    yield "tridiagonal_solve", Case(
        lambda a, b, c, d: tf.linalg.tridiagonal_solve(tf.stack([a, 6.0 + b, c]), d),
        (normal(5), normal(5), normal(5), normal(5, 2)), WIDE,
    )  # fmt: skip


def fourier() -> Iterator[tuple[str, Case]]:
    signal = tf.signal
    for rank, shape in ((1, (3, 8)), (1, (7,)), (2, (2, 4, 6)), (2, (3, 5)), (3, (2, 3, 4)), (1, (2, 1))):
        suffix = "" if rank == 1 else f"{rank}d"
        for name in (f"fft{suffix}", f"ifft{suffix}"):
            yield f"{name} {shape}", Case(getattr(signal, name), (normal(*shape),), ("complex128", "complex64"))
        for length in (None, [*shape[-rank:-1], 4], [*shape[-rank:-1], 9]):
            yield f"rfft{suffix} {shape} {length}", Case(
                bound(getattr(signal, f"rfft{suffix}"), length), (normal(*shape),), WIDE
            )
            if shape[-1] > 1:
                yield f"irfft{suffix} {shape} {length}", Case(
                    bound(getattr(signal, f"irfft{suffix}"), length), (normal(*shape),), ("complex128", "complex64")
                )
    for axes in ([0], [0, 1], [1, 2], [0, 1, 2]):
        yield f"fftnd {axes}", Case(
            lambda x, a=axes: signal.fftnd(x, axes=a), (normal(2, 3, 4),), ("complex128", "complex64")
        )
        yield f"rfftnd {axes}", Case(lambda x, a=axes: signal.rfftnd(x, axes=a), (normal(2, 3, 4),), WIDE)
    for kind, n, norm in itertools.product((1, 2, 3, 4), (2, 8), (None, "ortho")):
        if kind == 1 and norm:
            continue
        yield f"dct {kind} {n} {norm}", Case(
            lambda x, k=kind, o=norm: signal.dct(x, k, norm=o), (normal(3, n),), WIDE
        )
        yield f"idct {kind} {n} {norm}", Case(
            lambda x, k=kind, o=norm: signal.idct(x, k, norm=o), (normal(3, n),), WIDE
        )
    for length, step, pad in itertools.product((4, 6), (2, 3), (False, True)):
        yield f"stft {length} {step} {pad}", Case(
            lambda x, n=length, s=step, p=pad: signal.stft(x, n, s, pad_end=p), (normal(2, 17),), WIDE
        )
        yield f"frame {length} {step} {pad}", Case(
            lambda x, n=length, s=step, p=pad: signal.frame(x, n, s, p), (normal(2, 17),), REAL
        )
    yield "inverse_stft", Case(
        lambda x: signal.inverse_stft(x, 8, 4), (normal(2, 3, 5),), ("complex128", "complex64")
    )
    yield "overlap_and_add", Case(lambda x: signal.overlap_and_add(x, 2), (normal(2, 4, 5),), WIDE)
    yield "mdct", Case(lambda x: signal.mdct(x, 8), (normal(2, 24),), WIDE)
    yield "inverse_mdct", Case(signal.inverse_mdct, (normal(2, 3, 8),), WIDE)
    yield "fftshift", Case(lambda x: signal.fftshift(x, 1), (normal(2, 5),), WIDE_ANY)


_UNIT, _ABOVE_ONE, _ANYWHERE, _POSITIVE = (-0.9, 0.9), (1.1, 3.0), (-2.5, 2.5), (0.2, 4.0)
_UNARY = {
    _ANYWHERE: (
        "math.abs", "math.atan", "math.asinh", "math.cos", "math.cosh", "math.erf", "math.erfc", "math.exp",
        "math.expm1", "math.sigmoid", "math.log_sigmoid", "math.sin", "math.sinh", "math.square", "math.tanh",
        "math.softplus", "math.softsign", "math.bessel_i0", "math.bessel_i0e", "math.bessel_i1", "math.bessel_i1e",
        "math.special.dawsn", "math.special.fresnel_sin", "math.special.fresnel_cos", "math.floor", "math.rint",
        "math.sign", "nn.elu", "nn.gelu", "nn.leaky_relu", "nn.relu", "nn.relu6", "nn.selu", "nn.silu", "nn.crelu",
        "keras.activations.mish", "keras.activations.hard_sigmoid", "keras.activations.exponential",
    ),
    _UNIT: ("math.acos", "math.asin", "math.atanh", "math.erfinv", "math.tan"),
    (0.05, 0.95): ("math.ndtri",),
    (0.1, 1.9): ("math.erfcinv",),
    _ABOVE_ONE: ("math.acosh",),
    _POSITIVE: (
        "math.lgamma", "math.digamma", "math.log", "math.log1p", "math.reciprocal", "math.rsqrt", "math.sqrt",
        "math.special.bessel_k0", "math.special.bessel_k0e", "math.special.bessel_k1", "math.special.bessel_k1e",
        "math.special.bessel_j0", "math.special.bessel_j1", "math.special.bessel_y0", "math.special.bessel_y1",
        "math.special.expint", "math.special.spence",
    ),
}  # fmt: skip
_COMPLEX = (
    "cos", "cosh", "exp", "sigmoid", "sin", "sinh", "square", "tanh", "log", "log1p", "reciprocal", "rsqrt", "sqrt",
    "asinh", "atan", "tan", "expm1", "asin", "acos", "atanh", "acosh",
)  # fmt: skip
_ONLY_ONCE = ("dawsn", "fresnel_sin", "fresnel_cos", "spence")


def elementwise() -> Iterator[tuple[str, Case]]:
    for (low, high), names in _UNARY.items():
        for name, shape in itertools.product(names, ((5,), (2, 3, 4), ())):
            function: Any = tf
            for part in name.split("."):
                function = getattr(function, part)
            last = name.rpartition(".")[2]
            dtypes = REAL if "special" not in name and "bessel" not in name else WIDE
            dtypes = (*dtypes, "complex128") if last in _COMPLEX and name.startswith("math") else dtypes
            if not shape and last == "crelu":
                continue
            yield f"{name} {shape}", Case(function, (between(low, high, *shape),), dtypes)
    yield "gelu approximate", Case(lambda x: tf.nn.gelu(x, True), (normal(5, 3),))
    math = tf.math
    shapes: list[Any] = [((3, 4), (3, 4)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((), (2, 3)), ((2, 3), ())]
    for name in ("add", "subtract", "multiply", "divide", "squared_difference", "maximum", "minimum", "pow", "atan2",
                 "xdivy", "xlogy", "xlog1py", "divide_no_nan", "multiply_no_nan", "floordiv", "floormod"):  # fmt: skip
        for (a, b), i in zip(shapes, range(len(shapes)), strict=True):
            dtypes = ANY if name in ("add", "subtract", "multiply", "divide", "pow", "squared_difference") else REAL
            yield f"{name} {i}", Case(getattr(math, name), (between(0.3, 3.0, *a), between(0.4, 3.0, *b)), dtypes)
    for name, a, b in (("igamma", 4.0, 4.0), ("igammac", 4.0, 4.0), ("zeta", 3.0, 2.0)):
        for i, (left, right) in enumerate(shapes):
            low = 1.5 if name == "zeta" else 0.4
            yield f"{name} {i}", Case(
                getattr(math, name), (between(low, low + a, *left), between(0.4, 0.4 + b, *right)), WIDE, 1
            )
    for n in (0, 1, 2, 3):
        yield f"polygamma {n}", Case(
            lambda x, n=n: math.polygamma(tf.constant(float(n), x.dtype), x), (positive(4),), WIDE
        )
    yield "betainc", Case(math.betainc, (positive(4), positive(4), between(0.1, 0.9, 4)), WIDE, 1)
    yield "lbeta", Case(math.lbeta, (positive(3, 4),), WIDE)
    yield "polyval", Case(lambda a, b, x: math.polyval([a, b, a], x), (normal(3), normal(3), normal(3)))
    for low, high in ((-0.5, 0.5), (0.0, 9.0)):
        yield f"clip_by_value {low} {high}", Case(lambda x, a=low, b=high: tf.clip_by_value(x, a, b), (normal(3, 5),))
    for axis in (0, -1, [0, 1]):
        yield f"clip_by_norm {axis}", Case(lambda x, a=axis: tf.clip_by_norm(x, 1.3, a), (normal(3, 5),))
    yield "where", Case(lambda a, b: tf.where(a > b, a * b, b - a), (normal(3, 5), normal(5)))
    yield "cast", Case(lambda x: tf.cast(tf.cast(x, tf.float16), x.dtype) * x, (normal(3, 5),), WIDE)
    yield "cast bfloat16", Case(lambda x: tf.cast(tf.cast(3.1 * x, tf.bfloat16), x.dtype) * x, (normal(3, 5),), WIDE)
    for part in ("real", "imag", "conj", "abs", "angle"):
        yield f"complex {part}", Case(getattr(math, part), (normal(3, 4),), ("complex128", "complex64"))
    yield "complex", Case(tf.complex, (normal(3, 4), normal(3, 4)), WIDE)


def movement() -> Iterator[tuple[str, Case]]:
    matrix, volume = (normal(4, 5),), (normal(2, 3, 4),)
    functions: dict[str, tuple[Any, Any]] = {}
    for axis, batch in ((0, 0), (1, 0), (2, 1), (1, 1), (-1, 0)):
        indices = [[1, 0, 1], [2, 1, 2]] if batch else [1, 0, 1]
        functions[f"gather {axis} {batch}"] = (
            lambda x, a=axis, b=batch, i=indices: tf.gather(x, i, axis=a, batch_dims=b), volume
        )  # fmt: skip
    functions["gather_nd"] = lambda x: tf.gather_nd(x, [[1, 2], [0, 0], [1, 2]]), volume
    functions["scatter_nd"] = lambda x: tf.scatter_nd([[3], [0], [3], [1]], x, [6, 5]), matrix
    functions["tensor_scatter_nd_update"] = lambda x: tf.tensor_scatter_nd_update(x, [[3], [0]], x[:2] * 2.0), matrix
    functions["tensor_scatter_nd_add"] = lambda x: tf.tensor_scatter_nd_add(x, [[3], [3]], x[:2] * 2.0), matrix
    for mode in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        functions[f"pad {mode}"] = lambda x, m=mode: tf.pad(x, [[1, 2], [0, 3]], m), matrix
    for key in (
        (slice(None, None, -1),), (slice(3, None, -2), slice(1, 4)), (Ellipsis, 1), (None, slice(1, None)),
        (slice(None), slice(None, None, -3)), (slice(5, 2),), (-1, slice(4, 0, -1)),
    ):  # fmt: skip
        functions[f"slice {key}"] = lambda x, k=key: x[k] * 1.5, matrix
    for axes in ((1, 0, 2), (2, 1, 0), (0, 2, 1), (1, 2, 0)):
        functions[f"transpose {axes}"] = lambda x, a=axes: tf.transpose(x, a) * 2.0, volume
    for axis in (0, 1, -1):
        functions[f"concat {axis}"] = lambda x, a=axis: tf.concat([x, tf.reverse(x, [0]), x], a), volume
        functions[f"stack {axis}"] = lambda x, a=axis: tf.stack([x, 2.0 * x], a), volume
        functions[f"unstack {axis}"] = lambda x, a=axis: tf.unstack(x * x, axis=a)[1], volume
        functions[f"sort {axis}"] = lambda x, a=axis: tf.sort(x, a, "DESCENDING") ** 2, volume
        functions[f"roll {axis}"] = lambda x, a=axis: tf.roll(x, [2, -1], [a, 0]), volume
        functions[f"reverse {axis}"] = lambda x, a=axis: tf.reverse(x, [a]), volume
        functions[f"repeat {axis}"] = lambda x, a=axis: tf.repeat(x, 3, a), volume
    for k in (1, 3, 5):
        functions[f"top_k {k}"] = lambda x, k=k: tf.math.top_k(x, k)[0], matrix
    functions["tile"] = lambda x: tf.tile(x, [2, 3]), matrix
    functions["broadcast_to"] = lambda x: tf.broadcast_to(x[:, :1], [3, 4, 5]), matrix
    functions["split"] = lambda x: tf.split(x, [2, 3], 1), matrix
    functions["reverse_sequence"] = lambda x: tf.reverse_sequence(x, [4, 1, 5, 2], seq_axis=1), matrix
    functions["boolean_mask"] = lambda x: tf.boolean_mask(x, [True, False, True, True]), matrix
    functions["dynamic_partition"] = lambda x: tf.dynamic_partition(x, [1, 0, 1, 2], 3), matrix
    functions["dynamic_stitch"] = lambda x: tf.dynamic_stitch([[0, 2], [1, 3]], [x[:2], x[2:]]), matrix
    functions["space_to_depth"] = lambda x: tf.nn.space_to_depth(x, 2), (normal(1, 4, 6, 2),)
    functions["depth_to_space"] = lambda x: tf.nn.depth_to_space(x, 2), (normal(1, 2, 3, 8),)
    functions["space_to_batch"] = lambda x: tf.space_to_batch(x, [2, 2], [[0, 0], [1, 1]]), (normal(1, 4, 6, 2),)
    functions["meshgrid"] = lambda x, y: [a * b for a, b in [tf.meshgrid(x, y)]], (normal(3), normal(4))
    functions["searchsorted"] = (
        lambda x: tf.cast(tf.searchsorted(tf.sort(x), x[:, ::2]), x.dtype) * x[:, ::2], matrix
    )  # fmt: skip
    functions["argmax"] = lambda x: tf.cast(tf.argmax(x, 1), x.dtype) * x[:, 0], matrix
    functions["one_hot"] = lambda x: tf.one_hot([1, 0, 9], 4, dtype=x.dtype) * tf.reduce_sum(x), matrix
    functions["map_fn"] = lambda x: tf.map_fn(lambda row: row * tf.reduce_sum(row), x), matrix
    functions["scan"] = lambda x: tf.scan(lambda a, row: a * 0.5 + row * row, x), matrix
    functions["vectorized_map"] = lambda x: tf.vectorized_map(lambda row: tf.sin(row) * row[0], x), matrix
    for name, (function, draws) in functions.items():
        is_ordered = name.split()[0] in ("sort", "top_k", "argmax", "searchsorted")
        yield name, Case(function, draws, REAL if is_ordered else ANY)
