"""Functions whose graph depends on input values, called in random orders, give the eager results.

Shapes depend on values (masks, indices, ranges), and so do iteration counts, axes and sizes. A graph is specialized for
values, and a run with other values must detect that: also if what depends on them is empty, unused, or inside a branch
or a loop.
"""

import numpy as np
import pytest

import gradtape as tf
from gradtape.graph.ir.effects import same

VALUES = [[3.0, -2.0, 0.5], [-1.0, -2.0, -3.0], [7.0, 7.0, 2.0], [0.05, 4.0, -1.0], [-0.5, 1.0, 1.0], [0.0, 0.0, 0.0]]


def masked(x):
    return tf.boolean_mask(x, x > 0.1)


def count(x):
    return tf.reduce_sum(tf.cast(x > 0.1, tf.int32))


def gradient(f):
    def of(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tf.convert_to_tensor(tape.gradient(y, x, unconnected_gradients="zero"))

    return of


def jacobian_of_mask(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = masked(x * x) * x[0]
    return tf.reduce_sum(tape.jacobian(y, x), 0)


def rounds(x):
    y, i = x, tf.constant(0)
    while i < count(x):
        y = tf.sin(y) * x + 1.0
        i += 1
    return y


def rounds_over_range(x):
    y = x
    for _ in tf.range(count(x)):
        y = y * tf.cos(x) + 0.5
    return y


def rounds_over_mask(x):
    total = tf.constant(0.0)
    for row in masked(x):
        total = total * 0.5 + row * row
    return total


def mask_in_test(x):
    i = tf.constant(0.0)
    while tf.reduce_sum(tf.boolean_mask(x, x > i)) > 1.0 and i < 5.0:
        i += 1.0
    return i


def mask_in_body(x):
    y, i = x, tf.constant(0)
    while i < 3:
        y = y - tf.reduce_sum(tf.boolean_mask(y, y > 0.6)) * 0.1
        i += 1
    return y


def mask_in_branch(x):
    if tf.reduce_sum(x) > 0.0:
        y = tf.reduce_sum(masked(x)) * 2.0
    else:
        y = tf.reduce_sum(tf.boolean_mask(x, x < -1.5))
    return y


def branch_on_size(x):
    if tf.size(masked(x)) > 1:
        y = x * 2.0
    else:
        y = x - 1.0
    return y


def parts(x):
    a, b = tf.dynamic_partition(x, tf.cast(x > 0.1, tf.int32), 2)
    return tf.reduce_sum(a) - 3.0 * tf.reduce_sum(b) + tf.cast(tf.size(a), tf.float32)


def distinct(x):
    y, index = tf.unique(tf.round(x))
    return tf.reduce_sum(y) + tf.cast(tf.size(y) + tf.reduce_sum(index), tf.float32)


def second_derivative(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(masked(x) ** 3)
        g = inner.gradient(y, x)
    return outer.gradient(g, x)


def tangent_of_mask(x):
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
        y = tf.reduce_sum(masked(x) ** 2)
    return acc.jvp(y)


FUNCTIONS = {
    "sum of a mask": lambda x: tf.reduce_sum(masked(x)),
    "size of a mask": lambda x: tf.cast(tf.size(masked(x)), tf.float32),
    "shape of a mask": lambda x: tf.cast(tf.shape(masked(x))[0], tf.float32) + x,
    "a mask": masked,
    "where and gather": lambda x: tf.reduce_sum(tf.gather_nd(x, tf.where(x > 0.1))),
    "where": lambda x: tf.where(x > 0.1),
    "ones like a mask": lambda x: tf.reduce_sum(tf.ones_like(masked(x))) + x[0],
    "gradient of a mask": gradient(lambda x: tf.reduce_sum(masked(x) ** 2)),
    "gradient of where and gather": gradient(lambda x: tf.reduce_sum(tf.gather_nd(x, tf.where(x > 0.1)) ** 2)),
    "jacobian of a mask": jacobian_of_mask,
    "second derivative of a mask": second_derivative,
    "tangent of a mask": tangent_of_mask,
    "mask in a branch": mask_in_branch,
    "gradient of a mask in a branch": gradient(mask_in_branch),
    "branch on a size": branch_on_size,
    "mask in a test": mask_in_test,
    "mask in a body": mask_in_body,
    "rounds": rounds,
    "gradient of rounds": gradient(rounds),
    "rounds over a range": rounds_over_range,
    "gradient of rounds over a range": gradient(rounds_over_range),
    "rounds over a mask": rounds_over_mask,
    "gradient of rounds over a mask": gradient(rounds_over_mask),
    "partition": parts,
    "gradient of a partition": gradient(parts),
    "unique": distinct,
    "range": lambda x: tf.reduce_sum(tf.range(count(x))),
    "repeat": lambda x: tf.repeat(x, tf.maximum(tf.cast(x, tf.int32), 0)),
    "axis": lambda x: tf.reduce_sum(tf.stack([x, x * 2.0]), axis=tf.minimum(count(x), 1)),
    "slice": lambda x: tf.reduce_sum(x[: count(x)]) * x[0],
    "reshape": lambda x: tf.tile(x, [count(x)]),
    "sorted mask": lambda x: tf.sort(masked(x)),
    "size of a mask of 64 bits": lambda x: tf.reduce_sum(tf.where(tf.cast(x, tf.float64) / 3 > 0.1)) * (1 << 40),
}


def calls(seed):
    """Returns values in a random order; a completely masked one comes early in half of them."""
    order = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(VALUES)), 2))
    return [1, *order] if seed % 2 else [0, 1, *order]


