"""Gradients that are products of matrices wait to be multiplied out: nobody must be able to tell."""

import copy
import pickle

import numpy as np
import pytest

import gradtape as tf
from gradtape.backends.numpy import onednn
from gradtape.backends.numpy.onednn.library import address
from gradtape.core.tensor import Tensor
from gradtape.engine.registry.deferred import DeferredProduct

rng = np.random.default_rng(0)
INPUTS = rng.standard_normal((16, 300)).astype(np.float32)
WEIGHTS = (rng.standard_normal((300, 200)) * 0.1).astype(np.float32)
EXPECTED = INPUTS.T @ (2 * (INPUTS @ WEIGHTS))


def gradient_of(w, x=INPUTS, **options):
    with tf.GradientTape(**options) as tape:
        loss = tf.reduce_sum(tf.matmul(x, w) ** 2)
    return tape.gradient(loss, w)


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=2e-4, atol=2e-4)


@pytest.fixture
def w():
    return tf.Variable(WEIGHTS)


@pytest.fixture
def g(w):
    found = gradient_of(w)
    assert type(found) is DeferredProduct
    return found


def test_waits_until_somebody_looks(g):
    assert g.shape == (300, 200)
    assert g.dtype == tf.float32
    assert type(g) is DeferredProduct
    close(g.numpy(), EXPECTED)
    assert type(g) is Tensor


@pytest.mark.parametrize(
    "look",
    [
        np.asarray,
        lambda g: tf.identity(g).numpy(),
        lambda g: (g + 0.0).numpy(),
        lambda g: (g * tf.constant(1.0)).numpy(),
        lambda g: tf.convert_to_tensor(g).numpy(),
        lambda g: tf.stack([g, g])[1].numpy(),
        lambda g: tf.concat([row[tf.newaxis] for row in g], 0).numpy(),
        lambda g: g[:].numpy(),
        lambda g: tf.function(lambda x: x + 0.0)(g).numpy(),
        lambda g: tf.function(lambda: g + 0.0)().numpy(),
        lambda g: tf.function(lambda x: x + g)(tf.zeros((300, 200))).numpy(),
        lambda g: tf.Variable(g).numpy(),
        lambda g: tf.Variable(tf.zeros((300, 200))).assign(g).numpy(),
        lambda g: tf.get_static_value(g),
        lambda g: pickle.loads(pickle.dumps(g)).numpy(),
        lambda g: copy.deepcopy(g).numpy(),
        lambda g: next(iter(tf.data.Dataset.from_tensors(g))).numpy(),
        lambda g: tf.vectorized_map(lambda row: row + 0.0, g).numpy(),
        lambda g: tf.clip_by_global_norm([g], 1e9)[0][0].numpy(),
        lambda g: tf.cond(tf.constant(True), lambda: g, lambda: -g).numpy(),
        lambda g: np.array([list(row) for row in g.numpy()]),
    ],
)
def test_whoever_looks_sees_the_product(g, look):
    close(look(g), EXPECTED)


def test_a_multiple_waits_too(g):
    half = 0.5 * g
    assert type(half) is type(half * 3) is DeferredProduct
    close((half * 3).numpy(), 1.5 * EXPECTED)
    close(half.numpy(), 0.5 * EXPECTED)
    assert type(g) is DeferredProduct


@pytest.mark.parametrize("factor", [0.0, np.inf, np.nan, 1e-38, 1e38])
def test_extreme_factors_multiply_the_numbers_themselves(g, factor):
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal((g * factor).numpy(), g.numpy() * np.float32(factor))


def test_no_factor_hides_a_nan(w):
    poisoned = INPUTS.copy()
    poisoned[0, 0] = np.nan
    assert np.isnan((0.0 * gradient_of(w, poisoned)).numpy()).any()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_step_is_taken_in_the_memory_of_the_variable(w, g, sign):
    before = address(w._array)
    (w.assign_add if sign > 0 else w.assign_sub)(0.01 * g)
    close(w.numpy(), WEIGHTS + sign * 0.01 * EXPECTED)
    assert address(w._array) == before or onednn.version() is None


def test_without_onednn(w, g, monkeypatch):
    monkeypatch.setattr(onednn, "add_product", lambda *_: False)
    w.assign_sub(0.01 * g)
    close(w.numpy(), WEIGHTS - 0.01 * EXPECTED)


def test_what_was_read_before_keeps_its_value(w, g):
    read, array = w.value(), np.asarray(w)
    w.assign_sub(0.01 * g)
    np.testing.assert_array_equal(read, WEIGHTS)
    np.testing.assert_array_equal(array, WEIGHTS)
    close(w.numpy(), WEIGHTS - 0.01 * EXPECTED)


@pytest.mark.parametrize("part", [lambda w: w[:2], lambda w: tf.reshape(w, [-1]), lambda w: np.asarray(w[1:])])
def test_what_is_a_part_of_the_value_keeps_it(part, w, g):
    read = part(w)
    before = np.array(read)
    w.assign_sub(0.01 * g)
    np.testing.assert_array_equal(read, before)
    close(w.numpy(), WEIGHTS - 0.01 * EXPECTED)


def test_a_step_after_the_gradient_was_looked_at(w, g):
    step = 0.01 * g
    step.numpy()
    w.assign_sub(step)
    close(w.numpy(), WEIGHTS - 0.01 * EXPECTED)


