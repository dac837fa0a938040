"""Custom gradients: what they apply to, validation, and every way to differentiate through them."""

import gc
import weakref

import numpy as np
import pytest

import gradtape as tf

X = tf.constant(2.0)


def gradient(f, *xs):
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return tape.gradient(y, list(xs))


@tf.custom_gradient
def hundred(x):
    """x² with a declared gradient of 100."""
    return x * x, lambda dy: 100.0 * dy


@tf.custom_gradient
def exponential(x):
    y = tf.exp(x)
    return y, lambda dy: dy * y


@tf.custom_gradient
def scaled(x, y):
    return x * y, lambda dy: (10.0 * dy * y, 100.0 * dy * x)


def test_stop_gradient_cuts_in_both_modes():
    assert gradient(tf.stop_gradient, X) == [None]
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = tf.stop_gradient(X)
    assert float(tape.gradient(y, X, unconnected_gradients="zero")) == 0.0
    v = tf.Variable(3.0)
    assert float(tf.stop_gradient(v)) == 3.0 and int(tf.stop_gradient(3)) == 3 and float(tf.stop_gradient(2.5)) == 2.5
    assert tf.stop_gradient([1.0, X]).numpy().tolist() == [1.0, 2.0]
    with tf.autodiff.ForwardAccumulator(X, tf.constant(1.0)) as acc:
        y, z = tf.stop_gradient(X), X * tf.stop_gradient(X)
    assert acc.jvp(y) is None and float(acc.jvp(z)) == 2.0


def test_grad_pass_through():
    x = tf.constant([1.4, 1.6])
    y = tf.grad_pass_through(tf.round)(x)
    assert y.numpy().tolist() == [1.0, 2.0]
    assert gradient(tf.grad_pass_through(tf.round), x)[0].numpy().tolist() == [1.0, 1.0]
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = tf.grad_pass_through(lambda a: a * v)(X)
    g, gv = tape.gradient(y, [X, v])
    assert float(y) == 6.0 and float(g) == 1.0 and gv is None


def test_wrong_number_of_gradients_leaves_the_tape_usable():
    broken = [True]

    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda dy: dy if broken else (dy * y, dy * x)

    y = tf.constant(5.0)
    with tf.GradientTape() as tape:
        tape.watch([X, y])
        z = f(X, y) * X
    with pytest.raises(ValueError, match="expected to return 2 gradients, but returned 1 instead"):
        tape.gradient(z, X)
    broken.clear()
    assert float(tape.gradient(z, X)) == 20.0


def test_a_function_that_returns_no_pair():
    @tf.custom_gradient
    def f(x):
        return x * x

    with pytest.raises(TypeError, match=r"pair \(result, grad_fn\), but f returned Tensor"):
        f(X)


def test_variables_need_a_rule_at_the_call():
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        return x * v, lambda dy: dy

    with pytest.raises(TypeError, match="must accept keyword argument 'variables', since function uses variables"):
        f(X)


@pytest.mark.parametrize("given", [[], [1.0, 2.0]])
def test_a_gradient_for_each_variable(given):
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        return x * v, lambda dy, variables: (dy, given)

    with tf.GradientTape() as tape:
        y = f(X)
    with pytest.raises(ValueError, match="Must return gradient for each variable"):
        tape.gradient(y, v)


def test_gradients_of_variables():
    v, frozen = tf.Variable(3.0), tf.Variable(4.0, trainable=False)
    seen = []

    @tf.custom_gradient
    def f(x):
        def grad(dy, variables=None):
            seen.append(variables)
            return 10.0 * dy, [7.0 * dy]

        return x * v * frozen, grad

    with tf.GradientTape() as tape:
        tape.watch(X)
        y = f(X)
    g, gv, gf = tape.gradient(y, [X, v, frozen])
    assert (float(y), float(g), float(gv), gf) == (24.0, 10.0, 7.0, None)
    assert len(seen) == 1 and len(seen[0]) == 1 and seen[0][0] is v


