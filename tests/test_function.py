"""What `tf.function` promises beyond the recorded answers of TensorFlow: graphs, guards, methods, Python calls."""

import gc
import inspect
import linecache
import logging
import timeit
import weakref

import numpy as np
import pytest

import gradtape as tf
from gradtape.graph.executors.numpy import executor


def counted(**options):
    """A decorator: `tf.function`, without AutoGraph, whose `runs` lists what its Python code returned."""

    def decorate(f):
        runs = []

        def traced(*args, **kwargs):
            runs.append(1)
            return f(*args, **kwargs)

        g = tf.function(traced, autograph=False, **options)
        g.runs = runs
        return g

    return decorate


def text_of_graph(f, *args):
    return str(f.get_concrete_function(*args).graph)


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
        assert list(inspect.signature(Scale().of).parameters) == ["x", "y"]
        with pytest.raises(TypeError, match="missing a required argument: 'x'"):
            outer(y=tf.constant(3.0))


class TestGraphs:
    def test_a_graph_prints_as_a_program(self):
        v = tf.Variable(2.0, name="scale")

        @tf.function
        def f(x):
            y = tf.sin(x) * v
            v.assign(y[0])
            return y

        lines = text_of_graph(f, tf.TensorSpec([3], tf.float32)).splitlines()
        assert lines[0] == "def f(x0: float32[3], scale: float32[]):"
        assert lines[1].startswith("    t2: float32[3] = sin(x0)  # test_function.py:")
        assert lines[-2].startswith("    scale.assign(t")
        assert lines[-1] == "    return t3"

    def test_nothing_happens_while_a_concrete_function_is_made(self, capsys):
        v = tf.Variable(2.0)
        tf.random.set_seed(1)

        @tf.function
        def f(x):
            tf.print("called")
            v.assign_add(x)
            return tf.random.uniform([], seed=5)

        concrete = f.get_concrete_function(tf.TensorSpec([], tf.float32))
        assert float(v) == 2.0
        assert capsys.readouterr().err == ""
        tf.random.set_seed(1)
        drawn = float(concrete(tf.constant(1.0)))
        tf.random.set_seed(1)
        assert drawn == float(tf.random.uniform([], seed=5))
        assert float(v) == 3.0
        assert capsys.readouterr().err == "called\n"

    def test_what_cannot_be_traced_without_values_is_traced_at_the_first_call(self):
        @tf.function
        def f(x):
            return tf.py_function(lambda t: t + 1.0, [x], tf.float32)

        concrete = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
        with pytest.raises(RuntimeError, match="could not be traced without values"):
            print(concrete.graph)
        assert concrete(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 3.0]
        assert "py_function" in str(concrete.graph)

    def test_sizes_made_up_for_a_trace_need_not_go_together(self):
        concrete = tf.function(lambda x: x * tf.ones(5)).get_concrete_function(tf.TensorSpec([None], tf.float32))
        assert concrete(tf.ones(5)).shape == (5,)
        with pytest.raises(ValueError, match="Incompatible shapes"):
            concrete(tf.ones(4))

    def test_shapes_of_results_follow_unknown_sizes(self):
        f = tf.function(lambda x: (tf.concat([x, x], 0), tf.reduce_sum(x), x[:1]))
        concrete = f.get_concrete_function(tf.TensorSpec([None, 3], tf.float32))
        assert [shape.as_list() for shape in concrete.output_shapes] == [[None, 3], [], [1, 3]]

    def test_a_tensor_is_no_structure_and_a_weak_reference_no_argument(self):
        x = tf.constant(1.0)
        for structure, kind in (((x, x), "tuple type"), ({"a": x, "b": x}, "a Dict type")):
            concrete = tf.function(lambda s: tf.nest.flatten(s)[0]).get_concrete_function(structure)
            with pytest.raises(TypeError, match=f"Can not cast .*Tensor.* to {kind}"):
                concrete(x)
        f = tf.function(lambda r: x)
        with pytest.raises(TypeError, match="weakref input"):
            f(weakref.ref(f))

    def test_tensors_in_structures_are_named_by_the_way_to_them_or_by_their_specs(self):
        def spec(name=None):
            return tf.TensorSpec([], tf.float32, name)

        f = tf.function(lambda a, *b: a["x"] - a["y"][0] * b[0])
        concrete = f.get_concrete_function({"x": spec(), "y": [spec("mine"), 3]}, spec())
        (first, second), _ = concrete.structured_input_signature
        assert [first["x"].name, first["y"][0].name, first["y"][1], second.name] == ["a_x", "mine", 3, "b_0"]
        x, y, z = tf.constant(7.0), tf.constant(2.0), tf.constant(3.0)
        assert float(concrete(a=x, mine=y, b_0=z)) == float(concrete(x, y, z)) == 1.0
        named = f.get_concrete_function({"x": spec("other"), "y": [spec(), 3]}, spec())
        assert named.structured_input_signature[0][0]["x"].name == "other"
        assert float(named(other=x, a=y, b_0=z)) == 1.0
        assert f.experimental_get_tracing_count() == 1

    def test_signatures_in_words(self):
        @tf.function
        def f(x, n=2, *, deep=None):
            return {"y": x * n}

        concrete = f.get_concrete_function(tf.TensorSpec([None], tf.float32, name="rows"))
        text = "(x: TensorSpec(shape=(None,), dtype=tf.float32, name='rows'), n: Literal[2], *, deep: Literal[None])"
        assert concrete.pretty_printed_signature(False).startswith(f"{text} -> Dict[['y', TensorSpec(shape=(None,)")
        assert "  n (POSITIONAL_OR_KEYWORD): Literal[2]" in str(concrete)
        assert f.pretty_printed_concrete_signatures() == concrete.pretty_printed_signature()
        assert str(f.function_spec) == "(x, n=2, *, deep=None)"

    def test_a_compiler_is_not_asked(self):
        with pytest.raises(ValueError, match="jit_compile=True"):
            tf.function(lambda x: x).experimental_get_compiler_ir(tf.constant(1.0))

    def test_values_of_a_trace_are_let_go(self):
        made = []

        @tf.function
        def f(x):
            big = tf.ones(1000) * x
            made.append(weakref.ref(big))
            return {"sum": tf.reduce_sum(big)}

        f(tf.constant(1.0))
        gc.collect()
        assert all(ref() is None for ref in made)


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


