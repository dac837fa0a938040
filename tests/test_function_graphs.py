"""The graphs that `tf.function` traces, and their gradients."""

import gc
import linecache
import weakref

import numpy as np
import pytest

import gradtape as tf
from gradtape.graph.executors.numpy import executor


def text_of_graph(f, *args):
    return str(f.get_concrete_function(*args).graph)


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
        assert lines[1].startswith("    t2: float32[3] = sin(x0)  # test_function_graphs.py:")
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


@pytest.mark.parametrize("jit_compile", [False, True])
def test_tangents_of_complex_masks(jit_compile):
    """The rule of an op for complex values is called like the op: only some of its arguments are numbers."""
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
    """`tf.gradients` reaches constants created in the function, also through other constants."""

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
