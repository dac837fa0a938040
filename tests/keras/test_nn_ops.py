"""`keras.ops`' nn, math, linalg and image functions on gradtape: names and signatures, gradients, traces, batches."""

import ast
import importlib
import inspect
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras
ops = keras.ops
SUBJECTS = ("nn", "math", "linalg", "image")

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
P = np.exp(A) / np.exp(A).sum(-1, keepdims=True)  # probabilities
S = A[:, :3] @ A[:, :3].T + 2 * np.eye(3)  # positive definite
IMAGE, LINE, VOLUME = RNG.normal(size=(2, 5, 6, 2)), RNG.normal(size=(2, 7, 2)), RNG.normal(size=(1, 4, 4, 5, 2))
FIRST = IMAGE.transpose(0, 3, 1, 2)
COLOURS = RNG.uniform(0.1, 0.9, (2, 3, 3, 3))
HEADS = RNG.normal(size=(2, 4, 2, 3)), RNG.normal(size=(2, 5, 2, 3)), RNG.normal(size=(2, 5, 2, 3))
CLASSES = np.array([1, 0, 3])
CORNERS = np.array([[0.0, 0.0], [0.0, 5.0], [4.0, 0.0], [4.0, 5.0]])
MOVED = CORNERS + np.array([[0.3, 0.2], [0.1, -0.4], [-0.2, 0.3], [0.2, 0.1]])
AFFINE = np.array([0.91, 0.13, 0.31, -0.17, 1.07, 0.42, 0.0, 0.0])


def kernel(*shape):
    return np.random.default_rng(1).normal(size=shape)


ACTIVATIONS = """celu elu gelu hard_sigmoid hard_silu hard_tanh leaky_relu log_sigmoid log_softmax relu relu6 selu
sigmoid silu soft_shrink softmax softplus softsign sparse_plus sparse_sigmoid sparsemax squareplus tanh tanh_shrink
hard_shrink glu""".split()