def test_a_variable_as_an_argument():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = hundred(v)
    assert float(y) == 9.0 and float(tape.gradient(y, v)) == 100.0


def test_keyword_arguments_are_differentiated():
    y = tf.constant(5.0)
    assert [float(g) for g in gradient(lambda a, b: scaled(x=a, y=b), X, y)] == [50.0, 200.0]
    assert [float(g) for g in gradient(lambda a, b: scaled(y=b, x=a), X, y)] == [50.0, 200.0]
    assert [float(g) for g in gradient(lambda a, b: scaled(a, y=b), X, y)] == [50.0, 200.0]

    @tf.custom_gradient
    def positional_only(x, *, k):
        return x * k, lambda dy: 7.0 * dy

    g, gk = gradient(lambda a, b: positional_only(a, k=b), X, y)
    assert float(g) == 7.0 and gk is None


@pytest.mark.parametrize("wrong", [tf.constant([1.0, 2.0]), tf.constant(1.0, tf.float64), tf.constant(1)])
def test_a_gradient_must_have_the_shape_and_dtype_of_its_input(wrong):
    f = tf.custom_gradient(lambda x: (x * x, lambda dy: wrong))
    with pytest.raises(ValueError, match=r"a gradient has the shape and dtype of its input"):
        gradient(f, X)


def test_python_numbers_are_gradients_and_non_tensors_are_counted():
    f = tf.custom_gradient(lambda x, n: (x * n, lambda dy: (3.0, None)))
    assert float(gradient(lambda x: f(x, 4), X)[0]) == 3.0


def test_none_for_an_input():
    f = tf.custom_gradient(lambda x, y: (x * y, lambda dy: (None, dy)))
    g, gy = gradient(f, X, tf.constant(1.0))
    assert g is None and float(gy) == 1.0


def test_unused_outputs_have_zero_cotangents():
    seen = []

    @tf.custom_gradient
    def f(x):
        def grad(da, db, dc):
            seen.extend([da, db, dc])
            return da

        return {"a": x * 2.0, "b": [x + tf.ones([2]), tf.cast(x, tf.int32)]}, grad

    y = []
    assert float(gradient(lambda x: y.append(f(x)) or y[0]["a"], X)[0]) == 1.0
    assert y[0]["b"][1].dtype is tf.int32
    assert [g.numpy().tolist() for g in seen] == [1.0, [0.0, 0.0], 0]


def test_nested_arguments():
    f = tf.custom_gradient(lambda pair, z: (pair[0] * pair[1] * z, lambda dy: ([2.0 * dy, 3.0 * dy], 4.0 * dy)))
    xs = [tf.constant(1.0), tf.constant(1.0), tf.constant(1.0)]
    assert [float(g) for g in gradient(lambda a, b, c: f([a, b], c), *xs)] == [2.0, 3.0, 4.0]


def test_sparse_gradient():
    def rule(dy):
        return tf.IndexedSlices(tf.constant([5.0, 6.0]), tf.constant([0, 0]))

    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.custom_gradient(lambda x: (tf.reduce_sum(x), rule))(v)
    g = tape.gradient(y, v)
    assert isinstance(g, tf.IndexedSlices) and tf.convert_to_tensor(g).numpy().tolist() == [11.0, 0.0]


def test_second_order_differentiates_the_rule():
    with tf.GradientTape() as outer:
        outer.watch(X)
        (g,) = gradient(exponential, X)
    np.testing.assert_allclose(outer.gradient(g, X), np.exp(2.0), rtol=1e-6)

    cubic = tf.custom_gradient(lambda x: (x * x, lambda dy: dy * x**3))
    with tf.GradientTape() as outer:
        outer.watch(X)
        (g,) = gradient(cubic, X)
    assert float(g) == 8.0 and float(outer.gradient(g, X)) == 12.0
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(X)
        y = exponential(X)
        g = tape.gradient(y, X)
    np.testing.assert_allclose(tape.gradient(g, X), np.exp(2.0), rtol=1e-6)


