"""Side effects of a `tf.function`: variables, Python calls, random numbers, prints."""

import gc

import numpy as np
import pytest

import gradtape as tf


class TestVariables:
    def test_a_trace_that_fails_does_not_count(self):
        calls = []

        @tf.function(autograph=False)
        def f(x):
            calls.append(x)
            if len(calls) == 1:
                raise ValueError("no")
            return x * 2.0

        with pytest.raises(ValueError, match="no"):
            f(tf.constant(5.0))
        assert f.experimental_get_tracing_count() == 0
        assert float(f(tf.constant(5.0))) == 10.0
        assert f.experimental_get_tracing_count() == 1

    def test_a_trace_that_fails_writes_nothing(self):
        v = tf.Variable(1.0)

        @tf.function
        def f(x):
            v.assign(x)
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            f(tf.constant(5.0))
        assert float(v) == 1.0

    def test_a_run_that_fails_writes_nothing(self):
        v = tf.Variable(1.0)

        @tf.function
        def f(x):
            v.assign(x)
            tf.debugging.assert_positive(x)

        f(tf.constant(2.0))
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(tf.constant(-1.0))
        assert float(v) == 2.0

    def test_a_variable_that_is_gone_is_kept_by_the_function(self):
        def make():
            v = tf.Variable(3.0)
            return tf.function(lambda: v * 2.0)

        f = make()
        f()
        gc.collect()
        assert float(f()) == 6.0

    def test_values_returned_stay_as_they_were(self):
        v = tf.Variable([1.0, 2.0])
        f = tf.function(lambda: v.read_value())
        f()
        before = f()
        v.assign_add([1.0, 1.0])
        assert before.numpy().tolist() == [1.0, 2.0]
        assert f().numpy().tolist() == [2.0, 3.0]

    def test_variables_in_traces_have_no_value(self):
        v = tf.Variable(1.0)
        for body, error in ((lambda: v.numpy(), NotImplementedError), (lambda: bool(v), TypeError)):
            with pytest.raises(error):
                tf.function(body, autograph=False)()

    def test_a_variable_prints_without_its_value_in_a_trace(self):
        v = tf.Variable(1.0, name="w")
        seen = []
        tf.function(lambda: seen.append(repr(v)), autograph=False)()
        assert seen == ["<tf.Variable 'w:0' shape=() dtype=float32>"]


class TestTheFirstCall:
    """A function that creates variables is traced twice; the numbers are TensorFlow's."""

    def test_the_random_numbers_are_those_of_the_second_trace(self):
        traces, created = [], {}

        @tf.function
        def f():
            traces.append(1)
            if not created:
                created["v"] = tf.Variable(1.0)
            return tf.random.uniform([], seed=len(traces)), tf.random.uniform([], seed=77)

        tf.random.set_seed(None)
        expected = [[0.67874658, 0.84320748], [0.20134068, 0.11205626], [0.49856102, 0.60064852]]
        np.testing.assert_allclose([f() for _ in range(3)], expected, rtol=1e-6)

    def test_ops_before_an_initial_value_take_no_seed_and_no_number_from_later_calls(self):
        created = {}

        @tf.function
        def f():
            before = tf.random.uniform([])
            if not created:
                created["v"] = tf.Variable(tf.random.uniform([]))
            return before, tf.random.uniform([]), tf.random.uniform([], seed=7), created["v"]

        tf.random.set_seed(5)
        expected = [
            [0.1829, 0.3875, 0.4475, 0.3875], [0.6731, 0.9859, 0.0483, 0.3875], [0.9364, 0.9647, 0.4175, 0.3875],
        ]  # fmt: skip
        np.testing.assert_allclose([f() for _ in range(3)], expected, atol=5e-5)

    def test_other_effects_happen_once(self):
        calls, created = [], {}

        @tf.function
        def f():
            drawn = tf.random.uniform([], seed=1)
            tf.py_function(lambda: calls.append(1), [], [])
            if not created:
                created["v"] = tf.Variable(1.0)
            with tf.control_dependencies([created["v"].assign_add(1.0)]):
                tf.py_function(lambda: calls.append(2), [], [])
            return drawn

        first = float(f())
        assert calls == [1, 2] and float(created["v"]) == 2.0 and first != float(f())


class TestVariablesOfARun:
    """Variables created with `experimental_enable_variable_lifting=False`."""

    @pytest.mark.parametrize("jit_compile", [False, True])
    def test_every_call_has_its_own(self, jit_compile):
        traces = []

        @tf.function(jit_compile=jit_compile)
        def f(x, count):
            traces.append(x)
            v = tf.Variable(x, experimental_enable_variable_lifting=False)
            for _ in tf.range(count):
                w = tf.Variable(1.0, experimental_enable_variable_lifting=False)
                w.assign_add(2.0)
                v.assign_add(w)
            return v.read_value()

        for n in (1.0, 2.0, 1.0):
            assert float(f(tf.constant(n), tf.constant(2))) == n + 6.0
        assert float(f(tf.constant(1.0), tf.constant(0))) == 1.0
        assert len(traces) == 1

    def test_their_gradients_end_in_them(self):
        @tf.function
        def f(x):
            v = tf.Variable(x, experimental_enable_variable_lifting=False)
            with tf.GradientTape() as tape:
                y = v * v
            before = tape.gradient(y, v)
            v.assign(x * 3.0)
            return before, v * x

        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            g, z = f(x)
        assert (float(g), float(z)) == (4.0, 12.0)
        assert float(tape.gradient(z, x)) == 6.0