class TestVariablesOfARun:
    """Variables that are made with `experimental_enable_variable_lifting=False`."""

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


class TestGradients:
    def test_a_function_of_variables_alone_under_a_tape_in_a_function(self):
        w = tf.Variable(1.0)
        doubled = tf.function(lambda: w * 2.0)
        plus = tf.function(lambda x: x + w)
        one = tf.constant(1.0)

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                loss = doubled() * plus(one)
            w.assign_sub(0.1 * tape.gradient(loss, w))
            return loss

        expected = 1.0
        for _ in range(3):
            np.testing.assert_allclose(step(), 2 * expected * (expected + 1), rtol=1e-6)
            expected -= 0.1 * (4 * expected + 2)

    def test_recomputation_is_not_undone(self):
        again = tf.recompute_grad(lambda x: tf.sin(tf.exp(x)))

        @tf.function
        def f(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = again(x)
            return y, tape.gradient(y, x)

        program = executor.compile_graph(f.get_concrete_function(tf.TensorSpec([4], tf.float32)).graph)
        assert "".join(linecache.getlines(program.__code__.co_filename)).count("exp(") == 2

    def test_under_a_tape_in_the_same_function(self):
        @tf.function
        def f(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                (g,) = tf.gradients(x * x * x, x)
            return tape.gradient(g, x)

        assert [float(f(tf.constant(n))) for n in (2.0, 3.0)] == [12.0, 18.0]

    def test_random_numbers_are_not_drawn_again(self):
        @tf.function
        def f(x):
            u = tf.random.uniform([])
            return tf.gradients(x * u, x)[0], u

        for _ in range(3):
            g, u = f(tf.constant(1.0))
            assert float(g) == float(u)

    def test_only_the_backward_pass_is_added(self):
        f = tf.function(lambda x: tf.gradients(tf.sin(tf.exp(x)), x))
        text = text_of_graph(f, tf.TensorSpec([], tf.float32))
        assert text.count("sin(") == 1
        assert text.count("exp(") == 1


def test_a_call_costs_little():
    a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    f = tf.function(lambda x, y: x + y)
    f(a, b), f(a, b)
    eager, cached = (min(timeit.repeat(g, number=2000, repeat=20)) / 2000 for g in (lambda: a + b, lambda: f(a, b)))
    assert cached - eager < 30e-6  # about 4 µs on a quiet machine


class TestPythonAndVariables:
    """Python code in a function sees and changes variables at its place in the program."""

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
    """TensorFlow's numbers: the graph for any size has one kernel for each random op, whatever the size of a call."""
    tf.random.set_seed(7)

    @tf.function(reduce_retracing=True)
    def f(x):
        return x + tf.random.normal(tf.shape(x)), tf.random.uniform([])

    drawn = [(round(float(y[0]), 4), round(float(z), 4)) for y, z in (f(tf.zeros([n])) for n in (4, 4, 3, 4, 3, 2, 4))]
    assert drawn == [
        (0.3537, 0.4604), (-1.3882, 0.519), (0.3537, 0.4604), (-0.7743, 0.7408), (-0.0434, 0.519), (1.313, 0.7408),
        (-0.7626, 0.3772),
    ]  # fmt: skip


@pytest.mark.parametrize("jit_compile", [False, True])
def test_tangents_of_complex_masks(jit_compile):
    """The rule of an op for complex values is called as the op is: only some of its arguments are numbers."""
    x, d = tf.constant(np.eye(3) + 1j), tf.constant([1 + 2j, 2, 3j], tf.complex128)

    def f(x, d):
        with tf.autodiff.ForwardAccumulator([x, d], [x * 2j, tf.ones_like(d)]) as acc:
            y = tf.linalg.set_diag(x, d) * x
            z = tf.where(tf.math.real(x) > 0.5, x * x, tf.linalg.band_part(x, 0, 1))
        return acc.jvp([y, z])

    for found, expected in zip(tf.function(f, jit_compile=jit_compile)(x, d), f(x, d), strict=True):
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.zeros(2), lambda: tf.ones([2]), lambda: tf.fill([2], 3.0), lambda: tf.eye(2)[0],
        lambda: tf.range(2.0), lambda: tf.linspace(0.0, 1.0, 2), lambda: tf.one_hot(1, 2),
        lambda: tf.convert_to_tensor([1.0, 2.0]),
        lambda: tf.zeros_like([1.0, 2.0]), lambda: tf.ones_like([1.0, 2.0]), lambda: tf.constant([2.0, 3.0]),
    ],
)  # fmt: skip
def test_gradients_of_what_the_function_makes(make):
    """`tf.gradients` goes back to a constant that the function has made, also by way of other constants."""

    @tf.function
    def f(x):
        z = make()
        w = z * z + z
        y = tf.reduce_sum(x * w + tf.exp(z))
        return tf.gradients(y, [z, x, w])

    for value in ([1.0, 2.0], [3.0, -2.0]):
        x, z = np.array(value), make().numpy()
        of_z, of_x, of_w = f(tf.constant(value))
        np.testing.assert_allclose(of_z, x * (2 * z + 1) + np.exp(z), rtol=1e-6)
        np.testing.assert_allclose(of_x, z * z + z, rtol=1e-6)
        np.testing.assert_allclose(of_w, x)


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


