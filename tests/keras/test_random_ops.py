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