class TestPythonCalls:
    def test_second_order(self):
        f = tf.function(lambda x: tf.py_function(lambda t: t * t * t, [x], tf.float32))
        for n in (2.0, 3.0):
            x = tf.constant(n)
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = f(x)
                g = inner.gradient(y, x)
            assert float(g) == 3 * n * n
            assert float(outer.gradient(g, x)) == 6 * n

    def test_unused_results_and_arguments(self):
        f = tf.function(lambda x, y: tf.py_function(lambda a, b: (a * 2.0, a + 1.0), [x, y], [tf.float32] * 2)[0])
        x, y = tf.constant(1.0), tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = f(x, y)
        assert [float(g) for g in tape.gradient(z, [x, y])] == [2.0, 0.0]

    def test_what_numpy_functions_return_must_be_what_was_declared(self):
        def call(result, declared):
            return tf.function(lambda x: tf.numpy_function(lambda _: result, [x], declared))(tf.constant(1.0))

        assert call(1, tf.int64).dtype == tf.int64
        assert isinstance(call(np.float32(1), [tf.float32]), list)
        for result, declared, message in [
            (1.5, tf.float32, "0-th value returned by the function is double, but expects float"),
            ([1.5, 2.5], tf.float64, "returns 2 values, but expects to see 1"),
            (None, tf.float32, "returns 0 values"),
        ]:
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                call(result, declared)
        with pytest.raises(tf.errors.UnknownError, match="ZeroDivisionError"):
            tf.function(lambda x: tf.numpy_function(lambda _: 1 // 0, [x], tf.int64))(tf.constant(1.0))

    def test_errors_name_what_happened(self):
        def fails(x):
            raise KeyError("lost")

        with pytest.raises(tf.errors.UnknownError, match="lost"):
            tf.function(lambda x: tf.py_function(fails, [x], tf.float32))(tf.constant(1.0))


class TestPythonAndVariables:
    """Python code in a function reads and changes variables at its position in the program."""

    def test_it_sees_what_was_assigned_before(self):
        v = tf.Variable(0)

        @tf.function
        def f(x):
            v.assign(x)
            y = tf.numpy_function(lambda: v.numpy() * 10, [], tf.int32)
            v.assign_add(1)
            return y

        for n in (1, 2, 3):
            assert int(f(tf.constant(n))) == 10 * n
            assert int(v) == n + 1

    def test_what_it_assigns_is_seen_after(self):
        v = tf.Variable(0)

        @tf.function
        def f(count):
            found = tf.TensorArray(tf.int32, 0, dynamic_size=True)
            for i in tf.range(count):
                tf.py_function(lambda: v.assign_add(1), [], tf.int32)
                found = found.write(i, v.read_value())
            return found.stack()

        assert f(tf.constant(2)).numpy().tolist() == [1, 2]
        assert f(tf.constant(3)).numpy().tolist() == [3, 4, 5]
        assert f(tf.constant(2)).numpy().tolist() == [6, 7]

    @pytest.mark.parametrize("differentiable", [True, False])
    def test_in_branches_and_loops_that_are_one_node(self, differentiable):
        v = tf.Variable(0)
        result = tf.TensorSpec([], tf.int32)

        def tenfold():
            if differentiable:
                return tf.py_function(lambda: v * 10, [], result)
            return tf.ensure_shape(tf.numpy_function(lambda: v.numpy() * 10, [], result), [])

        @tf.function
        def f(count):
            v.assign(0)
            total = tf.constant(0)
            for _ in tf.range(count):
                v.assign_add(1)
                total += tenfold() if count > 2 else -tenfold()
            return total

        for n in (2, 3, 4):
            assert int(f(tf.constant(n))) == (1 if n > 2 else -1) * 5 * n * (n + 1)
            assert int(v) == n

    def test_gradients_go_through_it_and_around_it(self):
        v, w = tf.Variable(1.0), tf.Variable(3.0)

        @tf.function
        def f(x):
            v.assign(x)
            return tf.py_function(lambda a: a * a * v, [x], tf.float32) * w

        for n in (2.0, 3.0, 4.0):
            x = tf.constant(n)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            assert [float(g) for g in tape.gradient(y, [x, w])] == [2 * n * n * 3, n**3]

    def test_when_it_fails_nothing_was_assigned(self):
        v = tf.Variable(0.0)

        @tf.function
        def f(x):
            v.assign(x)
            return tf.py_function(lambda a: v.assign_add(1.0) / tf.debugging.check_numerics(a, "bad"), [x], tf.float32)

        assert float(f(tf.constant(1.0))) == 2.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
            f(tf.constant(np.inf))
        assert float(v) == 2.0


def test_random_ops_go_on_in_their_stream_when_a_batch_has_another_size():
    """TensorFlow's numbers: the graph for any size has one kernel per random op, whatever the size of a call."""
    tf.random.set_seed(7)

    @tf.function(reduce_retracing=True)
    def f(x):
        return x + tf.random.normal(tf.shape(x)), tf.random.uniform([])

    drawn = [(round(float(y[0]), 4), round(float(z), 4)) for y, z in (f(tf.zeros([n])) for n in (4, 4, 3, 4, 3, 2, 4))]
    assert drawn == [
        (0.3537, 0.4604), (-1.3882, 0.519), (0.3537, 0.4604), (-0.7743, 0.7408), (-0.0434, 0.519), (1.313, 0.7408),
        (-0.7626, 0.3772),
    ]  # fmt: skip


def test_what_a_function_prints_before_it_is_found_to_need_conversion_is_printed_once(capfd):
    def absolute(x):
        if x > 0:
            return x
        return -x

    @tf.function
    def f(x):
        tf.print("once")
        return absolute(x)

    assert f(tf.constant(-1.0)).numpy() == 1
    assert capfd.readouterr().err == "once\n"
