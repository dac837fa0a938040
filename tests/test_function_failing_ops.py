"""Failing ops of a `tf.function`: dropped if unused, raised if used."""

import pytest

import gradtape as tf


def _unused_gather(x):
    tf.gather(x, [1]) * 2.0 + 1.0
    return x


def _unused_lookup(x):
    tf.gather(x, tf.cast(x, tf.int32))
    return x


def _unused_number(x):
    tf.strings.to_number(tf.strings.as_string(x) + "a")
    return x


def _unused_inverse(x):
    tf.linalg.inv([[0.0]] * x)
    return x


def _unused_quotient(x):
    tf.constant([1, 2]) // (tf.cast(x[0], tf.int32) - 1)
    return x


def _unused_power(x):
    tf.constant([1, 2]) ** -tf.cast(x[0], tf.int32)
    return x


def _unused_segments(x):
    tf.math.unsorted_segment_sum(x, tf.cast(x, tf.int32), 1)
    return x


def _unused_slice(x):
    tf.slice(x, [tf.cast(x[0], tf.int32)], [1])
    return x


UNUSED = [
    _unused_gather, _unused_lookup, _unused_number, _unused_inverse, _unused_quotient, _unused_power, _unused_segments,
    _unused_slice,
]  # fmt: skip


@pytest.mark.parametrize("f", UNUSED)
def test_an_op_that_fails_and_is_not_used_is_left_out(f):
    x = tf.constant([1.0])
    compiled = tf.function(f)
    assert compiled(x).numpy() == compiled(x).numpy() == 1
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(lambda x: compiled(x) * 2.0)(x)
    assert tape.gradient(y, x).numpy() == 2


TOLD_BY_TENSORS = {  # incompatible with `[1., 2., 3.]`: the op, and its control argument
    "reshape": (lambda x, n: tf.reshape(x, n), [2, 2]),
    "transpose": (lambda x, n: tf.transpose(x[None], n), [0, 0]),
    "zeros": (lambda x, n: tf.zeros(n), [-2]),
    "axis": (lambda x, n: tf.reduce_sum(x, n) * 2.0 + 1.0, 7),
    "bins": (lambda x, n: tf.histogram_fixed_width(x, [0.0, 1.0], n), -1),
    "partitions": (lambda x, n: tf.dynamic_partition(x, n, 2)[0], [0, 7, 1]),
    "sequences": (lambda x, n: tf.reverse_sequence(x[None], n, seq_axis=1), [9]),
    "diagonal": (lambda x, n: tf.linalg.set_diag(tf.zeros([3, 3]), x, k=n), -20),
    "bounds": (lambda x, n: tf.random.uniform([2], n, n, tf.int32), 3),
    "split": (lambda x, n: tf.split(x, n)[1], [1, 1]),
    "top": (lambda x, n: tf.math.top_k(x, n)[0], 9),
}


@pytest.mark.parametrize("name", TOLD_BY_TENSORS)
def test_an_op_that_a_tensor_tells_to_do_what_it_cannot_matters_if_it_is_used(name):
    op, told = TOLD_BY_TENSORS[name]
    x, n = tf.constant([1.0, 2.0, 3.0]), tf.constant(told)

    @tf.function
    def unused(x, n):
        op(x, n)
        return x * x

    @tf.function
    def used(x, n):
        return op(x, n)

    for _ in range(2):
        assert unused(x, n).numpy().tolist() == [1, 4, 9]
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            used(x, n)
        assert not isinstance(raised.value, ValueError)  # these would concern the program, not its values


def test_what_is_asserted_of_a_value_is_not_left_out():
    @tf.function
    def f(x, n):
        tf.debugging.assert_rank(x, n)
        return x

    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        f(tf.constant([1.0]), tf.constant(3))


def test_an_op_that_fails_later_and_is_not_used_is_left_out():
    @tf.function
    def f(x, i):
        tf.gather(x, i)
        return x * x

    x = tf.constant([3.0])
    for i in (0, 1):
        with tf.GradientTape() as outer, tf.GradientTape() as tape:
            outer.watch(x)
            tape.watch(x)
            y = f(x, tf.constant(i))
        assert (y.numpy(), tape.gradient(y, x).numpy()) == (9, 6)


@pytest.mark.parametrize("use", ["return", "shape", "print", "assign", "gradient", "branch", "assert", "check"])
def test_an_op_that_fails_and_is_used_raises(use):
    v = tf.Variable([1.0])

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.gather(x, [1]) * 2.0
        if use == "return":
            return y
        if use == "shape":
            return x + tf.cast(tf.shape(y)[0], tf.float32)
        if use == "print":
            tf.print(y)
        if use == "assign":
            v.assign(y)
        if use == "gradient":
            return tape.gradient(y, x)
        if use == "branch":
            return tf.cond(x[0] > 0.0, lambda: y, lambda: x)
        if use == "assert":
            tf.debugging.assert_positive(-x)
        if use == "check":
            tf.debugging.check_numerics(x / 0.0, "infinite")
        return x

    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(tf.constant([1.0]))
    assert v.numpy() == 1