def test_a_tensor_closed_over_gets_no_gradient():
    w = tf.constant(3.0)
    f = tf.custom_gradient(lambda x: (x * w, lambda dy: dy))
    g, gw = gradient(lambda x, w: f(x), X, w)
    assert float(g) == 1.0 and gw is None


def test_returning_the_input_makes_a_new_tensor():
    f = tf.custom_gradient(lambda x: (x, lambda dy: 5.0 * dy))
    assert f(X) is not X
    assert float(gradient(f, X)[0]) == 5.0


def test_forward_mode_uses_the_rule():
    with tf.autodiff.ForwardAccumulator(X, tf.constant(1.0)) as acc:
        y = hundred(X)
        z = exponential(X)
    assert float(acc.jvp(y)) == 100.0
    np.testing.assert_allclose(acc.jvp(z), np.exp(2.0), rtol=1e-6)
    with tf.autodiff.ForwardAccumulator(X, tf.constant(1.0)) as acc:
        (g,) = gradient(exponential, X)
    np.testing.assert_allclose(acc.jvp(g), np.exp(2.0), rtol=1e-6)
    with tf.GradientTape() as tape:
        tape.watch(X)
        with tf.autodiff.ForwardAccumulator(X, tf.constant(1.0)) as acc:
            z = exponential(X)
        t = acc.jvp(z)
    np.testing.assert_allclose(tape.gradient(t, X), np.exp(2.0), rtol=1e-6)


def test_brackets_methods_and_names():
    @tf.custom_gradient()
    def f(x):
        """Doubles."""
        return 2.0 * x, lambda dy: 3.0 * dy

    class Layer:
        factor = 4.0

        @tf.custom_gradient
        def call(self, x):
            return self.factor * x, lambda dy: 5.0 * dy

    assert f.__name__ == "f" and f.__doc__ == "Doubles."
    assert float(gradient(f, X)[0]) == 3.0
    assert float(Layer().call(X)) == 8.0 and float(gradient(Layer().call, X)[0]) == 5.0


def test_jacobian_through_a_rule():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = exponential(x)
    np.testing.assert_allclose(tape.jacobian(y, x), np.diag(np.exp([1.0, 2.0, 3.0])), rtol=1e-6)


def test_jacobian_of_a_rule_that_needs_values():
    x = tf.constant([1.0, 2.0])
    f = tf.custom_gradient(lambda x: (x * x, lambda dy: dy * dy.numpy().sum()))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert tape.jacobian(y, x).numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_inside_vectorized_map_and_outside_tapes():
    x, w = tf.constant([1.0, 2.0, 3.0]), tf.constant(5.0)

    def f(x, w):
        return tf.vectorized_map(lambda a: scaled(a, w), x)

    g, gw = gradient(f, x, w)
    assert g.numpy().tolist() == [50.0] * 3 and float(gw) == 600.0
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, w])
        y = f(x, w)
    assert tape.jacobian(y, x).numpy().tolist() == np.diag([50.0] * 3).tolist()
    assert tape.jacobian(y, w).numpy().tolist() == [100.0, 200.0, 300.0]
    with tf.autodiff.ForwardAccumulator([x, w], [tf.constant([1.0, 0.0, 0.0]), tf.constant(1.0)]) as acc:
        y = f(x, w)
    assert acc.jvp(y).numpy().tolist() == [150.0, 200.0, 300.0]


def test_second_order_through_vectorized_map():
    x = tf.constant([1.0, 2.0])

    def slope(a):
        return gradient(exponential, a)[0]

    with tf.GradientTape() as tape:
        tape.watch(x)
        g = tf.vectorized_map(slope, x)
    np.testing.assert_allclose(tape.gradient(g, x), np.exp([1.0, 2.0]), rtol=1e-6)
    with tf.GradientTape() as outer:
        outer.watch(x)
        (g,) = gradient(lambda x: tf.vectorized_map(exponential, x), x)
    np.testing.assert_allclose(outer.gradient(g, x), np.exp([1.0, 2.0]), rtol=1e-6)


