"""`tf.function` beyond TensorFlow's recorded results: keys, methods, guards, errors."""

import gc
import inspect
import logging
import sys
import weakref

import numpy as np
import pytest

import gradtape as tf


def counted(**options):
    """A decorator: `tf.function`, without AutoGraph, whose `runs` lists the results of its Python code."""

    def decorate(f):
        runs = []

        def traced(*args, **kwargs):
            runs.append(1)
            return f(*args, **kwargs)

        g = tf.function(traced, autograph=False, **options)
        g.runs = runs
        return g

    return decorate


class TestKeys:
    def test_numbers_of_different_types_are_different(self):
        f = counted()(lambda x: tf.constant(x))
        values = [1, 1.0, True, 0, 0.0, -0.0, False]
        assert [f(x).dtype.name for x in values] == ["int32", "float32", "bool", "int32", "float32", "float32", "bool"]
        assert np.signbit(f(-0.0).numpy())
        assert not np.signbit(f(0.0).numpy())
        assert len(f.runs) == len(values)

    def test_nan_is_traced_once(self):
        f = counted()(lambda x: tf.constant(x))
        nan = float("nan")
        f(nan), f(nan)
        assert len(f.runs) == 1

    def test_an_object_that_is_gone_is_not_mistaken_for_a_new_one(self):
        class Scale:
            def __init__(self, by):
                self.by = by

        f = counted()(lambda x, scale: x * scale.by)
        assert [float(f(tf.constant(1.0), Scale(float(n)))) for n in range(20)] == [float(n) for n in range(20)]

    def test_an_object_may_say_what_it_is_traced_for(self):
        class AtMost(tf.types.experimental.TraceType):
            def __init__(self, size):
                self.size = size

            def is_subtype_of(self, other):
                return self.size <= other.size

            def most_specific_common_supertype(self, others):
                return None

            def placeholder_value(self, placeholder_context=None):
                return None

            def __eq__(self, other):
                return self.size == other.size

            def __hash__(self):
                return hash(self.size)

        class Box:
            def __init__(self, size):
                self.size = size

            def __tf_tracing_type__(self, context):
                return AtMost(self.size)

        f = counted()(lambda box, x: x * box.size)
        assert [float(f(Box(n), tf.constant(1.0))) for n in (3, 3, 2, 4)] == [3, 3, 3, 4]
        assert len(f.runs) == 2
        assert isinstance(f, tf.types.experimental.PolymorphicFunction)

    def test_every_variable_has_its_own_graph(self):
        f = counted()(lambda v: v.assign_add(1.0))
        a, b = tf.Variable(1.0), tf.Variable(10.0)
        for _ in range(3):
            f(a), f(b)
        assert [float(a), float(b)] == [4.0, 13.0]
        assert len(f.runs) == 2
        assert f.experimental_get_tracing_count() == 1

    def test_each_shape_of_an_open_signature_is_traced_but_counts_once(self):
        @counted(input_signature=[tf.TensorSpec([None], tf.float32)])
        def f(x):
            return tf.reduce_sum(x)

        assert [float(f(tf.ones(n))) for n in (1, 2, 3, 2, 1)] == [1.0, 2.0, 3.0, 2.0, 1.0]
        assert len(f.runs) == 3
        assert f.experimental_get_tracing_count() == 1

    def test_a_warning_names_what_changed(self, caplog):
        @tf.function
        def f(x, n):
            return x * n

        with caplog.at_level(logging.WARNING, "gradtape"):
            for n in range(4):
                f(tf.constant(1.0), float(n))
            assert not caplog.records
            for n in range(4, 9):
                f(tf.constant(1.0), float(n))
        assert len(caplog.records) == 2
        text = caplog.records[0].getMessage()
        assert text.startswith("5 out of the last 5 calls to <function")
        assert "triggered tf.function retracing" in text
        assert "argument 'n' changed from 3.0 to 4.0" in text

    def test_signatures_that_are_asked_for_are_no_retracing(self, caplog):
        f = tf.function(lambda x: x + 1.0)
        with caplog.at_level(logging.WARNING, "gradtape"):
            for n in range(9):
                f.get_concrete_function(tf.TensorSpec([n], tf.float32))
                f(tf.zeros([n]))
        assert not caplog.records

    def test_a_warning_names_a_keyword_argument(self, caplog):
        @tf.function
        def f(x, *, n, m):
            return x * n + m

        with caplog.at_level(logging.WARNING, "gradtape"):
            for n in range(5):
                f(tf.constant(1.0), m=1.0, n=float(n))
        assert "argument 'n' changed from 3.0 to 4.0" in caplog.text

    def test_functions_made_in_a_loop_are_warned_of_and_calls_in_other_functions_are_not(self, caplog):
        with caplog.at_level(logging.WARNING, "gradtape"):
            inner = tf.function(lambda x: x + 1)
            outer = tf.function(lambda x: inner(x) * 2)
            for n in range(4):
                inner(n), outer(n + 10)
            assert not caplog.records
            for _ in range(5):
                tf.function(lambda x: x)(1)
        assert len(caplog.records) == 1

    def test_arguments_are_not_to_be_modified(self):
        @tf.function
        def f(items):
            items.append(tf.constant(1.0))
            return tf.add_n(items)

        with pytest.raises(ValueError, match=r"f\(items\) should not modify its Python input arguments"):
            f([tf.constant(2.0)])

    def test_calls_in_between_that_were_not_traced_count_too(self, caplog):
        f = tf.function(lambda x: x)
        with caplog.at_level(logging.WARNING, "gradtape"):
            for n in range(1, 8):
                for _ in range(4):
                    f(tf.ones(n))
        assert not caplog.records


