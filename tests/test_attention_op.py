"""Attention against sums written out: random sizes, masks and dtypes; whole, in blocks, in functions and on XLA."""

import math
import tracemalloc
from functools import partial

import numpy as np
import pytest

import gradtape as tf
from gradtape.backends.torch import library
from gradtape.backends.torch.host_kernels import KERNELS, bind_kernel
from gradtape.engine.run.namespace import ops
from gradtape.ops.nn import attention

jax = pytest.importorskip("jax")

ERRORS = {"float64": 1e-12, "float32": 1e-5, "float16": 5e-3, "bfloat16": 4e-2}


def by_sums(q, k, v, bias, mask, scale, causal):
    """The output, one number after the other."""
    batch, queries, heads, _ = q.shape
    keys, shared = k.shape[1:3]
    y = np.zeros((batch, queries, heads, v.shape[-1]))
    bias, mask = (x if x is None else np.broadcast_to(x, (batch, heads, queries, keys)) for x in (bias, mask))
    for b, t, n in np.ndindex(batch, queries, heads):
        head = n // (heads // shared)
        scores = [scale * sum(x * y for x, y in zip(q[b, t, n], k[b, s, head], strict=True)) for s in range(keys)]
        scores = [x + (0 if bias is None else bias[b, n, t, s]) for s, x in enumerate(scores)]
        seen = [(mask is None or mask[b, n, t, s]) and (not causal or s <= t) for s in range(keys)]
        weights = [math.exp(x - max(scores)) * one for x, one in zip(scores, seen, strict=True)]
        weights = weights if any(seen) else [1.0] * keys
        for s, weight in enumerate(weights):
            y[b, t, n] += weight / sum(weights) * v[b, s, head]
    return y


def random_case(number):
    """Query, key, value, bias or None, mask or None, and the attributes, in float64."""
    rng = np.random.default_rng(number)
    batch, shared, groups = (int(rng.integers(1, n)) for n in (4, 4, 3))
    queries, keys = (int(rng.choice([1, 2, 3, 7, 9])) for _ in range(2))
    channels, width = (int(rng.integers(1, 6)) for _ in range(2))
    batch = batch if number % 11 else 0
    width = channels if number % 3 else width  # XLA's own attention has values as long as the keys
    matrices = (batch, shared * groups, queries, keys)
    q = rng.normal(size=(batch, queries, shared * groups, channels))
    k, v = rng.normal(size=(batch, keys, shared, channels)), rng.normal(size=(batch, keys, shared, width))

    def broadcast():
        return tuple(1 if rng.random() < 0.4 else n for n in matrices)

    bias = rng.normal(size=broadcast()) * 2 if number % 4 in (1, 3) else None
    mask = rng.random(broadcast()) < rng.choice([0.3, 0.7]) if number % 4 in (2, 3) else None
    return q, k, v, bias, mask, {"scale": float(rng.uniform(0.2, 1.5)), "causal": bool(rng.integers(2))}


def run(q, k, v, bias, mask, scale, causal):
    extras = [x for x in (bias, mask) if x is not None]
    return ops.scaled_dot_product_attention(q, k, v, *extras, scale=scale, causal=causal, biased=bias is not None)


def tensors(case, dtype):
    *arrays, mask, attrs = case
    arrays = [None if x is None else tf.cast(tf.constant(x), dtype) for x in arrays]
    return [*arrays, mask if mask is None else tf.constant(mask), attrs]


def with_gradients(q, k, v, bias, mask, attrs, weights):
    sources = [x for x in (q, k, v, bias) if x is not None]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        y = run(q, k, v, bias, mask, **attrs)
    return [y, *tape.gradient(y, sources, tf.cast(weights, y.dtype))]


def assert_close(found, known, dtype):
    for x, y in zip(found, known, strict=True):
        y = np.asarray(y, float)
        assert x.shape == y.shape
        np.testing.assert_allclose(np.asarray(x, float), y, rtol=0, atol=ERRORS[dtype] * max(abs(y).max(initial=0), 1))


@pytest.fixture(params=[(1 << 18, 1 << 11), (16, 0), (1, 0)], ids=["whole", "in blocks", "row by row"])
def block(request, monkeypatch):
    most, few = request.param
    monkeypatch.setattr(attention, "ATTENTION_BLOCK", most)
    monkeypatch.setattr(attention, "FEW", few)


