"""Random numbers: streams, replays, threads, distributions and their gradients."""

import contextlib
import random
import threading
import warnings

import numpy as np
import pytest
from scipy.special import gammainc, gammaincinv

import gradtape as tf
from gradtape.engine.registry.op import registry
from gradtape.engine.run.namespace import raw
from gradtape.engine.run.randomness import recording_seeds, replaying_seeds
from gradtape.inspect.checks.opcheck import draw
from gradtape.ops import load_all
from gradtape.ops.random.random import philox

half_normal = tf.random.stateless_parameterized_truncated_normal


def draws():
    """Draws one of everything that takes its seed from the global streams or from a generator."""
    generator = tf.random.get_global_generator()
    return [
        tf.random.uniform([3]), tf.random.normal([2, 2], seed=3), tf.random.truncated_normal([3]),
        tf.random.uniform([3], maxval=100, dtype=tf.int64), tf.random.gamma([2], [1.0, 2.0]),
        tf.random.poisson([2], [3.0, 30.0]), tf.random.categorical([[0.0, 1.0]], 4), tf.random.shuffle(tf.range(9)),
        generator.normal([3]), generator.uniform([3]), generator.binomial([2], 10.0, 0.5), generator.make_seeds(1),
    ]  # fmt: skip


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_philox_reference():
    """The test vectors of Salmon et al."""
    for counter, key, want in (
        ((0, 0), 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((2**64 - 1, 2**64 - 1), 2**64 - 1, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ((0x85A308D3243F6A88, 0x0370734413198A2E), 0x299F31D0A4093822, "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ):
        for count in (1, 100):
            got = philox.words(np, np.array([*counter, key], np.uint64), np.zeros(count, np.uint64))
            assert " ".join(f"{word:08x}" for word in got[-1].tolist()) == want


def test_chunks_join():
    state = np.array([2**64 - 3000, 7, 9], np.uint64)
    blocks = np.arange(10000, dtype=np.uint64)
    whole = philox.words(np, state, blocks)
    assert np.array_equal(whole[[0, 4095, 4096, 9999]], philox.words(np, state, blocks[[0, 4095, 4096, 9999]]))
    filled = philox.filled(np, state, 39999, 4, lambda xp, word: word)
    assert np.array_equal(filled, whole.reshape(-1)[:39999])


def test_replay_repeats_every_draw_and_moves_nothing():
    tf.random.set_seed(1)
    with recording_seeds() as seeds:
        first = draws()
    before = tf.random.get_global_generator().state.numpy()
    with replaying_seeds(seeds):
        assert same(first, draws())
    assert np.array_equal(before, tf.random.get_global_generator().state.numpy())
    with replaying_seeds(seeds):
        assert same(first, draws())
    assert not same(first, draws())


def test_nested_recordings_and_replays():
    with recording_seeds() as outer:
        a = tf.random.uniform([2])
        with recording_seeds() as inner:
            b = tf.random.uniform([2])
        with replaying_seeds(inner):
            assert np.array_equal(b, tf.random.uniform([2]))
        c = tf.random.uniform([2])
    assert len(outer) == 3 and len(inner) == 1
    with replaying_seeds(outer):
        again = [tf.random.uniform([2])]
        with recording_seeds() as recorded:
            again += [tf.random.uniform([2]), tf.random.uniform([2])]
    assert same([a, b, c], again)
    assert same(recorded, outer[1:])


def test_replay_of_too_little():
    with recording_seeds() as seeds:
        tf.random.uniform([2])
    with replaying_seeds(seeds):
        tf.random.uniform([2])
        with pytest.raises(RuntimeError, match="more random numbers"):
            tf.random.uniform([2])


def test_recordings_are_per_thread():
    with recording_seeds() as seeds:
        worker = threading.Thread(target=lambda: tf.random.uniform([2]))
        worker.start()
        worker.join()
    assert seeds == []


def test_without_seeds_draws_differ():
    tf.random.set_seed(None)
    assert not np.array_equal(tf.random.uniform([8]), tf.random.uniform([8]))
    assert not np.array_equal(tf.random.normal([8]), tf.random.normal([8]))


def test_a_stream_used_by_threads_gives_each_number_once():
    tf.random.set_seed(2)
    expected = np.concatenate([tf.random.uniform([10], seed=5).numpy() for _ in range(80)])
    tf.random.set_seed(2)
    found = []
    workers = [
        threading.Thread(target=lambda: found.extend(tf.random.uniform([10], seed=5).numpy() for _ in range(20)))
        for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert np.array_equal(np.sort(np.concatenate(found)), np.sort(expected))


@pytest.mark.parametrize(
    ("name", "numbers", "mean", "variance"),
    [
        ("uniform", lambda s, n: tf.random.stateless_uniform([n], s), 1 / 2, 1 / 12),
        ("normal", lambda s, n: tf.random.stateless_normal([n], s, 1.0, 2.0), 1.0, 4.0),
        ("normal64", lambda s, n: tf.random.stateless_normal([n], s, dtype=tf.float64), 0.0, 1.0),
        ("truncated", lambda s, n: tf.random.stateless_truncated_normal([n], s), 0.0, 0.774),
        ("gamma", lambda s, n: tf.random.stateless_gamma([n], s, 3.0, 2.0), 1.5, 0.75),
        ("small gamma", lambda s, n: tf.random.stateless_gamma([n], s, 0.3), 0.3, 0.3),
        ("poisson", lambda s, n: tf.random.stateless_poisson([n], s, 4.0, tf.float32), 4.0, 4.0),
        ("large poisson", lambda s, n: tf.random.stateless_poisson([n], s, 400.0, tf.float32), 400.0, 400.0),
        ("binomial", lambda s, n: tf.random.stateless_binomial([n], s, 8.0, 0.3, tf.float32), 2.4, 1.68),
        ("large binomial", lambda s, n: tf.random.stateless_binomial([n], s, 800.0, 0.7, tf.float32), 560.0, 168.0),
        ("bounded", lambda s, n: half_normal([n], s, 0.0, 1.0, 0.0, 9e9), 0.7979, 0.3634),
    ],
)  # fmt: skip
def test_moments(name, numbers, mean, variance):
    n = 40000
    drawn = np.asarray(numbers([11, 12], n), np.float64)
    assert abs(drawn.mean() - mean) < 5 * np.sqrt(variance / n)
    assert abs(drawn.var() / variance - 1) < 0.05


def test_frequencies():
    chances = np.array([0.1, 0.2, 0.7])
    drawn = tf.random.stateless_categorical(np.log(chances)[None], 20000, [1, 2]).numpy()
    assert np.allclose(np.bincount(drawn[0]) / 20000, chances, atol=0.02)
    places = [int(np.argmax(tf.random.shuffle(tf.range(4)).numpy() == 0)) for _ in range(400)]
    assert min(np.bincount(places, minlength=4)) > 60


def test_gradients_reach_the_parameters():
    mean, deviation = tf.constant([1.0, 2.0]), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([mean, deviation])
        y = tf.random.normal([5, 2], mean, deviation)
    to_mean, to_deviation = tape.gradient(y, [mean, deviation])
    assert np.allclose(to_mean, [5.0, 5.0])
    assert np.allclose(to_deviation, ((y - mean) / deviation).numpy().sum(), rtol=1e-4)
    alpha = tf.constant([0.5, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(alpha)
        y = tf.random.gamma([20000], alpha)
    # The mean of a gamma variable is alpha, so the mean of its derivative is 1.
    assert np.allclose(tape.gradient(y, alpha) / 20000, [1.0, 1.0], atol=0.03)
    logits = tf.constant([[0.0, 1.0]])
    with tf.GradientTape() as tape:
        tape.watch(logits)
        y = tf.cast(tf.random.categorical(logits, 5), tf.float32)
    assert tape.gradient(y, logits) is None


def test_gamma_derivative_for_large_concentrations():
    for alpha in (200.0, 5e3, 2e4, 1e6):
        a = np.full(3, alpha)
        x = alpha + np.array([-2.0, 0.0, 3.0]) * np.sqrt(alpha)
        got = raw.random_gamma_grad(a, x)
        rank, step = gammainc(a, x), 1e-4 * alpha
        numeric = (gammaincinv(a + step, rank) - gammaincinv(a - step, rank)) / (2 * step)
        assert np.allclose(got, numeric, rtol=1e-6)


def test_recomputed_dropout_has_the_same_mask():
    x = tf.constant(np.ones(50, np.float32))
    kept = []

    @tf.recompute_grad
    def dropped(value):
        mask = tf.cast(tf.random.uniform([50]) > 0.5, tf.float32)
        kept.append(mask.numpy())
        return value * mask

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = dropped(x)
    gradient = tape.gradient(y, x)
    assert len(kept) == 2
    assert np.array_equal(kept[0], kept[1])
    assert np.array_equal(gradient, kept[0])


def test_generator_is_a_view_of_its_variable():
    state = tf.Variable(np.array([1, 2, 3]), dtype=tf.int64)
    g = tf.random.Generator(state=state, alg="philox")
    assert g.state is state
    first = g.normal([2])
    g.reset([1, 2, 3])
    assert np.array_equal(first, g.normal([2]))
    with pytest.raises(AssertionError):
        tf.random.Generator(g, state=[1, 2, 3])
    with pytest.raises(AssertionError):
        tf.random.Generator()
    a, b = g.split(2)
    assert not np.array_equal(a.normal([4]), b.normal([4]))


def test_global_generator_can_be_replaced():
    before = tf.random.get_global_generator()
    mine = tf.random.Generator.from_seed(4)
    tf.random.set_global_generator(mine)
    try:
        assert tf.random.experimental.get_global_generator() is mine
    finally:
        tf.random.set_global_generator(before)


# TensorFlow's results: the batch size of each call, negative if no tape records it.
_CALLS_WITH_OTHER_SHAPES = {
    "one op": (
        lambda w, x: tf.reduce_sum(w * x * tf.random.uniform(tf.shape(x))),
        [(4, 2.638), (5, 2.9687), (6, 2.9409), (-6, 6.7074), (5, 2.4341), (6, 3.0601), (4, 2.1821)],
    ),
    "in a branch": (
        lambda w, x: tf.cond(
            tf.reduce_sum(x) > 0.0, lambda: tf.reduce_sum(w * x * tf.random.uniform(tf.shape(x))), lambda: w
        ),
        [(4, 2.638), (5, 2.9687), (6, 2.9409), (-6, 6.7074), (6, 2.8514), (5, 2.2333), (-4, 5.276), (4, 2.1821)],
    ),
}


@pytest.mark.parametrize("case", _CALLS_WITH_OTHER_SHAPES)
def test_one_stream_for_all_shapes_of_a_recorded_function(case):
    body, calls = _CALLS_WITH_OTHER_SHAPES[case]
    tf.random.set_seed(3)
    w = tf.Variable(2.0)
    f = tf.function(lambda x: body(w, x), reduce_retracing=True)
    for size, expected in calls:
        x = tf.ones([abs(size)])
        if size < 0:
            found = f(x)
        else:
            with tf.GradientTape() as tape:
                y = f(x)
            found = tape.gradient(y, w)
        np.testing.assert_allclose(found, expected, atol=1e-3)


def test_each_call_of_an_inner_function_goes_on_in_a_stream_of_its_own():
    """Whether a tape records or not; the numbers are TensorFlow's."""
    tf.random.set_seed(3)
    w = tf.Variable(2.0)
    inner = tf.function(lambda w, x: tf.reduce_sum(w * x * tf.random.uniform(tf.shape(x))))
    f = tf.function(lambda x: inner(w, x) + inner(w, x))
    with tf.GradientTape() as tape:
        y = f(tf.ones([6]))
    np.testing.assert_allclose(tape.gradient(y, w), 6.7074, atol=1e-3)
    np.testing.assert_allclose(f(tf.ones([6])), 13.4147, atol=1e-3)


def global_random_state():
    """Returns what both global generators will draw next."""
    _, words, position, *rest = np.random.get_state()  # noqa: NPY002
    return random.getstate(), words.tobytes(), position, rest


def test_no_op_draws_from_global_generators():
    """Those of NumPy and Python belong to the program; `conftest.py` checks the examples of public functions."""
    load_all()
    before = global_random_state()
    for op in list(registry.values()):
        for case in op.samples:
            xs = [tf.constant(x) for x in draw(op, case)]
            with warnings.catch_warnings(), tf.GradientTape() as tape:
                warnings.simplefilter("ignore")
                floats = [x for x in xs if x.dtype.is_floating or x.dtype.is_complex]
                tape.watch(floats)
                ys = op(*xs, **case.attrs)
            ys = [y for y in (ys if type(ys) is tuple else (ys,)) if y.dtype.is_floating or y.dtype.is_complex]
            if ys and floats and op.vjp is not None and not op.backward_may_raise:
                with contextlib.suppress(LookupError, tf.errors.UnimplementedError):  # without a derivative
                    tape.gradient(ys, floats)
        assert global_random_state() == before, op.name
