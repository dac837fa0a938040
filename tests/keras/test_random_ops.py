"""`keras.random` on gradtape: draws are functions of the seed, the same eagerly and in a function."""

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras
random = keras.random
DRAWS = {
    "normal": lambda seed: random.normal((2, 3), 1.0, 2.0, seed=seed),
    "uniform": lambda seed: random.uniform((2, 3), -1.0, 1.0, seed=seed),
    "truncated_normal": lambda seed: random.truncated_normal((2, 3), seed=seed),
    "randint": lambda seed: random.randint((2, 3), 0, 1000, "int16", seed=seed),
    "categorical": lambda seed: random.categorical(np.zeros((2, 50), "float32"), 4, seed=seed),
    "gamma": lambda seed: random.gamma((2, 3), 0.5, seed=seed),
    "beta": lambda seed: random.beta((2, 3), 0.5, 2.0, seed=seed),
    "binomial": lambda seed: random.binomial((2, 3), 100.0, 0.3, seed=seed),
    "shuffle": lambda seed: random.shuffle(np.arange(12.0), seed=seed),
    "dropout": lambda seed: random.dropout(np.ones((4, 5), "float32"), 0.5, seed=seed),
}


@pytest.mark.parametrize("name", DRAWS)
def test_same_seed_same_numbers(name):
    draw = DRAWS[name]
    np.testing.assert_array_equal(draw(5), draw(5))
    assert not np.array_equal(draw(5), draw(6))

    def sequence(traced):
        generator = random.SeedGenerator(7)
        step = tf.function(lambda: draw(generator)) if traced else lambda: draw(generator)
        return [np.asarray(step()) for _ in range(3)]

    eager, traced = sequence(False), sequence(True)
    np.testing.assert_array_equal(eager, traced)
    assert not np.array_equal(eager[0], eager[1])


def test_moments():
    x = np.asarray(random.normal((20000,), 1.0, 2.0, seed=1))
    assert abs(x.mean() - 1) < 0.05
    assert abs(x.std() - 2) < 0.05
    a = np.asarray(random.beta((20000,), 2.0, 3.0, seed=1))
    assert abs(a.mean() - 0.4) < 0.01
    assert abs(np.asarray(random.truncated_normal((20000,), seed=1))).max() <= 2
    rows = np.asarray(random.shuffle(np.arange(20).reshape(10, 2), seed=1))
    assert sorted(rows[:, 0].tolist()) == list(range(0, 20, 2))
    np.testing.assert_array_equal(rows[:, 1] - rows[:, 0], 1)


def test_dropout_keeps_the_mean_and_its_gradient():
    x = tf.constant(np.full((200, 200), 3.0, "float32"))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = random.dropout(x, 0.25, noise_shape=(200, 1), seed=4)
    g = np.asarray(tape.gradient(y, x))
    np.testing.assert_allclose(np.asarray(y), g * 3.0, rtol=1e-6)
    assert abs(np.asarray(y).mean() - 3) < 0.3
    assert set(np.unique(g.round(4))) == {0.0, np.float32(1.3333)}
    assert (np.asarray(y) == np.asarray(y)[:, :1]).all()


def test_draws_without_a_seed_are_tensorflows():
    keras.utils.set_random_seed(7)  # the numbers are those of TensorFlow 2.21
    for expected in ([-1.502846, -0.191098], [-0.134855, -0.037304], [-0.958386, 1.353534]):
        np.testing.assert_allclose(random.normal((2,)), expected, atol=1e-5)
    np.testing.assert_allclose(random.uniform((2,)), [0.749817, 0.540304], atol=1e-5)
    assert np.asarray(random.randint((3,), 0, 100)).tolist() == [51, 47, 82]
    assert np.asarray(random.randint((3,), 0, 100, dtype="uint8")).tolist() == [80, 29, 47]
    np.testing.assert_allclose(random.beta((2,), 2.0, 3.0), [0.32385, 0.339651], atol=1e-5)
    assert np.asarray(random.shuffle(np.arange(6))).tolist() == [4, 1, 3, 0, 2, 5]
    assert random.SeedGenerator(1).state.dtype == "int64"


def test_bounds_of_float64_are_rounded_as_on_tensorflow():
    rounded = random.uniform((2,), 0.1, 0.7, dtype="float64", seed=3)
    np.testing.assert_allclose(rounded, [0.4403818083536352, 0.2549213853582146], rtol=1e-15)
    unit = np.asarray(random.uniform((2,), dtype="float64", seed=3))
    low, high = (float(np.float32(bound)) for bound in (0.1, 0.7))
    np.testing.assert_allclose(rounded, low + unit * (high - low), rtol=1e-14)