def test_inputs_that_are_the_variable_itself():
    square = tf.Variable(WEIGHTS[:200])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.matmul(tf.stop_gradient(square), square))
    g = tape.gradient(loss, square)
    square.assign_sub(g)
    expected = WEIGHTS[:200].T @ np.ones((200, 200), np.float32)
    close(square.numpy(), WEIGHTS[:200] - expected)
    close(g.numpy(), expected)


def test_a_step_of_the_wrong_shape_or_dtype_changes_nothing(g):
    for v in (tf.Variable(tf.zeros((200, 300))), tf.Variable(tf.zeros((300, 200), tf.float64))):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            v.assign_sub(g)
        assert not v.numpy().any()
    close(g.numpy(), EXPECTED)


def test_a_step_under_a_tape_is_recorded(w, g):
    with tf.GradientTape() as tape:
        tape.watch(g)
        twice = 2.0 * g
    close(tape.gradient(twice, g).numpy(), np.full((300, 200), 2.0))


def test_gradients_of_gradients(w):
    with tf.GradientTape() as outer:
        g = gradient_of(w)
        norm = tf.reduce_sum(g)
    expected = 2 * INPUTS.T @ (INPUTS @ np.ones((300, 200), np.float32))
    close(outer.gradient(norm, w).numpy(), expected)


def test_hooks_see_plain_tensors(w):
    seen = []
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.matmul(INPUTS, w) ** 2)
        tape.on_gradient(w, lambda g: seen.append(type(g)))
    close(tape.gradient(loss, w).numpy(), EXPECTED)
    assert seen == [Tensor]


def test_as_weights_of_another_gradient(w, g):
    with tf.GradientTape() as tape:
        y = w * 3.0
    close(tape.gradient(y, w, output_gradients=g).numpy(), 3 * EXPECTED)


@pytest.mark.parametrize("rows", [400, 16])
def test_what_would_hold_more_memory_than_the_product_does_not_wait(rows, w):
    x = tf.zeros((4000, 300))[:rows]
    assert type(gradient_of(w, x)) is Tensor


def test_memory_of_others_does_not_wait(w):
    memory = bytearray(INPUTS.tobytes())
    g = gradient_of(w, Tensor(np.frombuffer(memory, np.float32).reshape(INPUTS.shape)))
    memory[:] = bytes(len(memory))
    close(g.numpy(), EXPECTED)


STEPS = {
    "sub": lambda w, g: w.assign_sub(0.5 * g),
    "scaled twice": lambda w, g: w.assign_sub(g * 0.25 * 2.0),
    "add": lambda w, g: w.assign_add(g * tf.constant(-0.5)),
    "assign": lambda w, g: w.assign(w - 0.5 * g),
    "from the left": lambda w, g: w.assign(-0.5 * g + w),
    "looked at": lambda w, g: w.assign_sub(0.5 * tf.clip_by_value(g, -1e6, 1e6)),
    "used twice": lambda w, g: w.assign_sub(0.25 * g + 0.25 * g),
    "by a row": lambda w, g: w.assign_sub(tf.fill((200,), 0.5) * g),
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS.keys())
def test_steps_in_a_function(step):
    w, expected = tf.Variable(WEIGHTS), tf.Variable(WEIGHTS)

    @tf.function
    def train():
        g = gradient_of(w)
        step(w, g)
        return g

    for _ in range(3):
        g = gradient_of(expected)
        close(train().numpy(), g.numpy())
        step(expected, g)
        close(w.numpy(), expected.numpy())
        for v in (w, expected):
            v.assign(WEIGHTS)


def test_what_somebody_has_read_of_the_weights_is_not_changed_by_a_traced_step():
    w, v = tf.Variable(WEIGHTS), tf.Variable(tf.zeros((300, 200)))
    kept = []

    @tf.function
    def train():
        before = w.read_value()
        change = 0.5 * gradient_of(w)
        w.assign_sub(change)
        v.assign(before - change)
        kept.append(w)
        return before, w.read_value()

    outside = w.value()
    before, after = train()
    for old in (outside, before):
        np.testing.assert_array_equal(old.numpy(), WEIGHTS)
    for new in (after, w, v):
        close(new.numpy(), WEIGHTS - 0.5 * EXPECTED)
    w.assign_sub(tf.ones((300, 200)))
    close(after.numpy(), WEIGHTS - 0.5 * EXPECTED)


def test_two_weights_that_are_in_each_others_gradients():
    """The product for one holds the other's memory, which may not be written before."""
    a, b = (rng.standard_normal((256, 256)).astype(np.float32) * 0.1 for _ in range(2))
    x, y = tf.Variable(a), tf.Variable(b)

    @tf.function
    def train():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(x, y))
        dx, dy = tape.gradient(loss, [x, y])
        x.assign_sub(dx)
        y.assign_sub(dy)

    train()
    ones = np.ones((256, 256), np.float32)
    close(x.numpy(), a - ones @ b.T)
    close(y.numpy(), b - a.T @ ones)


def test_a_trace_that_fails_leaves_the_weights_alone():
    w = tf.Variable(WEIGHTS)

    @tf.function
    def train():
        w.assign_sub(0.5 * gradient_of(w))
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        train()
    np.testing.assert_array_equal(w.numpy(), WEIGHTS)


def test_what_is_done_with_it_is_explained(g):
    with tf.inspect.tracing():
        with tf.GradientTape() as tape:
            tape.watch(g)
        assert "mul used it after the tape's block had ended" in str(tape.explain(2.0 * g, g))
