"""Tensor arrays inside a tape; the recorded comparison covers individual cases."""

import pytest

import gradtape as tf


def test_a_loop_that_writes_is_differentiable_twice():
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            array, value = tf.TensorArray(tf.float32, size=0, dynamic_size=True), x
            for i in range(3):
                array = array.write(i, value)
                value = value * x
            y = tf.reduce_sum(array.stack())
        g = inner.gradient(y, x)
    assert float(g) == 1.0 + 4.0 + 12.0
    assert float(outer.gradient(g, x)) == 2.0 + 12.0


def test_jacobian_and_forward_mode():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape, tf.autodiff.ForwardAccumulator(x, tf.ones(3)) as acc:
        tape.watch(x)
        y = tf.TensorArray(tf.float32, 3).unstack(x * x).gather([2, 0])
    assert tape.jacobian(y, x).numpy().tolist() == [[0.0, 0.0, 6.0], [2.0, 0.0, 0.0]]
    assert acc.jvp(y).numpy().tolist() == [6.0, 2.0]


def test_entries_are_written_for_all_who_share_the_array():
    first = tf.TensorArray(tf.float32, 2)
    second = first.write(0, 1.0)
    second.write(1, 2.0)
    assert first is not second
    assert first.stack().numpy().tolist() == second.identity().stack().numpy().tolist() == [1.0, 2.0]


def test_dtypes_and_shapes():
    assert tf.TensorArray("int32", 1).write(0, 3).read(0).dtype is tf.int32
    array = tf.TensorArray(tf.float32, 2, element_shape=[None, 2])
    assert array.element_shape == [None, 2]
    assert array.write(0, tf.ones([3, 2])).element_shape == [3, 2]


@pytest.mark.parametrize(("value", "lengths"), [(1.0, [1]), ([1.0, 2.0], 2), ([1.0, 2.0], [[2]])])
def test_only_rows_are_split_and_by_a_list_of_lengths(value, lengths):
    with pytest.raises(tf.errors.InvalidArgumentError, match="a vector"):
        tf.TensorArray(tf.float32, size=1).split(value, lengths)


def test_errors_of_indices_are_other_ones_in_functions():
    for use, message in [
        (lambda: tf.TensorArray(tf.float32, 1).write(0, 1.0).read(5), "Trying to access element 5 in a list with 1"),
        (lambda: tf.TensorArray(tf.float32, 1).write(3, 1.0).stack(), "Trying to modify element 3 in a list with 1"),
        (lambda: tf.TensorArray(tf.float32, 2).stack(), "never written"),
    ]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            tf.function(use)()
        with pytest.raises((tf.errors.OutOfRangeError, ValueError)):
            use()


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_strings_never_written_are_empty(wrap):
    @wrap
    def one_of_three(x):
        return tf.TensorArray(tf.string, 3, element_shape=[2]).write(1, tf.stack([x, "z"])).stack()

    assert one_of_three(tf.constant("a")).numpy().tolist() == [[b"", b""], [b"a", b"z"], [b"", b""]]
