"""The cases of the sweep: functions of `gradtape` with attributes, sizes and axes beyond each op's samples."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

import gradtape as tf

REAL = ("float64", "float32", "float16", "bfloat16")
WIDE = ("float64", "float32")
ANY = (*REAL, "complex128")
WIDE_ANY = (*WIDE, "complex128")


class Case(NamedTuple):
    """A function of floats, how its inputs are drawn, the dtypes that it takes, and how often it is differentiated."""

    function: Callable[..., Any]
    draws: tuple[Callable[[np.random.Generator], Any], ...]
    dtypes: tuple[str, ...] = REAL
    order: int = 2


def normal(*shape: int) -> Callable[[np.random.Generator], Any]:
    """Draws numbers of both signs."""
    return lambda rng: rng.normal(size=shape)


def between(low: float, high: float, *shape: int) -> Callable[[np.random.Generator], Any]:
    """Draws numbers between two bounds."""
    return lambda rng: rng.uniform(low, high, shape)


def positive(*shape: int) -> Callable[[np.random.Generator], Any]:
    """Draws numbers between 0.5 and 2."""
    return between(0.5, 2.0, *shape)


def definite(n: int, *batch: int) -> Callable[[np.random.Generator], Any]:
    """Draws well-conditioned symmetric positive definite matrices, with different eigenvalues."""

    def draw(rng: np.random.Generator) -> Any:
        x = rng.normal(size=(*batch, n, n))
        return x @ np.swapaxes(x, -1, -2) / n + np.diag(np.arange(1.0, n + 1))

    return draw


def regular(n: int, *batch: int) -> Callable[[np.random.Generator], Any]:
    """Draws well-conditioned matrices."""
    return lambda rng: 0.3 * rng.normal(size=(*batch, n, n)) + np.diag(np.arange(1.0, n + 1))


def _pooling() -> Iterator[tuple[str, Case]]:
    for rank, name in itertools.product((1, 2), ("avg_pool", "max_pool")):
        pool = getattr(tf.nn, f"{name}{rank}d")
        shapes = {1: [(2, 7, 3), (1, 6, 1)], 2: [(2, 3, 3, 2), (1, 7, 5, 3), (2, 4, 4, 1), (2, 3, 3, 1)]}[rank]
        for shape, window, stride, padding in itertools.product(shapes, (1, 2, 3, 4, 5), (1, 2, 3), ("SAME", "VALID")):
            if padding == "VALID" and window > min(shape[1:-1]):
                continue
            yield f"{name}{rank}d {shape} {window}/{stride} {padding}", Case(
                lambda x, pool=pool, w=window, s=stride, p=padding: pool(x, w, s, p), (normal(*shape),)
            )
    for name, window, stride, padding in itertools.product(
        ("avg_pool3d", "max_pool3d"), (2, 3), (1, 2), ("SAME", "VALID")
    ):
        yield f"{name} {window}/{stride} {padding}", Case(
            lambda x, pool=getattr(tf.nn, name), w=window, s=stride, p=padding: pool(x, w, s, p), (normal(1, 4, 5, 3, 2),)
        )
    for window, strides, padding in [((2, 3), (1, 2), "SAME"), ((3, 1), (2, 2), "SAME"), ((1, 4), (3, 1), "VALID")]:
        for name in ("avg_pool2d", "max_pool2d"):
            yield f"{name} {window}/{strides} {padding}", Case(
                lambda x, pool=getattr(tf.nn, name), w=window, s=strides, p=padding: pool(x, w, s, p),
                (normal(2, 6, 7, 2),),
            )
    for kind, dilation, padding in itertools.product(("AVG", "MAX"), (1, 2), ("SAME", "VALID")):
        if dilation > 1 and padding == "SAME":
            continue
        yield f"pool {kind} {dilation} {padding}", Case(
            lambda x, k=kind, d=dilation, p=padding: tf.nn.pool(x, [2, 3], k, padding=p, dilations=[d, 1]),
            (normal(2, 6, 7, 2),),
        )
    for padding in ([[0, 0], [1, 0], [0, 2], [0, 0]], [[0, 0], [2, 1], [1, 1], [0, 0]]):
        yield f"max_pool2d {padding}", Case(
            lambda x, p=padding: tf.nn.max_pool2d(x, 3, 2, p), (normal(2, 6, 7, 2),)
        )
    yield "max_pool_with_argmax", Case(lambda x: tf.nn.max_pool_with_argmax(x, 3, 2, "SAME")[0], (normal(2, 6, 7, 2),))


def _convolutions() -> Iterator[tuple[str, Case]]:
    spaces = {1: (8,), 2: (6, 7), 3: (4, 5, 3)}
    for rank, kernel, stride, dilation, padding in itertools.product(
        (1, 2, 3), (1, 2, 3), (1, 2), (1, 2), ("SAME", "VALID")
    ):
        if (stride > 1 and dilation > 1) or (rank == 3 and (dilation > 1 or (kernel - 1) >= 3)):
            continue
        for channels, outputs in ((3, 4), (1, 1)) if rank < 3 else ((2, 3),):
            yield f"convolution {rank}d {kernel}/{stride}/{dilation} {channels}>{outputs} {padding}", Case(
                lambda x, w, r=rank, s=stride, d=dilation, p=padding: tf.nn.convolution(
                    x, w, [s] * r, p, dilations=[d] * r
                ),
                (normal(2, *spaces[rank], channels), normal(*(kernel,) * rank, channels, outputs)),
            )
    for shape, window in (((0, 6, 7), (3, 2)), ((2, 6, 0), (3, 2)), ((2, 0, 7), (2, 0)), ((2, 3, 0), (2, 0))):
        for inputs in (1, 2):
            yield f"empty conv2d {shape} {window} {inputs}", Case(
                lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), (normal(*shape, inputs), normal(*window, inputs, 3)), WIDE
            )
    for groups, stride, padding in itertools.product((2, 4), (1, 2), ("SAME", "VALID")):
        yield f"conv2d in {groups} groups /{stride} {padding}", Case(
            lambda x, w, s=stride, p=padding: tf.nn.conv2d(x, w, s, p),
            (normal(2, 6, 7, 4), normal(3, 2, 4 // groups, 2 * groups)),
        )
    for padding in ([[0, 0], [1, 0], [0, 2], [0, 0]], [[0, 0], [3, 3], [2, 2], [0, 0]]):
        yield f"conv2d {padding}", Case(
            lambda x, w, p=padding: tf.nn.conv2d(x, w, [1, 2, 1, 1], p), (normal(2, 6, 7, 2), normal(3, 3, 2, 3))
        )
    for kernel, stride, dilation, padding in itertools.product((2, 3), (1, 2), (1, 2), ("SAME", "VALID")):
        if stride > 1 and dilation > 1:
            continue
        for channels, multiplier in ((1, 1), (3, 1), (2, 3)):
            yield f"depthwise_conv2d {kernel}/{stride}/{dilation} {channels}*{multiplier} {padding}", Case(
                lambda x, w, s=stride, d=dilation, p=padding: tf.nn.depthwise_conv2d(x, w, [1, s, s, 1], p, None, [d, d]),
                (normal(2, 6, 7, channels), normal(kernel, kernel, channels, multiplier)),
            )
    for stride, padding in itertools.product((1, 2), ("SAME", "VALID")):
        yield f"separable_conv2d /{stride} {padding}", Case(
            lambda x, d, w, s=stride, p=padding: tf.nn.separable_conv2d(x, d, w, [1, s, s, 1], p),
            (normal(2, 6, 7, 3), normal(3, 3, 3, 2), normal(1, 1, 6, 4)),
        )
    for rank, kernel, stride, padding in itertools.product((1, 2, 3), (2, 3), (1, 2, 3), ("SAME", "VALID")):
        size = [4] * rank
        whole = [n * stride if padding == "SAME" else (n - 1) * stride + max(kernel, stride) for n in size]
        yield f"conv{rank}d_transpose {kernel}/{stride} {padding}", Case(
            lambda x, w, r=rank, o=tuple(whole), s=stride, p=padding: tf.nn.conv_transpose(
                x, w, [2, *o, 2], [s] * r, p
            ),
            (normal(2, *size, 3), normal(*(kernel,) * rank, 2, 3)),
        )
    for stride, dilation, padding in itertools.product((1, 2), (1, 2), ("SAME", "VALID")):
        yield f"dilation2d /{stride}/{dilation} {padding}", Case(
            lambda x, w, s=stride, d=dilation, p=padding: tf.nn.dilation2d(
                x, w, [1, s, s, 1], p, "NHWC", [1, d, d, 1]
            ),
            (normal(2, 6, 7, 2), normal(2, 3, 2)), order=1,
        )  # fmt: skip
    for rate, padding in itertools.product((1, 2), ("SAME", "VALID")):
        yield f"atrous_conv2d {rate} {padding}", Case(
            lambda x, w, r=rate, p=padding: tf.nn.atrous_conv2d(x, w, r, p), (normal(2, 6, 7, 2), normal(2, 3, 2, 3))
        )


def _images() -> Iterator[tuple[str, Case]]:
    methods = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")
    for method, size, antialias in itertools.product(methods, ((3, 5), (4, 4), (7, 9), (1, 12)), (False, True)):
        if antialias and method in ("nearest", "area"):
            continue
        yield f"resize {method} {size} {antialias}", Case(
            lambda x, m=method, s=size, a=antialias: tf.image.resize(x, s, m, antialias=a), (normal(2, 6, 5, 3),)
        )
    v1 = tf.compat.v1.image
    for name, size, corners in itertools.product(
        ("resize_bilinear", "resize_bicubic", "resize_nearest_neighbor"), ((3, 5), (7, 9)), (False, True)
    ):
        yield f"v1 {name} {size} {corners}", Case(
            lambda x, f=getattr(v1, name), s=size, c=corners: f(x, s, align_corners=c), (normal(2, 6, 5, 3),)
        )
    boxes = np.array([[0.1, 0.2, 0.8, 0.9], [0.5, 0.0, 1.0, 0.4], [0.9, 0.9, 0.1, 0.1]], np.float32)
    for method in ("bilinear", "nearest"):
        yield f"crop_and_resize {method}", Case(
            lambda x, m=method: tf.image.crop_and_resize(x, boxes, [0, 1, 0], [3, 4], m), (normal(2, 6, 5, 3),),
            ("float32",), 1,
        )  # fmt: skip
    for name, function in {
        "resize_with_pad": lambda x: tf.image.resize_with_pad(x, 8, 7),
        "resize_with_crop_or_pad": lambda x: tf.image.resize_with_crop_or_pad(x, 4, 9),
        "rot90": lambda x: tf.image.rot90(x, 3),
        "flip": lambda x: tf.image.flip_left_right(tf.image.flip_up_down(x)),
        "rgb_to_yuv": tf.image.rgb_to_yuv,
        "rgb_to_hsv": tf.image.rgb_to_hsv,
        "hsv_to_rgb": tf.image.hsv_to_rgb,
        "adjust_contrast": lambda x: tf.image.adjust_contrast(x, 1.7),
        "adjust_gamma": lambda x: tf.image.adjust_gamma(x, 1.7, 0.9),
        "per_image_standardization": tf.image.per_image_standardization,
        "sobel_edges": tf.image.sobel_edges,
        "image_gradients": tf.image.image_gradients,
        "total_variation": tf.image.total_variation,
        "extract_patches": lambda x: tf.image.extract_patches(x, [1, 3, 2, 1], [1, 2, 1, 1], [1, 1, 2, 1], "SAME"),
        "extract_patches VALID": lambda x: tf.image.extract_patches(
            x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"
        ),
    }.items():
        dtypes = ("float32",) if name.startswith("adjust") else WIDE  # which compute in float32
        yield name, Case(function, (between(0.05, 0.95, 2, 6, 5, 3),), dtypes)


def _reductions() -> Iterator[tuple[str, Case]]:
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
            lambda x, f=getattr(tf.math, f"reduce_{name}"), a=axis, k=keepdims: f(x, a, k), (draw,), dtypes,
            1 if flat else 2,
        )  # fmt: skip
    for name, (shape, axis) in itertools.product(("any", "all"), shapes_and_axes):
        yield f"reduce_{name} {shape} {axis}", Case(
            lambda x, f=getattr(tf, f"reduce_{name}"), a=axis: tf.cast(f(x > -0.5, a, True), x.dtype) * x,
            (normal(*shape),), ("float32",),
        )  # fmt: skip
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
            lambda x, f=getattr(tf.math, f"segment_{name}"): f(x, ids), (positive(5, 3),), ANY if name == "sum" else REAL
        )
    for name in ("sum", "mean", "max", "min", "prod", "sqrt_n"):
        yield f"unsorted_segment_{name}", Case(
            lambda x, f=getattr(tf.math, f"unsorted_segment_{name}"): f(x, [2, 0, -1, 2, 2], 4), (positive(5, 3),)
        )


def _scans() -> Iterator[tuple[str, Case]]:
    for name, (shape, axis), exclusive, reverse in itertools.product(
        ("cumsum", "cumprod", "cumulative_logsumexp"),
        [((6,), 0), ((3, 5), 0), ((3, 5), -1), ((2, 3, 4), 1), ((2, 150), 1), ((1, 4), 0)],
        (False, True), (False, True),
    ):  # fmt: skip
        draw = between(0.97, 1.03, *shape) if name == "cumprod" else normal(*shape)
        dtypes = WIDE if name == "cumulative_logsumexp" else ANY
        yield f"{name} {shape} {axis} {exclusive} {reverse}", Case(
            lambda x, f=getattr(tf.math, name), a=axis, e=exclusive, r=reverse: f(x, a, e, r), (draw,), dtypes
        )


def _linear_algebra() -> Iterator[tuple[str, Case]]:
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
        lambda d, b: tf.linalg.tridiagonal_solve(d, b), (lambda rng: rng.normal(size=(3, 5)) + [[0], [6], [0]], normal(5, 2)),
        WIDE,
    )  # fmt: skip


def _fourier() -> Iterator[tuple[str, Case]]:
    signal = tf.signal
    for rank, shape in ((1, (3, 8)), (1, (7,)), (2, (2, 4, 6)), (2, (3, 5)), (3, (2, 3, 4)), (1, (2, 1))):
        suffix = "" if rank == 1 else f"{rank}d"
        for name in (f"fft{suffix}", f"ifft{suffix}"):
            yield f"{name} {shape}", Case(getattr(signal, name), (normal(*shape),), ("complex128", "complex64"))
        for length in (None, (shape[-rank:-1] + (4,)), (shape[-rank:-1] + (9,))):
            yield f"rfft{suffix} {shape} {length}", Case(
                lambda x, f=getattr(signal, f"rfft{suffix}"), n=length: f(x, n), (normal(*shape),), WIDE
            )
            if shape[-1] > 1:
                yield f"irfft{suffix} {shape} {length}", Case(
                    lambda x, f=getattr(signal, f"irfft{suffix}"), n=length: f(x, n), (normal(*shape),),
                    ("complex128", "complex64"),
                )  # fmt: skip
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
        "math.abs", "math.atan", "math.asinh", "math.cos", "math.cosh", "math.erf", "math.erfc", "math.exp", "math.expm1",
        "math.sigmoid", "math.log_sigmoid", "math.sin", "math.sinh", "math.square", "math.tanh", "math.softplus",
        "math.softsign", "math.bessel_i0", "math.bessel_i0e", "math.bessel_i1", "math.bessel_i1e", "math.special.dawsn",
        "math.special.fresnel_sin", "math.special.fresnel_cos", "math.floor", "math.rint", "math.sign",
        "nn.elu", "nn.gelu", "nn.leaky_relu", "nn.relu", "nn.relu6", "nn.selu", "nn.silu", "nn.crelu",
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


def _elementwise() -> Iterator[tuple[str, Case]]:
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


def _norms() -> Iterator[tuple[str, Case]]:
    for shape, axis in (((3, 5), -1), ((3, 5), 0), ((2, 3, 4), 1), ((2, 300), 1), ((1, 1), -1)):
        for name in ("softmax", "log_softmax"):
            yield f"{name} {shape} {axis}", Case(
                lambda x, f=getattr(tf.nn, name), a=axis: f(x, a), (normal(*shape),)
            )
        yield f"l2_normalize {shape} {axis}", Case(lambda x, a=axis: tf.nn.l2_normalize(x, a), (positive(*shape),))
    for shape, axes, keepdims in itertools.product(
        ((3, 5), (2, 3, 4), (2, 3, 4, 5)), ([0], [-1], [0, 1]), (False, True)
    ):
        yield f"moments {shape} {axes} {keepdims}", Case(
            lambda x, a=axes, k=keepdims: tf.nn.moments(x, a, keepdims=k), (normal(*shape),)
        )
        if keepdims:
            yield f"normalization {shape} {axes}", Case(
                lambda x, s, b, a=axes: tf.nn.batch_normalization(
                    x, *tf.nn.moments(x, a, keepdims=True), b, s, 1e-3
                ),
                (normal(*shape), positive(shape[-1]), normal(shape[-1])),
            )  # fmt: skip
    for shape in ((8, 3), (2, 3, 4), (2, 3, 3, 2), (600, 2)):
        yield f"batch norm of channels {shape}", Case(
            lambda x, s, b: tf.nn.batch_normalization(
                x, *tf.nn.moments(x, list(range(len(x.shape) - 1))), b, s, 1e-3
            ),
            (normal(*shape), positive(shape[-1]), normal(shape[-1])),
        )  # fmt: skip
        yield f"batch norm in inference {shape}", Case(
            lambda x, m, v, s, b: tf.nn.batch_normalization(x, m, v, b, s, 1e-3),
            (normal(*shape), normal(shape[-1]), *(positive(shape[-1]),) * 2, normal(shape[-1])),
        )
    for is_training in (True, False):
        yield f"fused_batch_norm {is_training}", Case(
            lambda x, s, b, m, v, t=is_training: tf.compat.v1.nn.fused_batch_norm(
                x, s, b, *(() if t else (m, v)), epsilon=1e-3, is_training=t
            )[0],
            (normal(2, 3, 4, 2), positive(2), normal(2), normal(2), positive(2)), ("float32",),
        )  # fmt: skip
    for radius, shape in itertools.product((1, 2, 5), ((1, 2, 3, 4), (2, 1, 2, 9))):
        yield f"lrn {radius} {shape}", Case(
            lambda x, r=radius: tf.nn.local_response_normalization(x, r, 1.0, 0.5, 0.75), (normal(*shape),), ("float32",), 1
        )
    yield "weighted_moments", Case(
        lambda x, w: tf.nn.weighted_moments(x, [0], w), (normal(4, 3), positive(4, 3)), WIDE
    )
    yield "layer normalization", Case(
        lambda x, s: tf.nn.batch_normalization(x, *tf.nn.moments(x, [-1], keepdims=True), None, s, 1e-3),
        (normal(6, 33), positive(33)),
    )  # fmt: skip


def _losses() -> Iterator[tuple[str, Case]]:
    nn = tf.nn
    for shape, axis in (((4, 3), -1), ((2, 3, 5), -1), ((3, 4), 0), ((1, 1), -1), ((6, 300), -1)):
        yield f"softmax_cross_entropy {shape} {axis}", Case(
            lambda x, y, a=axis: nn.softmax_cross_entropy_with_logits(tf.nn.softmax(y, a), x, a),
            (normal(*shape), normal(*shape)),
        )
    for shape in ((4, 3), (2, 3, 5), (6, 300)):
        labels = np.arange(np.prod(shape[:-1])).reshape(shape[:-1]) % shape[-1]
        yield f"sparse_softmax_cross_entropy {shape}", Case(
            lambda x, y=labels: nn.sparse_softmax_cross_entropy_with_logits(y, x), (normal(*shape),)
        )
    pair = (normal(4, 3), between(0.0, 1.0, 4, 3))
    yield "sigmoid_cross_entropy", Case(lambda x, y: nn.sigmoid_cross_entropy_with_logits(y, x), pair)
    yield "weighted_cross_entropy", Case(lambda x, y: nn.weighted_cross_entropy_with_logits(y, x, 2.5), pair)
    yield "log_poisson_loss", Case(lambda x, y: nn.log_poisson_loss(y, x, True), (normal(4, 3), positive(4, 3)))
    yield "l2_loss", Case(nn.l2_loss, (normal(4, 3),))
    labels = np.array([[0, 1, 2], [2, 2, 0]], np.int32)
    yield "ctc_loss", Case(
        lambda x: nn.ctc_loss(labels, x, [3, 2], [6, 5], blank_index=3), (normal(6, 2, 4),), ("float32",), 1
    )
    for name in (
        "mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "mean_squared_logarithmic_error",
        "kl_divergence", "poisson", "huber", "log_cosh", "hinge", "squared_hinge", "categorical_hinge",
        "binary_crossentropy", "binary_focal_crossentropy", "categorical_crossentropy", "cosine_similarity",
        "categorical_focal_crossentropy", "dice", "tversky",
    ):  # fmt: skip
        for shape in ((4, 3), (2, 3, 5)):
            yield f"losses.{name} {shape}", Case(
                lambda p, y, name=name: getattr(tf.keras.losses, name)(y, p),
                (between(0.05, 0.95, *shape), between(0.05, 0.95, *shape)), ("float32",), 1,
            )  # fmt: skip


def _movement() -> Iterator[tuple[str, Case]]:
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
        yield name, Case(function, draws, REAL if name.split()[0] in ("sort", "top_k", "argmax", "searchsorted") else ANY)


FAMILIES: dict[str, Callable[[], Iterable[tuple[str, Case]]]] = {
    "pooling": _pooling, "convolutions": _convolutions, "images": _images, "reductions": _reductions, "scans": _scans,
    "linear algebra": _linear_algebra, "fourier": _fourier, "elementwise": _elementwise, "norms": _norms,
    "losses": _losses, "movement": _movement,
}  # fmt: skip
CASES: dict[str, Case] = {name: case for family in FAMILIES.values() for name, case in family()}
