"""Why a gradient is zero: each reason is given where it is true, and not where it nearly is."""

import io

import numpy as np
import pytest

import gradtape as tf
from gradtape.engine.registry.op import registry
from gradtape.inspect.causes.explain import Cause
from gradtape.inspect.causes.zeros import _BECAUSE
from gradtape.ops import load_all


def asked(f, *values, kind):
    sources = [tf.Variable(v) for v in values]
    with tf.GradientTape(**kind) as tape:
        target = f(*sources)
    return tape.explain(target, sources).reasons, tape.gradient(target, sources)


KINDS = [{"persistent": True}, {"trace": True}]

# By name: a function whose gradient for its first argument is zero, the values, and the expected text.
TRUE = {
    "dead relu": (lambda x: tf.nn.relu(x), [[-1.0, -2.0]], "dead ReLU"),
    "relu6": (lambda x: tf.nn.relu6(x), [[-1.0, 7.0]], "outside of (0, 6)"),
    "sigmoid": (lambda x: tf.sigmoid(x), [[200.0, -200.0]], "the sigmoid is saturated"),
    "tanh": (lambda x: tf.tanh(x), [[50.0, -50.0]], "the tanh is saturated"),
    "softplus": (lambda x: tf.nn.softplus(x), [[-200.0]], "softplus is saturated"),
    "softmax": (lambda x: tf.nn.softmax(x) * [1.0, 2.0], [[200.0, -200.0]], "one probability is exactly 1"),
    "softmax of a hopeless logit": (
        lambda x, w: tf.nn.softmax(tf.concat([w, x], 0)) * [1.0, 2.0, 3.0], [[-500.0], [1.0, 1.5]], "exactly 0",
    ),
    "softmax added up": (lambda x: tf.nn.softmax(x), [[1.0, 2.0, 1.5]], "always add up to 1"),
    "maximum": (lambda x: tf.maximum(x, 5.0), [[1.0, 2.0]], "maximum selects the other argument"),
    "minimum": (lambda x: tf.minimum(x, 0.5), [[1.0, 2.0]], "minimum selects the other argument"),
    "where": (lambda x: tf.where([False, False], x, 1.0), [[1.0, 2.0]], "where selects the other branch"),
    "times zero": (lambda x: x * [0.0, 0.0], [[1.0, 2.0]], "multiplied by exact zeros"),
    "matrix of zeros": (lambda x: x @ tf.zeros([2, 3]), [[[1.0, 2.0]]], "multiplied by exact zeros"),
    "square at zero": (lambda x: tf.square(x), [[0.0, 0.0]], "the derivative of square is exactly zero"),
    "concat, then max": (
        lambda x, w: tf.reduce_max(tf.concat([x, w], 0)), [[1.0, 2.0], [5.0, 6.0]], "another element is the maximum",
    ),
    "stack, then min": (
        lambda x, w: tf.reduce_min(tf.stack([w, x * 2.0])), [[4.0], [1.0]], "another element is the minimum",
    ),
    "concat, then maximum": (
        lambda x, w: tf.maximum(tf.concat([x, w], 0), [9.0, 9.0, 0.0]), [[1.0, 2.0], [5.0]],
        "maximum selects the other",
    ),
    "concat, then slice": (
        lambda x, w: tf.concat([x, w], 0)[2:] * 3.0, [[1.0, 2.0], [5.0]], "only other elements are used",
    ),
    "concat, then gather": (
        lambda x, w: tf.gather(tf.concat([x, w], 0), [1]), [[1.0], [5.0]], "only other rows are used",
    ),
    "split": (lambda x, w: tf.nn.relu(tf.split(tf.concat([x, w], 0), 2)[0]), [[-1.0], [5.0]], "dead ReLU"),
    "relu behind a product": (lambda x: tf.nn.relu(x @ [[1.0], [2.0]] - 100.0), [[[1.0, 2.0]]], "dead ReLU"),
    "itself less itself": (lambda x: x * 2.0 - x * 2.0, [[1.0, 2.0]], "add up to zero"),
    "one op with it twice": (lambda x: x - x, [[1.0, 2.0]], "add up to zero"),
    "too small": (lambda x: x * 1e-30 * 1e-30, [[1.0, 2.0]], "too small for float32"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("name", TRUE)
def test_a_reason_that_is_true(name, kind):
    f, values, text = TRUE[name]
    (reason, *_), (g, *_) = asked(f, *values, kind=kind)
    assert not np.any(tf.convert_to_tensor(g))
    assert reason.cause is Cause.ZERO and text in reason.sentence, reason.sentence
    assert (reason.line is not None) == ("trace" in kind)


def test_the_ops_with_a_reason_exist():
    load_all()
    assert set(_BECAUSE) <= set(registry)


# Similar functions, and text that would be wrong for them.
FALSE = {
    "softmax is not saturated": (lambda x: tf.nn.softmax(x), [[1.0, 2.0, 1.5]], "saturated"),
    "softmax whose outputs cancel": (
        lambda x: tf.nn.softmax(x) * tf.constant([1.0, 1.0, 1.0]) + 0.0 * x, [[3.0, 2.0, 1.0]], "saturated",
    ),
    "concat has a derivative": (
        lambda x, w: tf.reduce_max(tf.concat([x, w], 0)), [[1.0, 2.0], [5.0, 6.0]], "concat",
    ),
    "reshape has a derivative": (lambda x: tf.nn.relu(tf.reshape(x, [2, 1])), [[-1.0, -2.0]], "reshape"),
    "relu is alive, its output is multiplied by zero": (lambda x: tf.nn.relu(x) * 0.0, [[1.0, 2.0]], "dead"),
    "the sigmoid is not saturated": (lambda x: tf.sigmoid(x) * 0.0, [[1.0]], "saturated"),
    "the tanh is not saturated": (lambda x: tf.maximum(tf.tanh(x), 3.0), [[1.0]], "saturated"),
    "maximum takes it, what follows is dead": (lambda x: tf.nn.relu(tf.maximum(x, -9.0)), [[-1.0, -2.0]], "maximum"),
    "where takes it, what follows is dead": (
        lambda x: tf.nn.relu(tf.where([True, False], x, 1.0)) * [1.0, 0.0], [[-1.0, -2.0]], "where takes",
    ),
    "it is the maximum, what follows is clipped": (
        lambda x: tf.minimum(tf.reduce_max(x), 0.0), [[1.0, 2.0]], "another element",
    ),
    "it is multiplied by ones": (lambda x: tf.nn.relu(x * [1.0, 1.0]), [[-1.0, -2.0]], "multiplied"),
    "gather uses it": (lambda x: tf.nn.relu(tf.gather(x, [0, 1])), [[-1.0, -2.0]], "other rows"),
    "slice uses it": (lambda x: tf.nn.relu(x[1:]), [[-1.0, -2.0]], "other elements"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("name", FALSE)
def test_a_reason_that_is_not_true_is_not_given(name, kind):
    f, values, text = FALSE[name]
    (reason, *_), (g, *_) = asked(f, *values, kind=kind)
    g = tf.convert_to_tensor(g)
    np.testing.assert_allclose(g, 0.0, atol=1e-7)
    if reason.cause is Cause.CONNECTED:  # a sum that is not exactly zero
        assert np.any(g)
    else:
        assert reason.cause is Cause.ZERO and text not in reason.sentence, reason.sentence


def test_a_line_is_that_of_the_op_that_made_it_zero():
    x, w = tf.Variable([1.0]), tf.Variable([5.0])
    with tf.GradientTape(trace=True) as tape:
        both = tf.concat([x, w], 0)
        y = tf.reduce_max(both)
    reason, other = tape.explain(y, [x, w]).reasons
    assert reason.line[1] == y_line() and other.cause is Cause.CONNECTED


def y_line():
    code = test_a_line_is_that_of_the_op_that_made_it_zero.__code__
    return code.co_firstlineno + 4


def test_what_cannot_be_searched_is_said_as_far_as_it_is_known():
    @tf.custom_gradient
    def nothing(x):
        return x * 2.0, lambda g: tf.constant(np.zeros(2, np.float32))

    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(trace=True) as tape:
        y = nothing(x) * 3.0
    (reason,) = tape.explain(y, x).reasons
    assert reason.cause is Cause.ZERO and "nothing" in reason.sentence


def test_zero_weights_of_the_target():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(trace=True) as tape:
        y = x * 3.0
    tape.gradient(y, x, output_gradients=tf.zeros([2]))
    assert tape.explain(y, x).reasons[0].cause is Cause.CONNECTED  # explain asks about the target itself


def test_zeros_inside_a_function_and_under_a_map():
    said = []

    @tf.function
    def step(x):
        with tf.GradientTape(trace=True) as tape:
            tape.watch(x)
            y = tf.nn.relu(tf.concat([x, [1.0]], 0))
        said.append(tape.explain(y, x).reasons[0].sentence)
        return y

    step(tf.constant([-1.0]))
    tf.vectorized_map(step.python_function, tf.constant([[-1.0], [-2.0]]))
    assert "dead ReLU" in said[0]
    assert "the gradient is zero" in said[1]


_PIECEWISE_LINEAR = {
    "relu": tf.nn.relu,
    "relu6": tf.nn.relu6,
    "leaky_relu": tf.nn.leaky_relu,
    "abs": tf.abs,
    "maximum": lambda h: tf.maximum(h, 0.2),
    "minimum": lambda h: tf.clip_by_value(h, 0.0, 4.0),
    "where": lambda h: tf.where(h > 0.0, h, 0.1 * h),
    "max": tf.reduce_max,
    "sort": tf.sort,
}


@pytest.mark.parametrize("is_function", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("name", _PIECEWISE_LINEAR)
def test_second_derivatives_name_the_op_that_is_piecewise_linear(name, is_function):
    x, w = tf.constant(np.linspace(0.5, 1.5, 9), tf.float32), tf.Variable(np.linspace(0.4, 1.2, 9), dtype=tf.float32)

    def step():
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(2.0 * _PIECEWISE_LINEAR[name](w * x)) + 1.0
            slope = inner.gradient(y, x)
        return outer.gradient(slope, x)

    with tf.inspect.tracing(io.StringIO()) as reasons:
        (tf.function(step) if is_function else step)()
    (reason,) = reasons
    assert reason.cause in (Cause.ZERO, Cause.LINEAR)
    assert f"the second derivative of {name} is zero" in reason.sentence