class TestMethods:
    def test_instances_that_are_equal_have_graphs_of_their_own(self):
        class Scale:
            def __init__(self, by):
                self.by = by

            def __eq__(self, other):
                return True

            def __hash__(self):
                return 0

            @tf.function
            def scaled(self, x):
                return x * self.by

        a, b = Scale(2.0), Scale(3.0)
        assert [float(s.scaled(tf.constant(1.0))) for s in (a, b, a, b)] == [2.0, 3.0, 2.0, 3.0]

    def test_unhashable_instances_are_fine(self):
        class Unhashable:
            __hash__ = None

            @tf.function
            def doubled(self, x):
                return x * 2.0

        assert float(Unhashable().doubled(tf.constant(2.0))) == 4.0

    def test_an_instance_that_nobody_holds_lives_through_the_call(self):
        class Scale:
            by = 3.0

            @tf.function
            def scaled(self, x):
                return x * self.by

        assert float(Scale().scaled(tf.constant(2.0))) == 6.0

    def test_methods_do_not_keep_instances_alive(self):
        class Scale:
            def __init__(self):
                self.by = tf.Variable(3.0)

            @tf.function
            def scaled(self, x):
                return x * self.by

        scale = Scale()
        scale.scaled(tf.constant(2.0))
        alive = weakref.ref(scale)
        del scale
        gc.collect()
        assert alive() is None

    def test_an_attribute_of_a_bound_function_is_that_of_the_function(self):
        class Scale:
            @tf.function
            def scaled(self, x):
                return x * 2.0

        scale = Scale()
        scale.scaled(tf.constant(1.0)), scale.scaled(tf.ones(2))
        assert scale.scaled.experimental_get_tracing_count() == 2
        assert scale.scaled.python_function(3.0) == 6.0
        assert scale.scaled.__name__ == "scaled"

    def test_a_method_may_be_made_a_function_once_more(self):
        class Scale:
            @tf.function
            def of(self, x, y):
                return x * y

        outer = tf.function(Scale().of)
        assert float(outer(tf.constant(2.0), y=tf.constant(3.0))) == 6.0
        assert list(inspect.signature(Scale().of).parameters) == inspect.getfullargspec(Scale().of).args == ["x", "y"]
        assert inspect.getfullargspec(Scale.of).args == ["self", "x", "y"]
        with pytest.raises(TypeError, match="missing a required argument: 'x'"):
            outer(y=tf.constant(3.0))


class TestErrors:
    @pytest.mark.parametrize("autograph", [True, False])
    def test_what_does_not_fit_is_a_value_error_in_a_trace(self, autograph):
        x = tf.ones([2, 3])
        for f in (lambda x: tf.matmul(x, x), lambda x: x + tf.ones([2]), lambda x: tf.ensure_shape(x, [None, 2])):
            for kind in (ValueError, tf.errors.InvalidArgumentError):
                with pytest.raises(kind):
                    tf.function(f, autograph=autograph)(x)
            with pytest.raises(tf.errors.InvalidArgumentError) as eager:
                f(x)
            assert not isinstance(eager.value, ValueError)


