"""`jacobian` and `batch_jacobian`: every entry of the target with respect to every entry of the source."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.engine.derivatives import jacobians


def recorded(f, *values, persistent=False):
    xs = [tf.constant(v) for v in values]
    with tf.GradientTape(persistent) as tape:
        tape.watch(xs)
        y = f(*xs)
    return (tape, y, *xs)


def test_the_shape_is_the_targets_and_the_sources():
    tape, y, x = recorded(lambda x: tf.reduce_sum(x[:, None] * x, axis=0)[:, None] * x[0], np.ones((2, 3), np.float32))
    assert tape.jacobian(y, x).shape == (*y.shape, 2, 3)
    tape, y, x = recorded(tf.reduce_sum, np.ones((2, 3), np.float32))
    assert tape.jacobian(y, x).shape == (2, 3)


def test_entries():
    tape, y, x = recorded(lambda x: tf.stack([x[0] * x[1], x[1] ** 2]), [3.0, 5.0])
    assert tape.jacobian(y, x).numpy().tolist() == [[5, 3], [0, 10]]


def test_nested_sources_and_one_target():
    tape, y, a, b = recorded(lambda a, b: a * b, [1.0, 2.0], [3.0, 4.0], persistent=True)
    result = tape.jacobian(y, {"a": a, "b": [b]})
    assert result["b"][0].numpy().tolist() == [[1, 0], [0, 2]]
    for bad in ([y, y], None):
        with pytest.raises(AttributeError, match="has no attribute 'shape'"):
            tape.jacobian(bad, a)


def test_unconnected():
    tape, y, _ = recorded(lambda x: x * 2.0, [1.0, 2.0], persistent=True)
    other = tf.constant([[1.0]])
    assert tape.jacobian(y, other) is None
    zeros = tape.jacobian(y, other, unconnected_gradients="zero")
    assert zeros.shape == (2, 1, 1)
    assert not zeros.numpy().any()


def test_without_vectorisation_the_tape_must_be_persistent():
    tape, y, x = recorded(lambda x: x * x, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="persistent=True to compute the jacobian"):
        tape.jacobian(y, x, experimental_use_pfor=False)
    tape, y, x = recorded(lambda x: x * x, [1.0, 2.0], persistent=True)
    assert tape.jacobian(y, x, experimental_use_pfor=False).numpy().tolist() == [[2, 0], [0, 4]]
    assert tape.jacobian(y, x, parallel_iterations=1).numpy().tolist() == [[2, 0], [0, 4]]


@pytest.mark.parametrize("persistent", [False, True])
def test_inside_the_block(persistent):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent) as tape:
        tape.watch(x)
        j = tape.jacobian(x * x, x)
        again = tape.jacobian(j, x) if persistent else None
    assert j.numpy().tolist() == [[2, 0], [0, 4]]
    if persistent:
        assert again.numpy().tolist() == [[[2, 0], [0, 0]], [[0, 0], [0, 2]]]


def test_gather_in_the_path_gives_a_dense_jacobian():
    tape, y, x = recorded(lambda x: tf.gather(x, [2, 0]), [1.0, 2.0, 3.0])
    assert tape.jacobian(y, x).numpy().tolist() == [[0, 0, 1], [1, 0, 0]]


def test_empty_target():
    tape, y, x = recorded(lambda x: x[:0], [1.0, 2.0])
    assert tape.jacobian(y, x).shape == (0, 2)


def test_integer_target():
    tape, y, x = recorded(lambda x: tf.cast(x, tf.int32), [1.0, 2.0])
    assert tape.jacobian(y, x) is None


def test_mixed_precision():
    for vectorised in (True, False):
        tape, y, x = recorded(lambda x: tf.cast(x, tf.float64) ** 2, [1.0, 2.0], persistent=True)
        j = tape.jacobian(y, x, experimental_use_pfor=vectorised)
        assert j.dtype == tf.float32
        assert j.numpy().tolist() == [[2, 0], [0, 4]]


def test_a_jacobian_too_large_at_once_is_computed_in_chunks(monkeypatch):
    f = lambda x: tf.tanh(x) * x[0]  # noqa: E731
    value = np.linspace(0.1, 1.0, 7).astype(np.float32)
    tape, y, x = recorded(f, value)
    whole = tape.jacobian(y, x).numpy()
    monkeypatch.setattr(jacobians, "CHUNK_BYTES", 60)
    tape, y, x = recorded(f, value)
    np.testing.assert_array_equal(tape.jacobian(y, x).numpy(), whole)
    with pytest.raises(RuntimeError):
        tape.gradient(y, x)


def test_second_order_through_a_jacobian():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(x**3)
        g = inner.gradient(y, x)
    assert outer.jacobian(g, x).numpy().tolist() == [[6, 0], [0, 12]]


def test_batch_jacobian_entries():
    tape, y, x = recorded(lambda x: tf.stack([x[:, 0] * x[:, 1], x[:, 1]], axis=1), [[1.0, 2.0], [3.0, 4.0]])
    assert tape.batch_jacobian(y, x).numpy().tolist() == [[[2, 1], [0, 1]], [[4, 3], [0, 1]]]


def test_batch_jacobian_in_several_rounds_needs_a_persistent_tape():
    x = tf.constant([[3.0]])
    for persistent, rounds in ((True, 2), (False, 1), (False, 2)):
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch(x)
            y = tf.tile(x * x, [1, 4])
        if persistent or rounds == 1:
            assert tape.batch_jacobian(y, x, parallel_iterations=8 // rounds).numpy().ravel().tolist() == [6.0] * 4
        else:
            with pytest.raises(RuntimeError, match=r"persistent=True.*parallel_iterations"):
                tape.batch_jacobian(y, x, parallel_iterations=4)


def test_batch_jacobian_of_higher_rank():
    tape, y, x = recorded(lambda x: x[:, :, None] * tf.ones((1, 1, 4)), np.ones((2, 3), np.float32))
    assert tape.batch_jacobian(y, x).shape == (2, 3, 4, 3)


@pytest.mark.parametrize(
    ("target", "source", "error", "words"),
    [
        (lambda x: x[:, 0], lambda x: x, ValueError, r"Shape \(2,\) must have rank at least 2"),
        (lambda x: x[0, 0], lambda x: x, ValueError, r"must have rank at least 2"),
        (lambda x: x[:1], lambda x: x, ValueError, "Need first dimension of target shape"),
        (lambda x: x, lambda x: [x], AttributeError, "'list' object has no attribute 'shape'"),
    ],
)
def test_batch_jacobian_of_what_has_no_rows(target, source, error, words):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = target(x)
    with pytest.raises(error, match=words):
        tape.batch_jacobian(y, source(x))


def test_batch_jacobian_unconnected_is_zeros():
    tape, y, _ = recorded(lambda x: x * 1.0, np.ones((2, 3), np.float32))
    other = tf.ones((2, 4))
    assert tape.batch_jacobian(y, other).numpy().tolist() == np.zeros((2, 3, 4)).tolist()


def test_batch_jacobian_notices_rows_that_depend_on_each_other(caplog):
    f = lambda x: x - tf.reduce_mean(x, axis=0)  # noqa: E731
    tape, y, x = recorded(f, [[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(ValueError, match="depend on other rows"):
        tape.batch_jacobian(y, x, check_rows=True)
    assert caplog.text == ""
    summed = tape.batch_jacobian(y, x)
    assert "depend on other rows" in caplog.text
    assert summed.shape == (2, 2, 2)
    caplog.clear()
    tape, y, x = recorded(f, [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(tape.batch_jacobian(y, x, check_rows=False), summed)
    assert caplog.text == ""


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64, tf.complex64])
def test_batch_jacobian_of_independent_rows_does_not_warn(dtype, caplog):
    x = tf.cast(tf.constant([[0.5, 1.5, -2.0], [3.0, 4.0, 0.1]]), dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x * tf.reduce_sum(x, axis=1, keepdims=True)
    assert tape.batch_jacobian(y, x).shape == (2, 3, 3)
    assert caplog.text == ""


def test_batch_jacobian_in_chunks(monkeypatch):
    f = lambda x: tf.tanh(x) * x[:, :1]  # noqa: E731
    value = np.linspace(0.1, 1.0, 10).reshape(2, 5)
    tape, y, x = recorded(f, value)
    whole = tape.batch_jacobian(y, x).numpy()
    monkeypatch.setattr(jacobians, "CHUNK_BYTES", 200)
    tape, y, x = recorded(f, value, persistent=True)
    np.testing.assert_array_equal(tape.batch_jacobian(y, x).numpy(), whole)
    np.testing.assert_array_equal(tape.batch_jacobian(y, x, experimental_use_pfor=False).numpy(), whole)


def test_batch_jacobian_without_vectorisation():
    tape, y, x = recorded(lambda x: x * x, np.ones((2, 3), np.float32))
    with pytest.raises(RuntimeError, match="persistent=True to compute the batch_jacobian"):
        tape.batch_jacobian(y, x, experimental_use_pfor=False)


def test_batch_jacobian_of_no_rows():
    tape, y, x = recorded(lambda x: x * x, np.zeros((0, 3), np.float32))
    assert tape.batch_jacobian(y, x).shape == (0, 3, 3)


def test_a_complex_target_of_a_real_source_has_a_complex_jacobian():
    tape, y, x = recorded(lambda x: tf.complex(x, x * x), [1.0, 2.0])
    j = tape.jacobian(y, x)
    assert j.dtype == tf.complex64
    assert j.numpy().tolist() == [[1 + 2j, 0], [0, 1 + 4j]]


def test_an_empty_target_has_no_jacobian_by_what_it_does_not_depend_on():
    x, u = tf.constant([[1.0, 2.0]]), tf.constant([[3.0]])
    for use_pfor in (True, False):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, u])
            y = x[:0] * 2
            z = tf.complex(x[:0], x[:0])
        by_x, by_u = tape.jacobian(y, [x, u], experimental_use_pfor=use_pfor)
        assert by_x.shape == (0, 2, 1, 2) and by_u is None
        assert tape.jacobian(y, u, unconnected_gradients="zero").shape == (0, 2, 1, 1)
        assert tape.jacobian(z, u) is None and tape.jacobian(z, x).shape == (0, 2, 1, 2)