@pytest.fixture(params=[False, True], ids=["numpy", "xla"])
def jit_compile(request):
    if request.param:
        request.getfixturevalue("quick_xla")
    return request.param


@pytest.mark.parametrize("name", FUNCTIONS)
def test_called_in_random_orders(name, jit_compile):
    f = FUNCTIONS[name]
    for seed in [len(name) % 2] if jit_compile else range(2):  # XLA takes long to compile
        compiled = tf.function(f, jit_compile=jit_compile)
        for i in calls(seed):
            x = tf.constant(VALUES[i])
            expected = f(x)
            np.testing.assert_allclose(compiled(x), expected, rtol=1e-5, atol=1e-5, err_msg=f"{VALUES[i]}")
            assert compiled(x).shape == expected.shape


@pytest.mark.parametrize("f", [mask_in_branch, mask_in_body, rounds, rounds_over_range, parts])
def test_differentiated_from_outside(f, jit_compile):
    for seed in [0] if jit_compile else range(2):
        compiled = tf.function(f, jit_compile=jit_compile)
        for i in calls(seed):
            x = tf.constant(VALUES[i])
            np.testing.assert_allclose(gradient(compiled)(x), gradient(f)(x), rtol=1e-5, atol=1e-5)


def test_assigned(jit_compile):
    v, w = tf.Variable(0.0), tf.Variable(0.0)

    def step(x, v):
        v.assign_add(tf.reduce_sum(masked(x)))

    compiled = tf.function(lambda x: step(x, w), jit_compile=jit_compile)
    for i in calls(0) + calls(1):
        step(tf.constant(VALUES[i]), v)
        compiled(tf.constant(VALUES[i]))
        assert v.numpy() == pytest.approx(w.numpy())


def test_values_of_64_bits_reach_the_host_as_they_are():
    """NumPy callbacks in the middle of a program run in a thread of XLA's, where JAX rounds to 32 bits."""
    pytest.importorskip("jax")

    def f(v, x):
        a = tf.math.special.expint(abs(v) + 0.5) * x
        where = tf.where(a > 0.1)
        return tf.reduce_sum(tf.gather_nd(a, where)), where

    for dtype in (tf.float32, tf.float64):
        compiled = tf.function(f, jit_compile=True)
        for _ in range(3):
            v, x = tf.random.normal([2, 300, 40], dtype=dtype)
            for _ in range(2):
                for y, expected in zip(compiled(v, x), f(v, x), strict=True):
                    np.testing.assert_allclose(y, expected, rtol=1e-4 if dtype == tf.float32 else 1e-12)


@pytest.mark.parametrize("dtype", [tf.int64, tf.uint64, tf.float64, tf.complex128, tf.complex64, tf.float32])
def test_calls_of_python_get_all_bits(dtype):
    pytest.importorskip("jax")
    x = tf.cast(tf.constant([[3, (1 << 40) + 1, 5]], tf.int64), dtype)
    big = tf.function(lambda x: tf.numpy_function(lambda a: a + a[0, 0], [x], dtype), jit_compile=True)
    for _ in range(3):
        y = big(x)
        np.testing.assert_array_equal(y, x.numpy() + x.numpy()[0, 0])


@pytest.mark.parametrize("dtype", [tf.bfloat16, tf.float16, tf.float32, tf.complex64])
def test_nan_equals_nan_in_a_guard(dtype):
    nan, one = (tf.cast(tf.constant([1.0, x]), dtype).numpy() for x in (float("nan"), 1.0))
    assert same(nan, nan.copy()) and not same(nan, one) and not same(one, nan)