def test_a_tape_entered_after_a_vectorized_map_sees_its_gradient():
    x, weight = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.vectorized_map(exponential, x)
    with tf.GradientTape() as later:
        later.watch(weight)
        g = tape.gradient(y, x, output_gradients=weight)
    np.testing.assert_allclose(later.gradient(g, weight), np.exp([1.0, 2.0]), rtol=1e-6)


def test_inner_custom_gradients_and_variables():
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def outer(x):
        return hundred(x) * v, lambda dy, variables: (dy * 2.0, [dy * 4.0])

    with tf.GradientTape() as tape:
        tape.watch(X)
        y = outer(X)
    assert [float(g) for g in tape.gradient(y, [X, v])] == [2.0, 4.0]


def test_registry():
    @tf.RegisterGradient("TestOp")
    def rule(op, grad):
        return grad

    with pytest.raises(KeyError, match="Registering two gradient with name 'TestOp'"):
        tf.RegisterGradient("TestOp")(rule)
    tf.no_gradient("TestOpWithout")
    with pytest.raises(KeyError, match="TestOpWithout"):
        tf.no_gradient("TestOpWithout")


class TestRecompute:
    def test_calls_the_function_again(self):
        calls = []
        v = tf.Variable(3.0)

        def f(x, scale=1.0, power=2):
            calls.append(1)
            return scale * v * x**power

        with tf.GradientTape() as tape:
            tape.watch(X)
            y = tf.recompute_grad(f)(X, scale=2.0, power=3)
        assert float(y) == 48.0 and len(calls) == 1
        assert [float(g) for g in tape.gradient(y, [X, v])] == [72.0, 16.0]
        assert len(calls) == 2

    def test_second_order(self):
        v = tf.Variable(3.0)
        f = tf.recompute_grad(lambda x, y: x * x * y * v)
        with tf.GradientTape() as outer:
            outer.watch(X)
            with tf.GradientTape() as tape:
                tape.watch(X)
                z = f(X, X)
            g = tape.gradient(z, X)
        assert float(g) == 36.0
        assert [float(g) for g in outer.gradient(g, [X, v])] == [36.0, 12.0]

    def test_random_numbers_are_the_same(self):
        x = tf.ones([50])
        f = tf.recompute_grad(lambda x: x * tf.random.uniform([50]))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        np.testing.assert_array_equal(tape.gradient(y, x), y)

    def test_forward_mode(self):
        v = tf.Variable(3.0)
        f = tf.recompute_grad(lambda x: v * x**3)
        with tf.autodiff.ForwardAccumulator([X, v], [tf.constant(1.0), tf.constant(1.0)]) as acc:
            y = f(X)
        assert float(acc.jvp(y)) == 36.0 + 8.0

    def test_jacobian_and_vectorized_map(self):
        x = tf.constant([1.0, 2.0])
        f = tf.recompute_grad(lambda x: x**3)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        np.testing.assert_allclose(tape.jacobian(y, x), np.diag([3.0, 12.0]))
        assert gradient(lambda x: tf.vectorized_map(f, x), x)[0].numpy().tolist() == [3.0, 12.0]

    def test_nested_outputs_and_methods(self):
        class Block:
            @tf.recompute_grad
            def call(self, x):
                return {"a": x * x, "b": tf.cast(x, tf.int32)}

        assert float(gradient(lambda x: Block().call(x)["a"], X)[0]) == 4.0

    def test_keeps_no_intermediate_values(self):
        kept = []

        def f(x):
            inner = tf.exp(x)
            kept.append(weakref.ref(inner))
            return inner * inner

        with tf.GradientTape() as tape:
            tape.watch(X)
            y = tf.recompute_grad(f)(X)
        gc.collect()
        assert kept[0]() is None
        assert tape.gradient(y, X) is not None
