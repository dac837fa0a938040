"""With `jit_compile=True`, a trace infers shapes and dtypes; a value is computed once, if it is read."""

import numpy as np
import pytest

import gradtape as tf
from gradtape import ops
from gradtape.core import modes
from gradtape.core.tensor import Tensor
from gradtape.engine.registry.op import registry
from gradtape.inspect.checks.opcheck import draw

pytest.importorskip("jax")
pytestmark = pytest.mark.usefixtures("quick_compilation")
ops.load_all()


class Counted(modes.Mode):
    """Counts the runs of an op's NumPy kernel inside the block."""

    def __init__(self, name):
        self.op, self.count = registry[name], 0

    def op_finished(self, op, inputs, outputs):
        if op is self.op:
            self.count += np.size(inputs[0].array) > 1  # one number is enough to determine a dtype

    def kernel_of(self, op, kernel):
        def counted(*arrays, **attrs):
            self.count += np.size(arrays[0]) > 1
            return kernel(*arrays, **attrs)

        return counted if op is self.op else kernel

    def __enter__(self):
        modes.enter(self)
        return self

    def __exit__(self, *_):
        modes.leave(self)


@pytest.mark.parametrize("op", [op for op in registry.values() if not op.shaped_by_values], ids=lambda op: op.name)
def test_shapes_and_dtypes_are_those_that_numpy_gives(op):
    from gradtape.graph.executors.xla.shapes import outcome

    for case in op.samples:
        for dtype in (np.float32, np.float64):
            inputs = [Tensor(np.asarray(x)) for x in draw(op, case, dtype)]
            found = outcome(op, inputs, case.attrs)
            expected = op.call(*inputs, **case.attrs)
            if found is not None:
                assert found[1] == isinstance(expected, tuple)
                several = expected if isinstance(expected, tuple) else (expected,)
                assert list(found[0]) == [(y.dims, y.dtype) for y in several]


def test_nothing_is_computed_by_numpy_when_nobody_looks():
    w = tf.Variable(np.ones((3, 3), np.float32))

    @tf.function(jit_compile=True)
    def step(x):
        with tf.GradientTape() as tape:
            y = tf.matmul(x, w)
            _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.matmul(y, w) / 9.0), [0, y])
            y = tf.cond(tf.reduce_sum(y) > 0, lambda: tf.matmul(y, w), lambda: y)
            loss = tf.reduce_sum(y)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    with Counted("matmul") as products:
        first = step(tf.ones((2, 3)))
        assert products.count == 0
    assert float(first) == pytest.approx(2.0)
    assert w.numpy()[0, 0] != 1.0


def test_a_tape_around_the_call_computes_nothing_either():
    w = tf.Variable(np.full((3, 3), 2.0, np.float32))
    f = tf.function(lambda x: tf.matmul(x, w), jit_compile=True)
    with Counted("matmul") as products:
        with tf.GradientTape() as tape:
            y = f(tf.ones((2, 3)))
        g = tape.gradient(y, w)
        assert products.count == 0
    np.testing.assert_array_equal(g, np.full((3, 3), 2.0))


def test_a_value_that_is_looked_at_is_computed_once():
    @tf.function(jit_compile=True)
    def f(x):
        n = tf.cast(tf.reduce_sum(tf.matmul(x, x)), tf.int32)
        return tf.range(n), tf.range(n + 1), tf.exp(x)

    with Counted("matmul") as products, Counted("exp") as exponentials:
        a, b, _ = f(tf.ones((2, 2)))
        assert (products.count, exponentials.count) == (1, 0)
    assert (a.shape, b.shape) == ((8,), (9,))
    assert f(tf.ones((2, 2)) * 2)[0].shape == (32,)  # another value: traced again


def test_effects_happen_once_and_in_order(capsys):
    seen = []

    @tf.function(jit_compile=True)
    def f(x):
        tf.print("first", x)
        noise = tf.random.uniform((2,))
        y = tf.numpy_function(lambda v: seen.append(v.tolist()) or v * 2, [x + 1.0], tf.float32)
        tf.print("second", y)
        _, last = tf.while_loop(lambda i, s: i < 2, lambda i, s: (_said(i), s + noise), [0, tf.zeros(2)])
        tf.print("third")
        return y, noise, last

    def _said(i):
        tf.print("round", i)
        return i + 1

    drawn = []
    for _ in range(3):
        y, noise, last = f(tf.constant([1.0, 2.0]))
        np.testing.assert_array_equal(y, [4.0, 6.0])
        np.testing.assert_allclose(last, 2 * noise.numpy(), rtol=1e-6)
        drawn.append(noise.numpy().tolist())
    assert seen == [[2.0, 3.0]] * 3
    lines = capsys.readouterr().err.split("\n")[:-1]
    assert lines == ["first [1 2]", "second [4 6]", "round 0", "round 1", "third"] * 3
    assert len({tuple(d) for d in drawn}) == 3


def test_random_numbers_are_those_of_a_function_without_xla():
    def f(x):
        return x + tf.random.normal((3,), seed=7), tf.random.gamma((2,), 2.0, seed=3), tf.random.uniform((2,), seed=1)

    found = []
    for jit_compile in (False, True):
        tf.random.set_seed(5)
        compiled = tf.function(f, jit_compile=jit_compile)
        found.append([[y.numpy() for y in compiled(tf.zeros(3))] for _ in range(3)])
    for one, other in zip(*found, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)


def test_branches_of_different_shapes_and_variables_made_inside():
    made = []

    @tf.function(jit_compile=True)
    def f(x):
        if not made:
            made.append(tf.Variable(tf.reduce_sum(x) * tf.ones(2)))
        y = tf.cond(x[0] > 0, lambda: tf.ones(2), lambda: tf.ones(3))
        made[0].assign_add(tf.ones(2))
        return y, made[0].value()

    y, v = f(tf.constant([1.0, 2.0]))
    assert (y.shape, v.numpy().tolist()) == ((2,), [4.0, 4.0])
    y, v = f(tf.constant([-1.0, 2.0]))
    assert (y.shape, v.numpy().tolist()) == ((3,), [5.0, 5.0])


def test_a_first_run_that_fails_leaves_the_variables_as_they_were():
    v = tf.Variable(1.0)

    @tf.function(jit_compile=True)
    def f(x):
        v.assign(2.0 * tf.reduce_sum(x))
        tf.debugging.assert_positive(x, message="no")
        return v.value()

    with pytest.raises(tf.errors.InvalidArgumentError, match="no"):
        f(tf.constant([-1.0]))
    assert float(v) == 1.0
    assert float(f(tf.constant([1.0]))) == 2.0


def test_gradients_after_the_fact_and_jacobians():
    @tf.function(jit_compile=True)
    def f(x):
        y = tf.exp(tf.matmul(x, x))
        (g,) = tf.gradients(y, x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = tf.sin(x) * x
        return g, tape.jacobian(z, x), tf.hessians(tf.reduce_sum(x**3.0), x)[0]

    x = tf.constant([[0.1, 0.2], [0.3, 0.4]])
    with Counted("matmul") as products:
        g, j, h = f(x)
        assert products.count == 0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.exp(tf.matmul(x, x))
    np.testing.assert_allclose(g, tape.gradient(y, x), rtol=1e-5)
    assert j.shape == h.shape == (2, 2, 2, 2)


def test_a_wrong_shape_is_said_in_the_words_of_numpy():
    f = tf.function(lambda x: tf.matmul(x, tf.ones((4, 2))), jit_compile=True)
    with pytest.raises(ValueError, match="Matrix size-incompatible"):
        f(tf.ones((2, 3)))