TOLD_BY_TENSORS = {  # what does not fit `[1., 2., 3.]`: the op, and what tells it how to work
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
        assert not isinstance(raised.value, ValueError)  # which would speak of the program, not of its values


def test_what_is_asserted_of_a_value_is_not_left_out():
    @tf.function
    def f(x, n):
        tf.debugging.assert_rank(x, n)
        return x

    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        f(tf.constant([1.0]), tf.constant(3))


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


def _recomputed_loop():
    x, w = tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0])
    loop = tf.recompute_grad(
        lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y) * w), (0, x))[1]
    )

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(loop(x))
        return tape.gradient(y, [x, w])

    return step


def _product_with_a_hessian():
    w = tf.Variable([1.0, 2.0])

    def step():
        with tf.autodiff.ForwardAccumulator(w, tf.ones([2])) as acc:
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(tf.sin(w) * w**3)
            g = tape.gradient(y, w)
        return acc.jvp(g)

    return step


@pytest.mark.parametrize("make", [_recomputed_loop, _product_with_a_hessian])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_call_leaves_nothing_behind(make, compiled):
    step = make()
    step = tf.function(step) if compiled else step

    def objects():
        gc.collect()
        found = gc.get_objects()
        return sum(type(o) is dict for o in found), sum(type(o).__name__ in ("Value", "Node", "Tensor") for o in found)

    for _ in range(40):  # what comes again and again is compiled after a while
        step()
    dicts, values = objects()
    for _ in range(40):
        step()
    dicts_after, values_after = objects()
    assert dicts_after - dicts < 20
    assert values_after - values < 20