CASES = {
    **{name: (getattr(ops, name), A * 1.1) for name in ACTIVATIONS},
    "softmax_of_all": (lambda x: ops.softmax(x, axis=None), A),
    "threshold": (lambda x: ops.threshold(x, 0.1, 2.0), A),
    "max_pool": (lambda x: ops.max_pool(x, 2), IMAGE),
    "max_pool_first": (lambda x: ops.max_pool(x, (2, 3), 2, "same", "channels_first"), FIRST),
    "average_pool": (lambda x: ops.average_pool(x, 3, 2, "same"), LINE),
    "average_pool_3d": (lambda x: ops.average_pool(x, 2), VOLUME),
    "adaptive_average_pool": (lambda x: ops.adaptive_average_pool(x, (2, 4)), IMAGE),
    "adaptive_max_pool": (lambda x: ops.adaptive_max_pool(x, 3, "channels_first"), FIRST),
    "conv": (lambda x, w: ops.conv(x, w, 2, "same"), IMAGE, kernel(3, 2, 2, 3)),
    "conv_first": (lambda x, w: ops.conv(x, w, 1, "valid", "channels_first", 2), FIRST, kernel(2, 2, 2, 3)),
    "conv_groups": (lambda x, w: ops.conv(x, w), IMAGE, kernel(2, 2, 1, 4)),
    "conv_1d": (lambda x, w: ops.conv(x, w, 2), LINE, kernel(3, 2, 3)),
    "conv_3d": (lambda x, w: ops.conv(x, w), VOLUME, kernel(2, 2, 2, 2, 1)),
    "depthwise_conv": (lambda x, w: ops.depthwise_conv(x, w, padding="same"), LINE, kernel(3, 2, 2)),
    "separable_conv": (ops.separable_conv, IMAGE, kernel(2, 2, 2, 2), kernel(1, 1, 4, 3)),
    "conv_transpose": (lambda x, w: ops.conv_transpose(x, w, 2, "same"), IMAGE, kernel(3, 3, 3, 2)),
    "conv_transpose_wide": (lambda x, w: ops.conv_transpose(x, w, 3), LINE, kernel(2, 3, 2)),
    "conv_transpose_first": (
        lambda x, w: ops.conv_transpose(x, w, 2, "valid", 1, "channels_first"), FIRST, kernel(3, 2, 3, 2)
    ),
    "categorical_crossentropy": (ops.categorical_crossentropy, P, P[::-1].copy()),
    "categorical_crossentropy_logits": (lambda t, x: ops.categorical_crossentropy(t, x, True, 0), P, A),
    "sparse_categorical_crossentropy": (lambda x: ops.sparse_categorical_crossentropy(CLASSES, x), P),
    "sparse_categorical_crossentropy_logits": (lambda x: ops.sparse_categorical_crossentropy(CLASSES, x, True), A),
    "binary_crossentropy": (ops.binary_crossentropy, P, P[::-1].copy()),
    "binary_crossentropy_logits": (lambda t, x: ops.binary_crossentropy(t, x, True), P, A),
    "moments": (lambda x: ops.stack(ops.moments(x, (0, 2))), IMAGE),
    "batch_normalization": (
        lambda x, m, v, o, s: ops.batch_normalization(x, m, v * v, 1, o, s), FIRST, A[0, :2], A[1, :2], B[0, :2],
        B[1, :2],
    ),
    "rms_normalization": (lambda x, s: ops.rms_normalization(x, s, -1), A, B[0]),
    "layer_normalization": (lambda x, g, b: ops.layer_normalization(x, g, b, axis=-1), A, B[0], B[1]),
    "ctc_loss": (lambda x: ops.ctc_loss(np.array([[1, 2], [3, 3]]), x, np.array([2, 1]), np.array([5, 4])),
                 RNG.normal(size=(2, 5, 4))),
    "psnr": (lambda x, y: ops.psnr(x, y, 2.0), A, B),
    "dot_product_attention": (lambda q, k, v: ops.dot_product_attention(q, k, v, is_causal=True), *HEADS),
    "attention_of_shared_heads": (
        lambda q, k, v, b: ops.dot_product_attention(q, k, v, bias=b), RNG.normal(size=(2, 4, 4, 3)), *HEADS[1:],
        RNG.normal(size=(4, 5)),
    ),
    "unfold": (lambda x: ops.unfold(x, 2, 2, 1, 1), FIRST),
    "fold": (lambda x: ops.fold(x, (5, 6), 2, 1, 0, 1), RNG.normal(size=(1, 8, 20))),
    "depth_to_space": (lambda x: ops.depth_to_space(x, 2), RNG.normal(size=(1, 2, 3, 4))),
    "space_to_depth": (lambda x: ops.space_to_depth(x, 2, "channels_first"), RNG.normal(size=(1, 2, 2, 4))),
    **{f"segment_{how}": (lambda x, how=how: getattr(ops, f"segment_{how}")(x, np.array([2, 0, 2]), 3), A)
       for how in ("sum", "prod")},
    "segment_max": (lambda x: ops.segment_max(x, np.array([1, 0, 1]), 2), A),
    "segment_min": (lambda x: ops.segment_min(x, np.array([1, 0, 1]), 2), A),
    "top_k": (lambda x: ops.top_k(x, 2)[0], A),
    "logsumexp": (lambda x: ops.logsumexp(x, axis=(0, 1), keepdims=True), A),
    "cdist": (ops.cdist, A, B[:2]),
    "extract_sequences": (lambda x: ops.extract_sequences(x, 3, 1), A),
    "fft": (lambda x, y: ops.stack(ops.fft((x, y))), A, B),
    "fft2": (lambda x, y: ops.stack(ops.fft2((x, y))), A, B),
    "ifft2": (lambda x, y: ops.stack(ops.ifft2((x, y))), A, B),
    "rfft": (lambda x: ops.stack(ops.rfft(x, 6)), A),
    "irfft": (lambda x, y: ops.irfft((x, y), 6), A, B),
    "stft": (lambda x: ops.stack(ops.stft(x, 4, 2, 6)), RNG.normal(size=20)),
    "istft": (lambda x, y: ops.istft((x, y), 4, 2, 6), A, B),
    "rsqrt": (ops.rsqrt, P),
    "erf": (ops.erf, A),
    "erfc": (ops.erfc, A),
    "erfinv": (ops.erfinv, P),
    "logdet": (ops.logdet, S),
    "cholesky": (lambda x: ops.cholesky(x @ tf.transpose(x) + np.eye(3), upper=True), A),
    "cholesky_inverse": (ops.cholesky_inverse, np.tril(A[:, :3]) + 2 * np.eye(3)),
    "det": (ops.det, S),
    "eigh": (lambda x: ops.eigh(x + tf.transpose(x))[0], S),
    "inv": (ops.inv, S),
    "lu_factor": (lambda x: ops.lu_factor(x)[0], S),
    "qr": (lambda x: ops.qr(x)[1], np.ascontiguousarray(A.T)),
    "solve": (ops.solve, S, A[:, 0]),
    "solve_triangular": (lambda a, b: ops.solve_triangular(a, b, lower=True), S, A),
    "svd": (lambda x: ops.svd(x, compute_uv=False), A),
    "lstsq": (ops.lstsq, np.ascontiguousarray(A.T), B[:, :1].repeat(2, 1).T.reshape(2, 3)[:, :2].reshape(4, 1)),
    "pinv": (ops.pinv, A),
    **{f"norm_{order}": (lambda x, order=order: ops.norm(x, order, (0, 1)), A)
       for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)},
    **{f"vector_norm_{order}": (lambda x, order=order: ops.norm(x, order, 1, True), A)
       for order in (None, 0, 1, 3, np.inf, -np.inf)},
    "rgb_to_grayscale": (ops.image.rgb_to_grayscale, COLOURS),
    "rgb_to_hsv": (ops.image.rgb_to_hsv, COLOURS),
    "hsv_to_rgb": (lambda x: ops.image.hsv_to_rgb(x, "channels_first"), COLOURS),
    "affine_transform": (
        ops.image.affine_transform, IMAGE, np.stack([AFFINE, AFFINE])
    ),
    "affine_transform_reflected": (
        lambda x: ops.image.affine_transform(x, AFFINE, fill_mode="reflect", data_format="channels_first"), FIRST
    ),
    "perspective_transform": (lambda x: ops.image.perspective_transform(x, CORNERS, MOVED), IMAGE[:1]),
    "map_coordinates": (
        lambda x, at: ops.image.map_coordinates(x, at, 1, "wrap"), A, RNG.uniform(-4, 8, (2, 6))
    ),
    "map_coordinates_nearest": (lambda x: ops.image.map_coordinates(x, RNG.uniform(-1, 4, (2, 6)) * 0 + 1.2, 0), A),
    "gaussian_blur": (lambda x, s: ops.image.gaussian_blur(x, (3, 3), s, "channels_last"), IMAGE, np.array([0.8, 1.2])),
    "elastic_transform": (lambda x: ops.image.elastic_transform(x, 2.0, 1.0, seed=3), IMAGE),
    "scale_and_translate": (
        lambda x, s, t: ops.image.scale_and_translate(x, (2, 4, 8, 2), s, t, (1, 2), "cubic"), IMAGE,
        np.array([0.8, 1.3]), np.array([0.1, -0.2]),
    ),
    "sobel_edges": (lambda x: ops.image.sobel_edges(x, "channels_first"), FIRST),
}  # fmt: skip
LATER = {  # not in Keras 3.15
    "gammainc": (lambda x, y: ops.gammainc(x, y), abs(A) + 0.5, abs(B) + 0.2),
    "lgamma": (lambda x: ops.lgamma(x), A),
    "matrix_power": (lambda x: ops.linalg.matrix_power(x, 5), S),
    "matrix_power_of_inverses": (lambda x: ops.linalg.matrix_power(x, -2), S),
}
CASES |= {name: case for name, case in LATER.items() if hasattr(ops, "lgamma")}
# These read values while they run, or draw random numbers: one member at a time.
BY_VALUE = {"elastic_transform", "ctc_loss"}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_names_and_signatures(subject):
    """The reference is the source of Keras' NumPy backend, which gradtape replaces in this process."""
    backend = importlib.import_module(f"keras_gradtape.src.ops.{subject}")
    folder = Path(importlib.import_module("keras").__file__).parent / "src" / "backend" / "numpy"
    source = next(path for path in (folder / "ops" / f"{subject}.py", folder / f"{subject}.py") if path.exists())
    later = ("lgamma", "gammainc", "matrix_power", "top_k")  # not in Keras 3.15, or with other parameters there
    for function in ast.parse(source.read_text()).body:
        if isinstance(function, ast.FunctionDef) and not function.name.startswith("_"):
            if function.name in later and folder / f"{subject}.py" == source:
                continue
            found = inspect.signature(getattr(backend, function.name)).parameters
            assert list(found) == [argument.arg for argument in function.args.args], function.name
            assert [p.default for p in found.values() if p.default is not p.empty] == [
                ast.literal_eval(default) for default in function.args.defaults
            ], function.name


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    function, *inputs = CASES[name]
    exact, numeric = tf.test.compute_gradient(function, [tf.constant(x) for x in inputs], delta=1e-5)
    for found, expected in zip(exact, numeric, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_traced_and_batched(name):
    function, *inputs = CASES[name]
    inputs = [tf.constant(x) for x in inputs]
    expected = np.asarray(function(*inputs))
    np.testing.assert_allclose(tf.function(function)(*inputs), expected, rtol=1e-10, atol=1e-10)
    if name not in BY_VALUE:
        found = tf.vectorized_map(lambda xs: function(*xs), tuple(tf.stack([x, x * 1.01]) for x in inputs))
        np.testing.assert_allclose(np.asarray(found)[0], expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("axis", [-1, [-1], 2, 1, [1, 2]])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_layer_normalization_is_one_op_along_rows_and_has_the_same_values_elsewhere(axis, dtype):
    x = tf.constant(np.random.default_rng(0).standard_normal((2, 3, 4)), dtype)
    for scale, shift in ((True, True), (False, True), (False, False)):
        size = [x.dims[i] for i in np.atleast_1d(axis)]
        gamma = keras.ops.cast(keras.ops.arange(1, 1 + np.prod(size)), dtype) if scale else None
        beta = keras.ops.ones(size, dtype) if shift else None
        gamma = None if gamma is None else keras.ops.reshape(gamma, size)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = keras.ops.layer_normalization(x, gamma, beta, axis=axis, epsilon=1e-2)
        assert y.dtype == dtype
        known = x.numpy().astype("float64")
        over = tuple(np.atleast_1d(axis))
        known = (known - known.mean(over, keepdims=True)) / np.sqrt(known.var(over, keepdims=True) + 1e-2)
        full = [n if i in [a % 3 for a in over] else 1 for i, n in enumerate(x.dims)]
        known = known if gamma is None else known * np.reshape(gamma, full)
        known = known if beta is None else known + np.reshape(beta, full)
        near = 5e-3 if dtype == "float16" else 1e-5
        np.testing.assert_allclose(np.asarray(y, "float64"), known, rtol=near, atol=1e-5)
        assert tape.gradient(y, x).shape == x.shape


@pytest.mark.parametrize("name", ["squareplus", "sparse_plus", "celu"])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_activations_at_the_ends_of_the_range(name, dtype):
    largest = float(np.finfo(dtype).max)
    x = tf.constant([-largest, 0.0, 400.0, largest], dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = getattr(keras.ops, name)(x)
    at_0, slope_at_0 = {"squareplus": (1, 0.5), "sparse_plus": (0.25, 0.5), "celu": (0, 1)}[name]
    low = -1 if name == "celu" else 0
    np.testing.assert_allclose(y, [low, at_0, 400, largest], rtol=1e-3)
    np.testing.assert_allclose(tape.gradient(y, x), [0, slope_at_0, 1, 1], rtol=1e-3, atol=1e-6)


def test_glu_checks_its_axis():
    for axis in (2, -3):
        with pytest.raises(ValueError, match="out of bounds"):
            ops.glu(np.ones((2, 4)), axis=axis)
