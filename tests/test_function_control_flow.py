"""Conditionals, loops and custom gradients inside traced functions: the same results as eagerly, from one graph."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import gradtape as tf

MATRIX = tf.constant(np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32))
SCALAR = tf.constant(0.7)
W = tf.Variable(1.5)


def gradients(f, order=1):
    """Returns a function that computes `f` and its derivative of this order for its argument and W."""

    def derived(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x) if order == 1 else derivative(f, order - 1)(x)
        return [y, *tape.gradient(y, [x, W], unconnected_gradients="zero")]

    return derived


def derivative(f, order):
    def derived(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x) if order == 1 else derivative(f, order - 1)(x)
        return tape.gradient(y, x)

    return derived


def power_loop(x):
    return tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, tf.sin(y) * W * x), [tf.constant(0), x])[1]


def choice_in_loop(x):
    def body(i, y):
        return i + 1, tf.cond(y > 1.0, lambda: y * 0.5 * x, lambda: y * 3.0 * W)

    return tf.while_loop(lambda i, y: i < 4, body, [tf.constant(0), x])[1]


def choice(x):
    return tf.cond(x > 0, lambda: x * x * W, lambda: tf.exp(x) - W)


def switch(x):
    return tf.switch_case(tf.cast(x * 3.0, tf.int32), [lambda: x, lambda: x * W, lambda: tf.exp(x * W), lambda: -x])


def unknown_count(x):
    return tf.while_loop(lambda y: y < 100.0, lambda y: (y * (1.0 + x) * W,), [x])[0]


def loop_in_loop(x):
    def inner(y):
        return tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, z * x * W), [tf.constant(0), y])[1]

    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, inner(y)), [tf.constant(0), x])[1]


def scanned(x):
    return tf.scan(lambda a, e: tf.tanh(a * W + e), x, tf.zeros([3]))


def scanned_backwards(x):
    return tf.scan(lambda a, e: tf.tanh(a * W + e), x, reverse=True)


def scanned_pair(x):
    a, b = tf.scan(lambda state, e: (state[0] * W + e[0], state[1] - e[1]), (x, 2.0 * x), (x[0], x[1]))
    return a * b


def mapped(x):
    return tf.map_fn(lambda e: tf.reduce_sum(e * e) * W, x)


def folded(x):
    return tf.foldl(lambda a, e: a * e + W, x)


def folded_from_the_right(x):
    return tf.foldr(lambda a, e: a * e + W, x, tf.ones([3]))


def tensor_array(x):
    def body(i, array):
        return i + 1, array.write(i, x * tf.cast(i, tf.float32) * W)

    start = [tf.constant(0), tf.TensorArray(tf.float32, size=3)]
    return tf.while_loop(lambda i, array: i < 3, body, start)[1].stack()


def growing(x):
    invariants = [tf.TensorShape([]), tf.TensorShape([None, 3])]
    start = [tf.constant(0), x]
    return W * tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tf.concat([y, y], 0)), start, invariants)[1]


@tf.custom_gradient
def hundredfold(x):
    return x * x, lambda g: 100.0 * g * x


def custom(x):
    return hundredfold(x) * W


def custom_in_loop(x):
    return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, hundredfold(y) * W), [tf.constant(0), x])[1]


def recomputed(x):
    return tf.recompute_grad(lambda x: tf.sin(x * W) * W)(x)


SCALAR_FUNCTIONS = [
    power_loop, choice_in_loop, choice, switch, unknown_count, loop_in_loop, tensor_array, custom, custom_in_loop,
    recomputed,
]  # fmt: skip
MATRIX_FUNCTIONS = [scanned, scanned_backwards, scanned_pair, mapped, folded, folded_from_the_right, growing]
CASES = [(f, SCALAR) for f in SCALAR_FUNCTIONS] + [(f, MATRIX) for f in MATRIX_FUNCTIONS]


def assert_same(found, expected):
    for mine, its in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
        np.testing.assert_allclose(mine.numpy(), its.numpy(), rtol=2e-5, atol=1e-6)


@pytest.fixture(autouse=True)
def never_eagerly(caplog):
    """A function that falls back to eager execution logs a warning: none may do so."""
    with caplog.at_level(logging.WARNING, "gradtape"):
        yield
    assert "runs eagerly" not in caplog.text


@pytest.mark.parametrize(("f", "x"), CASES, ids=lambda value: getattr(value, "__name__", ""))
class TestSameAsEagerly:
    def check(self, f, x):
        traced = tf.function(f, autograph=False)
        expected = f(x)
        assert_same(traced(x), expected)
        assert_same(traced(x), expected)

    def test_value(self, f, x):
        self.check(f, x)

    def test_gradient_inside(self, f, x):
        self.check(gradients(f), x)

    def test_gradient_outside(self, f, x):
        traced = tf.function(f, autograph=False)
        for _ in range(2):
            assert_same(gradients(traced)(x), gradients(f)(x))

    def test_second_derivative_inside(self, f, x):
        self.check(gradients(f, 2), x)

    def test_second_derivative_outside(self, f, x):
        traced = tf.function(f, autograph=False)
        assert_same(gradients(traced, 2)(x), gradients(f, 2)(x))

    def test_jacobian_inside(self, f, x):
        def jacobian(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            return tape.jacobian(y, [x, W], unconnected_gradients="zero")

        self.check(jacobian, x)

    def test_forward_mode(self, f, x):
        def tangent(f):
            with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
                y = f(x)
            return accumulator.jvp(y)

        assert_same(tangent(tf.function(f, autograph=False)), tangent(f))


def test_one_graph_serves_both_branches():
    traces = []

    @tf.function(autograph=False)
    def f(x):
        traces.append(x)
        return choice(x)

    assert_same([f(tf.constant(2.0)), f(tf.constant(-1.0))], [choice(tf.constant(2.0)), choice(tf.constant(-1.0))])
    assert len(traces) == 1


def test_one_graph_serves_any_number_of_rounds():
    traces = []

    @tf.function(autograph=False)
    def f(x):
        traces.append(x)
        return gradients(unknown_count)(x)

    for start in (0.7, 3.0, 0.1):
        assert_same(f(tf.constant(start)), gradients(unknown_count)(tf.constant(start)))
    assert len(traces) == 1


def test_a_branch_that_is_not_taken_gives_zero_not_none():
    @tf.function(autograph=False)
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(x > 0, lambda: W * 2.0, lambda: x)
        return tape.gradient(y, x)

    assert float(f(tf.constant(1.0))) == 0.0


def test_back_prop_false_stops_the_gradient():
    @tf.function(autograph=False)
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda y: y < 9.0, lambda y: [y * x], [x], back_prop=False)[0]
        assert tape.gradient(y, x) is None
        return y

    assert float(f(tf.constant(3.0))) == 9.0


def test_branches_of_different_shapes():
    f = tf.function(lambda x: tf.cond(x > 0, lambda: tf.ones([2]) * x, lambda: tf.zeros([3])), autograph=False)
    assert f(tf.constant(1.0)).shape == [2]
    assert f(tf.constant(-1.0)).shape == [3]
    assert f(tf.constant(2.0)).shape == [2]


def test_a_branch_that_fails_on_the_present_values_is_traced_when_it_is_taken():
    f = tf.function(
        lambda i, x: tf.cond(i < 2, lambda: tf.gather(x, i), lambda: tf.reduce_sum(x)), autograph=False
    )
    x = tf.constant([1.0, 2.0])
    assert [float(f(tf.constant(i), x)) for i in (5, 1, 7, 0)] == [3.0, 2.0, 3.0, 1.0]


def test_branches_of_different_structure():
    f = tf.function(lambda x: tf.cond(x > 0, lambda: (x, x), lambda: x), autograph=False)
    with pytest.raises(TypeError, match="same number, type, and overall structure"):
        f(tf.constant(1.0))
    g = tf.function(lambda x: tf.cond(x > 0, lambda: x, lambda: 1), autograph=False)
    with pytest.raises(TypeError, match="have different types"):
        g(tf.constant(1.0))


def test_loop_variables_keep_shape_and_dtype():
    def loop(change):
        body = tf.function(
            lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, change(y)), [0, x]), autograph=False
        )
        return lambda: body(tf.constant([1.0]))

    with pytest.raises(ValueError, match=r"enters the loop with shape \(1,\), but has shape \(2,\)"):
        loop(lambda y: tf.concat([y, y], 0))()
    with pytest.raises(TypeError, match="type should remain constant"):
        loop(lambda y: tf.cast(y, tf.float64))()


def test_a_failed_trace_leaves_everything_as_it_was():
    v = tf.Variable(1.0)

    @tf.function(autograph=False)
    def f(x):
        v.assign(5.0)
        return tf.cond(x > 0, lambda: x, lambda: (x, x))

    for _ in range(2):
        with pytest.raises(TypeError):
            f(tf.constant(1.0))
    assert float(v) == 1.0
    assert tf.executing_eagerly()


def test_a_custom_gradient_of_the_wrong_number_fails_when_it_is_asked_for():
    @tf.custom_gradient
    def bad(x):
        return x * x, lambda g: (g, g)

    f = tf.function(lambda x: bad(x), autograph=False)
    assert float(f(tf.constant(3.0))) == 9.0
    x = tf.constant(3.0)
    with tf.GradientTape() as tape, pytest.raises(ValueError, match="expected to return 1 gradients"):
        tape.watch(x)
        tape.gradient(f(x), x)


def test_slices_that_move_are_one_graph():
    traces = []

    def parts(x, i):
        return x[i : i + 2], tf.slice(x, [i, 0], [1, -1]), x[:, i : i + 1]

    @tf.function
    def f(x, i):
        traces.append(i)
        return parts(x, i)

    for i in (0, 2, 1, 1):
        assert_same(f(MATRIX, tf.constant(i)), parts(MATRIX, tf.constant(i)))
    assert len(traces) == 1


def test_slices_of_other_lengths_are_other_graphs():
    f = tf.function(lambda x, i: (x[i:], x[1:i], x[-i:]))
    for i in (1, 3, 5, 3):
        assert_same(f(MATRIX, tf.constant(i)), (MATRIX[i:], MATRIX[1:i], MATRIX[-i:]))


def test_a_slice_that_moves_with_a_loop():
    def windows(x):
        total = tf.zeros([2, 3])
        for i in tf.range(4):
            total += x[i : i + 2] * W
        return total

    f = tf.function(lambda x: gradients(windows)(x))
    assert_same(f(MATRIX), gradients(windows)(MATRIX))
    assert len([node for node in f.get_concrete_function(MATRIX).graph.nodes if node.op.name == "loop"]) == 2


def test_shape_invariants_are_shapes_or_specs_of_the_variables():
    def loop(x, invariants):
        return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x), [tf.constant(0), x], invariants)[1]

    def traced(x, invariants):
        return tf.function(lambda: loop(x, invariants), autograph=False)()

    number = tf.TensorSpec([], tf.int32)
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    assert int(traced(5, [number, tf.TensorSpec([], tf.int32)])) == 5
    assert traced(slices, [number, tf.IndexedSlicesSpec([None], tf.float32, tf.int32)]).values.numpy().tolist() == [1.0]
    array = traced(tf.TensorArray(tf.float32, 2), [number, tf.TensorShape(None)])
    assert int(array.size()) == 2
    with pytest.raises(TypeError, match="'foo'"):
        traced(tf.constant([1]), ["foo", "bar"])
    with pytest.raises(TypeError, match=r"TypeSpec TensorSpec.*float32.* is not compatible"):
        traced(tf.constant([1]), [number, tf.TensorSpec([None], tf.float32)])
    with pytest.raises(TypeError, match=r"TypeSpec SparseTensorSpec.* is not compatible"):
        traced(tf.constant([1.0]), [number, tf.SparseTensorSpec([None], tf.float32)])


@pytest.mark.parametrize(
    "f, derivatives",
    [
        (lambda k, y: tf.cond(k > 1, lambda: y * y, lambda: tf.constant(2.0)), {0: 0.0, 2: 6.0}),
        (lambda k, y: tf.switch_case(k, [lambda: tf.constant(1.0), lambda: y * 2.0]), {0: 0.0, 1: 2.0}),
        (
            lambda k, y: tf.while_loop(lambda i, s: i < k, lambda i, s: (i + 1, s * y), [k * 0, tf.constant(1.0)])[1],
            {0: 0.0, 2: 6.0},
        ),
    ],
)
def test_what_another_branch_depends_on_has_a_derivative_of_zero_whoever_records(f, derivatives):
    traced = tf.function(f, autograph=False)
    y = tf.constant(3.0)
    for k, expected in derivatives.items():
        with tf.GradientTape() as outer:
            outer.watch(y)
            with tf.GradientTape() as inner:
                inner.watch(y)
                z = traced(tf.constant(k), y)
            g = inner.gradient(z, y)
        assert float(g) == expected
        with tf.autodiff.ForwardAccumulator(y, tf.constant(1.0)) as accumulator:
            z = traced(tf.constant(k), y)
        assert float(accumulator.jvp(z)) == expected


def test_an_iterator_of_the_users_may_have_a_method_of_a_datasets_iterator():
    class Numbers:
        def get_next(self):
            raise AssertionError("it means something else here")

        def __next__(self):
            return 3.0

    @tf.function
    def f(x):
        if x > 0.0:
            x = x + 1.0
        return x * next(Numbers())

    assert float(f(tf.constant(1.0))) == 6.0


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("counts", [(0, 2, 0), (2, 0, 3)])
def test_a_loop_without_rounds_does_not_fail_as_its_body_would(counts, jit_compile):
    """Its body would write beyond the end of an array of size 0."""

    @tf.function(jit_compile=jit_compile)
    def rows(x, k):
        array = tf.TensorArray(x.dtype, size=k, element_shape=x.shape)
        _, array = tf.while_loop(lambda i, a: i < k, lambda i, a: (i + 1, a.write(i, x * 0.5)), [0, array])
        return array.stack()

    for k in counts:
        np.testing.assert_array_equal(rows(tf.constant([2.0, 4.0]), tf.constant(k)), np.tile([1.0, 2.0], (k, 1)))


def test_a_loop_whose_round_fails_says_so():
    @tf.function
    def rows(x, k):
        array = tf.TensorArray(x.dtype, size=1, element_shape=x.shape)
        return tf.while_loop(lambda i, a: i < k, lambda i, a: (i + 1, a.write(i, x)), [0, array])[1].stack()

    with pytest.raises(tf.errors.InvalidArgumentError, match="element 1 in a list with 1"):
        rows(tf.constant([2.0, 4.0]), tf.constant(2))


@tf.function
def loops_over_strings(x):
    joined, upper = tf.constant(">"), tf.TensorArray(tf.string, 0, dynamic_size=True, element_shape=[])
    for s in x:
        joined = joined + s + ","
        if tf.strings.length(s) > 1:
            upper = upper.write(upper.size(), tf.strings.upper(s))
    mapped = tf.map_fn(lambda s: s + "!", x)
    return joined, upper.stack(), mapped, tf.scan(lambda so_far, s: so_far + s, x, initializer=tf.constant(""))


@pytest.mark.parametrize(
    ("words", "expected"),  # as on TensorFlow 2.21
    [
        ([b"a", b"bc"], [b">a,bc,", [b"BC"], [b"a!", b"bc!"], [b"a", b"abc"]]),
        ([b"bc", b"de"], [b">bc,de,", [b"BC", b"DE"], [b"bc!", b"de!"], [b"bc", b"bcde"]]),
        ([b"ab", b"", b"c"], [b">ab,,c,", [b"AB"], [b"ab!", b"!", b"c!"], [b"ab", b"ab", b"abc"]]),
        ([], [b">", [], [], []]),
    ],
)
def test_loops_carry_scan_and_emit_strings(words, expected):
    found = loops_over_strings(tf.constant(words, tf.string))
    assert [y.numpy() if y.shape.rank == 0 else y.numpy().tolist() for y in found] == expected


def test_strings_that_a_loop_never_wrote_are_empty():
    @tf.function
    def every_second(n):
        array = tf.TensorArray(tf.string, 0, dynamic_size=True, element_shape=[])
        for i in tf.range(n):
            array = array.write(2 * i, tf.strings.as_string(i))
        return array.stack()

    assert every_second(tf.constant(3)).numpy().tolist() == [b"0", b"", b"1", b"", b"2"]
    assert every_second(tf.constant(2)).numpy().tolist() == [b"0", b"", b"1"]


def unused_read(x, u, w, v):
    def branch():
        x @ w  # which the result does not depend on
        return x * 2.0

    return tf.cond(tf.reduce_sum(x) > 0.0, branch, lambda: x * 3.0)


def unused_output(x, u, w, v):
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: (x * 2.0, u * v), lambda: (x * 3.0, u))[0]


def inner_branch(x, u, w, v):
    def branch():
        return tf.cond(tf.reduce_sum(x) > 1.0, lambda: (x * 2.0, u @ w)[0], lambda: x)

    return tf.cond(tf.reduce_sum(x) > 0.0, branch, lambda: x * 3.0)


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (unused_read, [18.0, None, None, None]),
        (unused_output, [18.0, 0.0, None, 0.0]),
        (inner_branch, [18.0, None, None, None]),
        (lambda x, u, w, v: tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0, lambda: x * v), [18.0, None, None, 0.0]),
        (lambda x, u, w, v: tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0, lambda: tf.stop_gradient(u) * x),
         [18.0, None, None, None]),
        (lambda x, u, w, v: tf.switch_case(tf.cast(v * 0.0, tf.int32), [lambda: x, lambda: x @ w]),
         [9.0, None, 0.0, None]),
    ],
)  # fmt: skip
def test_a_source_that_no_branch_uses_has_no_gradient(function, wanted):
    """As in TensorFlow: None, unless some branch connects the source with one of the results, used or not."""
    w, v = tf.Variable(tf.ones([3, 3])), tf.Variable(2.0)
    x, u = tf.ones([3, 3]), tf.ones([3, 3])
    with tf.GradientTape() as tape:
        tape.watch([x, u])
        y = tf.function(lambda x, u: function(x, u, w, v))(x, u)
    found = tape.gradient(y, [x, u, w, v])
    assert [None if g is None else float(tf.reduce_sum(g)) for g in found] == wanted