def _gradient_of(f):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


@tf.custom_gradient
def _doubled(x):
    return tf.tanh(x), lambda g: g * 2.0


def _looped(x):
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(y) * x), [0, x])[1]


def _forward_over_reverse(f):
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        gradient = _gradient_of(lambda _: f(x))
    return accumulator.jvp(gradient)


def _along_itself(x):
    with tf.autodiff.ForwardAccumulator(x, x) as accumulator:
        y = tf.tanh(x)
    return accumulator.jvp(y)


TRACED_ANEW = {
    "recorded": lambda: _gradient_of(tf.function(lambda x: x * 2.0)),
    "branch": lambda: _gradient_of(tf.function(lambda x: tf.cond(x[0] > 0.0, lambda: x * 2.0, lambda: x))),
    "loop": lambda: _gradient_of(tf.function(lambda x: _looped(x))),
    "recomputed loop": lambda: _gradient_of(tf.function(lambda x: tf.recompute_grad(_looped)(x))),
    "rule": lambda: _gradient_of(tf.function(lambda x: _doubled(x))),
    "map": lambda: tf.function(lambda x: tf.map_fn(lambda row: row * 2.0, x))(tf.ones([3])),
    "along itself": lambda: tf.function(_along_itself)(tf.ones([3])),
    "forward over reverse": lambda: _forward_over_reverse(tf.function(lambda x: tf.tanh(x))),
}


@pytest.mark.parametrize("work", TRACED_ANEW.values(), ids=TRACED_ANEW)
def test_a_function_that_is_forgotten_leaves_nothing_to_the_collector(work):
    for _ in range(3):
        work()
    gc.collect()
    gc.disable()
    try:
        work()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = [type(x).__name__ for x in gc.garbage if type(x).__module__.startswith("gradtape.")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not left


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
    """TensorFlow gives these shapes too; what is called is traced for the sizes that come."""

    @tf.function
    def split(x, example):
        return tf.reshape(x, tf.concat([tf.shape(example)[:2], tf.shape(x)[1:]], 0))

    open_sizes = split.get_concrete_function(tf.TensorSpec([None, 2]), tf.TensorSpec([None, 3, 5]))
    assert open_sizes.output_shapes.rank == 3 and open_sizes.output_shapes.is_compatible_with([4, 3, 2])
    assert open_sizes(tf.ones([12, 2]), tf.ones([4, 3, 5])).shape == (4, 3, 2)