@pytest.mark.parametrize("number", range(44))
def test_outputs(number, block):
    case = random_case(number)
    attrs = case[-1]
    attrs["scale"] *= 1 if number % 5 else 50  # scores in a large range
    for dtype in ERRORS if number % 2 else ["float32"]:
        given = tensors(case, dtype)
        exact = [None if x is None else np.asarray(x, float if x.dtype != tf.bool else None) for x in given[:5]]
        y = run(*given[:5], **attrs)
        assert y.dtype == dtype
        assert_close([y], [by_sums(*exact, **attrs)], dtype)


@pytest.mark.parametrize("number", range(24))
def test_gradients_by_differences(number, block):
    *arrays, attrs = case = random_case(number)
    rng = np.random.default_rng(number)
    weights = rng.normal(size=(*arrays[0].shape[:-1], arrays[2].shape[-1]))
    _, *slopes = with_gradients(*tensors(case, "float64"), weights)
    for i, slope in zip((i for i in range(4) if arrays[i] is not None), slopes, strict=True):
        direction = rng.normal(size=arrays[i].shape)
        there, back = ([x + step * direction if j == i else x for j, x in enumerate(arrays)] for step in (1e-5, -1e-5))
        change = np.vdot(weights, by_sums(*there, **attrs) - by_sums(*back, **attrs)) / 2e-5
        assert np.vdot(direction, slope) == pytest.approx(change, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("number", range(14))
def test_half_precision_gradients(number, block):
    """Rounding is that of the arguments and results: what is between is computed in float32."""
    case = random_case(number)
    weights = np.random.default_rng(number).normal(size=(*case[0].shape[:-1], case[2].shape[-1]))
    for dtype in ("float16", "bfloat16"):
        given = tensors(case, dtype)
        exact = [None if x is None or x.dtype == tf.bool else tf.cast(x, "float64") for x in given[:4]]
        known = with_gradients(*exact, given[4], given[5], tf.cast(tf.cast(weights, dtype), "float64"))
        assert_close(with_gradients(*given, weights), known, dtype)


@pytest.mark.parametrize("jit", [False, True], ids=["numpy", "xla"])
@pytest.mark.parametrize("number", range(1, 12))
def test_functions(number, jit):
    case = random_case(number)
    dtype = [*ERRORS][number % 3 + (number > 8)]
    weights = np.random.default_rng(number).normal(size=(*case[0].shape[:-1], case[2].shape[-1]))
    *given, mask, attrs = tensors(case, dtype)
    f = tf.function(lambda *xs: with_gradients(*xs, attrs, weights), jit_compile=jit)
    assert_close(f(*given, mask), with_gradients(*given, mask, attrs, weights), dtype)


def test_jax_computes_the_same():
    """The definition of masked rows is JAX's, and the kernel runs with its arrays."""
    for number in (7, 10):
        *arrays, attrs = random_case(number)
        given = [x if x is None else np.asarray(x, None if x.dtype == bool else "f") for x in arrays]

        def theirs(*xs, attrs=attrs):
            return jax.nn.dot_product_attention(*xs, scale=attrs["scale"], is_causal=attrs["causal"])

        def ours(*xs, attrs=attrs):
            kernel = attention.scaled_dot_product_attention.kernel
            return kernel(jax.numpy, *(x for x in xs if x is not None), **attrs, biased=xs[3] is not None)

        known = jax.jit(theirs)(*given)
        assert_close([run(*(x if x is None else tf.constant(x) for x in given), **attrs)], [known], "float32")
        assert_close([jax.jit(ours)(*given)], [known], "float32")


@pytest.mark.skipif(not library.IS_ENABLED, reason="PyTorch is not installed, or turned off")
@pytest.mark.parametrize("number", range(1, 33))
def test_pytorch_computes_the_same(number):
    *arrays, attrs = random_case(number)
    q, k, v, *extras = (x for x in arrays if x is not None)
    attrs["biased"] = arrays[3] is not None
    forward, back = attention.scaled_dot_product_attention, attention.scaled_dot_product_attention_back
    g = np.random.default_rng(number).normal(size=(*q.shape[:-1], v.shape[-1]))
    y = bind_kernel(KERNELS[forward.name])(q, k, v, *extras, **attrs)
    if k.shape != v.shape or not k.size:
        assert y is None
        return
    assert_close([y], [forward.kernel(np, q, k, v, *extras, **attrs)], "float64")
    found = bind_kernel(KERNELS[back.name])(g, q, k, v, *extras, **attrs, of_bias=False)
    assert_close(found, back.kernel(np, g, q, k, v, *extras, **attrs, of_bias=False), "float64")
    on_device = partial(KERNELS[back.name].function, library.torch())
    for dtype in (library.torch().float64, library.torch().bfloat16):
        given = [library.torch().from_numpy(x) for x in (g, q, k, v, *extras)]
        given = [x.to(dtype) if x.is_floating_point() else x for x in given]
        assert [x.dtype for x in on_device(*given, **attrs, of_bias=False)] == [dtype] * 3


def composite(q, k, v, bias, scale):
    scores = tf.einsum("btnc,bsnc->bnts", q, k) * scale + bias
    return tf.einsum("bnts,bsnc->btnc", tf.nn.softmax(scores), v)


def test_derivatives_of_other_kinds():
    """Second derivatives, forward mode, Jacobians, vectorized calls: as those of the ops it is made of."""
    rng = np.random.default_rng(0)
    q, k, v = (tf.constant(rng.normal(size=(2, n, 2, 3))) for n in (3, 4, 4))
    bias = tf.constant(rng.normal(size=(1, 2, 3, 4)))
    sources = [q, k, v, bias]
    weights = tf.constant(rng.normal(size=q.shape))

    def ours(q, k, v, bias):
        return run(q, k, v, bias, None, scale=0.7, causal=False)

    def theirs(q, k, v, bias):
        return composite(q, k, v, bias, 0.7)

    def second(f):
        with tf.GradientTape() as outer:
            outer.watch(sources)
            with tf.GradientTape() as tape:
                tape.watch(sources)
                y = tf.reduce_sum(f(*sources) * weights)
            first = tape.gradient(y, sources)
            total = sum(tf.reduce_sum(tf.sin(x)) for x in first)
        return outer.gradient(total, sources)

    def jacobians(f):
        with tf.GradientTape() as tape:
            tape.watch(sources)
            y = f(*sources)
        return tape.jacobian(y, sources)

    def forward(f):
        with tf.autodiff.ForwardAccumulator(sources, [tf.cos(x) for x in sources]) as accumulator:
            y = f(*sources)
        return [accumulator.jvp(y)]

    def vectorized(f):
        scaled = tf.constant([0.5, 1.0, 2.0], tf.float64)
        return [tf.vectorized_map(lambda c: f(q * c, k, v * c, bias), scaled),
                tf.vectorized_map(lambda c: f(q, k, v, bias * c), scaled)]  # fmt: skip

    def over(f):
        with tf.autodiff.ForwardAccumulator(q, tf.cos(q)) as accumulator:
            with tf.GradientTape() as tape:
                tape.watch(sources)
                y = tf.reduce_sum(f(*sources) * weights)
            first = tape.gradient(y, sources)
        return accumulator.jvp(first)

    for kind in (second, jacobians, forward, vectorized, over):
        assert_close(kind(ours), kind(theirs), "float64")


@pytest.mark.parametrize("shared", [True, False])
def test_gradients_of_each_example(shared):
    rng = np.random.default_rng(1)
    x = tf.constant(rng.normal(size=(3, 4, 2, 3)))
    weight = tf.Variable(rng.normal(size=(3, 3)))
    bias = tf.Variable(rng.normal(size=(1 if shared else 3, 2, 4, 4)))
    mask = tf.constant(rng.random((1, 1, 4, 4)) < 0.8)

    def losses(x, bias):
        q = tf.tensordot(x, weight, 1)
        return tf.reduce_sum(run(q, x, q, bias, mask, scale=0.5, causal=True) ** 2, axis=(1, 2, 3))

    with tf.GradientTape() as tape:
        y = losses(x, bias)
    found = tape.gradient(y, [weight, bias], per="example")
    for i in range(3):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(losses(x[i : i + 1], bias if shared else bias[i : i + 1]))
        known = tape.gradient(y, [weight, bias])
        known[1] = tf.convert_to_tensor(known[1])
        assert_close([found[0][i], found[1][i]], known, "float64")


def test_memory_of_a_long_sequence():
    """Forward and backward pass need far less than a matrix of weights."""
    tokens = 3000
    q, k, v = (tf.constant(x) for x in np.random.default_rng(0).normal(size=(3, 1, tokens, 2, 8)).astype("f"))
    bias = tf.constant(np.zeros((1, 1, 1, tokens), "f"))
    case = (q, k, v, bias, None, {"scale": 0.5, "causal": True}, np.ones(q.shape, "f"))
    with_gradients(*case)
    tracemalloc.start()
    with_gradients(*case)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2 * tokens * tokens * 4 / 6
