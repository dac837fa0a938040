"""The cases of the sweep for neural networks and images."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from sweep_draws import WIDE, Case, between, bound, normal, positive

import gradtape as tf


def pooling() -> Iterator[tuple[str, Case]]:
    for rank, name in itertools.product((1, 2), ("avg_pool", "max_pool")):
        pool = getattr(tf.nn, f"{name}{rank}d")
        shapes = {1: [(2, 7, 3), (1, 6, 1)], 2: [(2, 3, 3, 2), (1, 7, 5, 3), (2, 4, 4, 1), (2, 3, 3, 1)]}[rank]
        for shape, window, stride, padding in itertools.product(shapes, (1, 2, 3, 4, 5), (1, 2, 3), ("SAME", "VALID")):
            if padding == "VALID" and window > min(shape[1:-1]):
                continue
            yield f"{name}{rank}d {shape} {window}/{stride} {padding}", Case(
                bound(pool, window, stride, padding), (normal(*shape),)
            )
    for name, window, stride, padding in itertools.product(
        ("avg_pool3d", "max_pool3d"), (2, 3), (1, 2), ("SAME", "VALID")
    ):
        yield f"{name} {window}/{stride} {padding}", Case(
            bound(getattr(tf.nn, name), window, stride, padding), (normal(1, 4, 5, 3, 2),)
        )
    for window, strides, padding in [((2, 3), (1, 2), "SAME"), ((3, 1), (2, 2), "SAME"), ((1, 4), (3, 1), "VALID")]:
        for name in ("avg_pool2d", "max_pool2d"):
            yield f"{name} {window}/{strides} {padding}", Case(
                bound(getattr(tf.nn, name), window, strides, padding), (normal(2, 6, 7, 2),)
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


def convolutions() -> Iterator[tuple[str, Case]]:
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
                bound(tf.nn.depthwise_conv2d, [1, stride, stride, 1], padding, None, [dilation, dilation]),
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


def images() -> Iterator[tuple[str, Case]]:
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
            bound(getattr(v1, name), size, align_corners=corners), (normal(2, 6, 5, 3),)
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


def norms() -> Iterator[tuple[str, Case]]:
    for shape, axis in (((3, 5), -1), ((3, 5), 0), ((2, 3, 4), 1), ((2, 300), 1), ((1, 1), -1)):
        for name in ("softmax", "log_softmax"):
            yield f"{name} {shape} {axis}", Case(bound(getattr(tf.nn, name), axis), (normal(*shape),))
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
            bound(tf.nn.local_response_normalization, radius, 1.0, 0.5, 0.75), (normal(*shape),), ("float32",), 1
        )
    yield "weighted_moments", Case(
        lambda x, w: tf.nn.weighted_moments(x, [0], w), (normal(4, 3), positive(4, 3)), WIDE
    )
    yield "layer normalization", Case(
        lambda x, s: tf.nn.batch_normalization(x, *tf.nn.moments(x, [-1], keepdims=True), None, s, 1e-3),
        (normal(6, 33), positive(33)),
    )  # fmt: skip


def losses() -> Iterator[tuple[str, Case]]:
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
