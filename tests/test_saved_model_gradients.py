"""SavedModels with custom gradients, and their nodes as TensorFlow's gradients need them."""

import numpy as np
import pytest
from saved_modules import module_of

import gradtape as tf
from gradtape.saved_model.loading import read

S = tf.TensorSpec


@tf.custom_gradient
def exponential(x):
    y = tf.exp(x)
    return tf.identity(y), lambda dy: dy * 7.0 * y


@tf.custom_gradient
def pair(x, n):
    def rule(a, b):
        return a * 2.0 + b * tf.cast(n, tf.float32), None

    return (x * x, x + 1.0), rule


@tf.custom_gradient
def looked_up(rows):
    where = tf.constant([0, 2, 2])
    return tf.gather(rows, where), lambda dy: tf.IndexedSlices(3.0 * dy, where, tf.shape(rows))


def scaled_by(v):
    @tf.custom_gradient
    def call(x):
        return x * v, lambda dy, variables: (5.0 * dy * v, [tf.reduce_sum(dy * x) * 11.0])

    return call


class WithGradients(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable(2.0)

    @tf.function(input_signature=[S([None])])
    def simple(self, x):
        return exponential(x) * 2.0

    @tf.function(input_signature=[S([None])])
    def of_two(self, x):
        a, b = pair(x, tf.constant(3))
        return a * b * self.v

    @tf.function(input_signature=[S([None])])
    def inside_a_branch(self, x):
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: exponential(x), lambda: -x)

    @tf.function(input_signature=[S([None])])
    def inside_a_loop(self, x):
        return tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, tf.sin(exponential(x))), [0, x])[1]

    @tf.function(input_signature=[S([4])])
    def slices(self, x):
        return looked_up(x)

    @tf.function(input_signature=[S([None])])
    def of_a_variable(self, x):
        return scaled_by(self.v)(x)

    @tf.function(input_signature=[S([None])])
    def recomputed(self, x):
        return tf.recompute_grad(lambda x: tf.sin(x) * x)(x)

    @tf.function(input_signature=[S([None])])
    def passed_through(self, x):
        return tf.grad_pass_through(tf.round)(x * 2.0)


GRADIENTS = [
    "simple", "of_two", "inside_a_branch", "inside_a_loop", "slices", "of_a_variable", "recomputed", "passed_through",
]  # fmt: skip


def derivatives(module, name):
    x = tf.constant([0.5, 1.5, -1.0, 2.0])
    with tf.GradientTape() as outer, tf.GradientTape(persistent=True) as tape:
        outer.watch(x)
        tape.watch(x)
        y = getattr(module, name)(x)
        by_x = tf.convert_to_tensor(tape.gradient(y, x))
    return [y, by_x, tape.gradient(y, module.v), outer.gradient(by_x, x)]


@pytest.mark.parametrize("name", GRADIENTS)
def test_custom_gradients_are_saved(tmp_path, name):
    module = WithGradients()
    wanted = derivatives(module, name)
    for folder in ("once", "twice"):
        tf.saved_model.save(module, tmp_path / folder)
        module = tf.saved_model.load(tmp_path / folder)
        for a, b in zip(wanted, derivatives(module, name), strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                np.testing.assert_allclose(a, b, rtol=1e-6)


def test_custom_gradients_that_are_not_saved(tmp_path):
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    tf.saved_model.save(WithGradients(), tmp_path / "m", options=options)
    loaded = tf.saved_model.load(tmp_path / "m")
    x = tf.constant([0.5])
    np.testing.assert_allclose(loaded.simple(x), 2 * np.exp([0.5]), rtol=1e-6)
    with pytest.raises(LookupError, match="experimental_custom_gradients"), tf.GradientTape() as tape:
        tape.watch(x)
        tape.gradient(loaded.simple(x), x)


def functions_of(folder):
    """Returns the functions in the file, by name."""
    library = read(str(folder)).meta_graphs[0].graph_def.library
    return {function.signature.name: function for function in library.function}


def nodes_of(folder, *ops):
    return [(name, node) for name, f in functions_of(folder).items() for node in f.node_def if node.op in ops]


def test_a_branch_is_given_every_tensor_once(tmp_path):
    """TensorFlow's gradient of the node looks up its inputs by tensor, and fails on a duplicate."""
    half = tf.constant(0.5)
    module = module_of(lambda x: tf.cond(x[0] > 0.0, lambda: x * half + half, lambda: half * x), S([None]))
    tf.saved_model.save(module, tmp_path / "m")
    ((_, node),) = nodes_of(tmp_path / "m", "Case", "StatelessCase", "If", "StatelessIf")
    assert len(set(node.input)) == len(node.input)


def test_a_custom_gradient_captures_arguments_of_its_function_alone(tmp_path):
    """TensorFlow finds captured tensors for the gradient of a call, but not for that of a branch or a loop's body."""
    tf.saved_model.save(WithGradients(), tmp_path / "m")
    graph, functions = read(str(tmp_path / "m")).meta_graphs[0], functions_of(tmp_path / "m")
    captured = [node.captured_tensor for node in graph.object_graph_def.nodes if "captured_tensor" in node]
    assert captured
    for tensor in captured:
        arguments = [argument.name for argument in functions[tensor.concrete_function].signature.input_arg]
        assert tensor.name.partition(":")[0] in arguments
    callers = {node.attr["f"].func.name for _, node in nodes_of(tmp_path / "m", "PartitionedCall")}
    assert {name for name, _ in nodes_of(tmp_path / "m", "IdentityN")} <= callers


def test_a_loop_begins_with_its_counter_and_its_limit(tmp_path):
    """TensorFlow's gradient of a loop expects the limit as its second input: if there is none, it is -1."""
    module = module_of(lambda x: tf.while_loop(lambda y: y < 100.0, lambda y: (y + x * x + 1.0,), [x])[0], S([]))
    tf.saved_model.save(module, tmp_path / "m")
    ((name, loop),) = nodes_of(tmp_path / "m", "While", "StatelessWhile")
    nodes = {node.name: node for node in functions_of(tmp_path / "m")[name].node_def}
    first, second = (nodes[reference.partition(":")[0]].attr["value"].tensor for reference in loop.input[:2])
    assert (int(tf.io.parse_tensor(first, tf.int32)), int(tf.io.parse_tensor(second, tf.int32))) == (0, -1)