class TestGuards:
    def test_a_value_that_is_needed_makes_a_graph_for_each(self):
        f = counted()(lambda x, n: tf.reshape(x, [n, -1]))
        x = tf.range(6)
        assert [f(x, tf.constant(n)).shape[1] for n in (1, 2, 3, 2, 1)] == [6, 3, 2, 3, 6]
        assert len(f.runs) == 3
        assert f.experimental_get_tracing_count() == 1

    def test_a_function_that_becomes_eager_says_so_once(self, caplog):
        v = tf.Variable(1.0)

        @tf.function
        def f(x):
            if x > 0.0:
                v.assign(2.0 * x)
            return v * x

        f(tf.constant(1.0))
        with caplog.at_level(logging.WARNING, "gradtape"):
            for _ in range(3):
                with tf.GradientTape(track_assign=True):
                    y = f(tf.constant(1.0))
                assert float(y) == 2.0
        assert len(caplog.records) == 1 and "runs eagerly" in caplog.text

    def test_too_many_values_make_it_eager(self, caplog):
        f = counted()(lambda n: tf.range(n))
        with caplog.at_level(logging.WARNING, "gradtape"):
            assert [len(f(tf.constant(n))) for n in range(20)] == list(range(20))
        assert "runs eagerly: it depends on the values of its tensors in too many ways" in caplog.text
        assert len(caplog.records) == 1

    def test_what_was_done_before_a_guard_is_not_done_again(self, tmp_path):
        path = tmp_path / "printed"
        v = tf.Variable(0)

        @counted()
        def f(n):
            tf.print("n =", n, output_stream=f"file://{path}")
            v.assign_add(1)
            u = tf.random.uniform([1], seed=3)
            return tf.range(n), u

        tf.random.set_seed(5)
        drawn = [float(f(tf.constant(n))[1][0]) for n in (1, 2, 1, 3, 2)]
        tf.random.set_seed(5)
        assert drawn == [float(tf.random.uniform([1], seed=3)[0]) for _ in range(5)]
        assert path.read_text() == "n = 1\nn = 2\nn = 1\nn = 3\nn = 2\n"
        assert int(v) == 5
        assert len(f.runs) == 3

    def test_the_same_under_a_tape(self, tmp_path):
        path = tmp_path / "printed"

        @counted()
        def f(x, n):
            tf.print("n =", n, output_stream=f"file://{path}")
            return tf.reduce_sum(tf.ones([n]) * x * x)

        x = tf.constant(3.0)
        for n in (1, 2, 1, 3):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x, tf.constant(n))
            assert float(tape.gradient(y, x)) == 6.0 * n
        assert path.read_text() == "n = 1\nn = 2\nn = 1\nn = 3\n"

    def test_masks_are_looked_at_for_their_number_only(self):
        f = counted()(lambda x: tf.boolean_mask(x, x > 0))
        given = [[1.0, -1.0, 2.0], [-1.0, 1.0, 2.0], [3.0, 4.0, -1.0]]
        assert [f(tf.constant(x)).numpy().tolist() for x in given] == [[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]]
        assert len(f.runs) == 1

    @pytest.mark.parametrize(
        "update",
        [
            lambda v, i, x: v.scatter_nd_update(i[:, None], x),
            lambda v, i, x: v.scatter_nd_add(i[:, None], x),
            lambda v, i, x: v.scatter_update(tf.IndexedSlices(x, i)),
            lambda v, i, x: v.scatter_max(tf.IndexedSlices(x, i)),
            lambda v, i, x: tf.gather(v, i),
            lambda v, i, x: v.gather_nd(i[:, None]),
            lambda v, i, x: tf.math.unsorted_segment_sum(x, i, 4),
            lambda v, i, x: tf.one_hot(i, 4),
            lambda v, i, x: tf.tensor_scatter_nd_update(v, i[:, None], x),
            lambda v, i, x: v[i[0]],
        ],
    )
    def test_indices_are_not_looked_at(self, update):
        v = tf.Variable([1.0, 2.0, 3.0, 4.0])
        f = counted()(lambda i, x: update(v, i, x))
        for i in ([0, 1], [2, 3], [3, 1]):
            f(tf.constant(i), tf.constant([5.0, 6.0]))
        assert len(f.runs) == 1


def test_a_call_costs_little():
    """Counted in calls of Python functions, which do not depend on the machine: 4 µs on an idle one."""
    a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    f = tf.function(lambda x, y: x + y)
    f(a, b), f(a, b)

    def calls_of(work):
        events = []
        sys.setprofile(lambda frame, event, argument: events.append(event))
        try:
            work()
        finally:
            sys.setprofile(None)
        return sum(event in ("call", "c_call") for event in events)

    assert calls_of(lambda: f(a, b)) - calls_of(lambda: a + b) < 30


def test_what_a_function_made_inside_another_returns_is_known_there():
    @tf.function
    def f(x):
        inner = tf.function(lambda y: {"a": x * y})
        concrete = inner.get_concrete_function(tf.TensorSpec([3, 1], tf.float32))
        assert concrete.structured_outputs == {"a": tf.TensorSpec([3, 2], tf.float32)}
        assert tf.constant(1.0).graph is x.graph
        return concrete(tf.ones([3, 1]))["a"]

    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [[1.0, 2.0]] * 3
    with pytest.raises(AttributeError, match="eager execution"):
        _ = tf.constant(1.0).graph


def test_a_function_has_the_attributes_of_what_it_runs():
    class Scaling(tf.Module):
        def __call__(self, x):
            return x * self.w

    scaling = Scaling()
    scaling.w, scaling.label = tf.Variable(2.0), "a"
    f = tf.function(scaling)
    assert f.w is scaling.w and f.label == "a" and float(f(tf.constant(3.0))) == 6.0


def test_sizes_that_a_signature_leaves_open_are_chosen_so_that_they_go_together():
    """TensorFlow gives these shapes too; a call is traced for its actual sizes."""

    @tf.function
    def split(x, example):
        return tf.reshape(x, tf.concat([tf.shape(example)[:2], tf.shape(x)[1:]], 0))

    open_sizes = split.get_concrete_function(tf.TensorSpec([None, 2]), tf.TensorSpec([None, 3, 5]))
    assert open_sizes.output_shapes.rank == 3 and open_sizes.output_shapes.is_compatible_with([4, 3, 2])
    assert open_sizes(tf.ones([12, 2]), tf.ones([4, 3, 5])).shape == (4, 3, 2)
