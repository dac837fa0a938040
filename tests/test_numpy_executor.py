"""The NumPy executor: a compiled graph gives the results of its ops run separately."""

import gc
import inspect
import linecache
import traceback
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from small_graphs import Builder, Effect, constant, names, registry

import gradtape as tf
from gradtape.core import dtypes
from gradtape.core.errors import InvalidArgumentError
from gradtape.graph.executors.numpy.executor import compile_graph, compiled
from gradtape.graph.ir.graph import Graph, Node, Value
from gradtape.graph.passes.fused_ops import with_fused_ops
from gradtape.inspect.checks.opcheck import draw


def test_one_line_a_node():
    b = Builder()
    x = b.input(np.arange(6, dtype=np.float32).reshape(2, 3))
    y = b.op("sum", b.op("tanh", b.op("mul", x, 2.0)), axis=(0,), keepdims=True)
    graph = b.expecting(y)
    b.agrees(graph)
    run = compile_graph(graph)  # its source exists as long as it does
    source = "".join(linecache.getlines(run.__code__.co_filename))
    assert "tanh(" in source and "keepdims=True" in source


HOSTILE_NAMES = ["keepdims=False if open('MARK', 'w') else True, dtype", "other", "lambda", "\uff4beepdims"]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_an_attribute_that_the_op_does_not_have_is_no_source(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x, y = Value((2,), dtypes.float32), Value((), dtypes.float32)
    graph = Graph("graph", (x,), (Node(registry["sum"], (x,), {"axis": (0,), name: None}, (y,)),), (y,))
    with pytest.raises(ValueError, match=r"sum has no attribute .* its attributes are: axis, keepdims"):
        compile_graph(graph)
    assert list(tmp_path.iterdir()) == []


def test_only_texts_of_plain_types_are_source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    class Text(str):
        __slots__ = ()

        def __repr__(self):
            return "open('MARK', 'w')"

    class Number(int):
        __repr__ = Text.__repr__

    x, y = Value((2,), dtypes.float32), Value((2,), dtypes.float32)
    nodes = (Node(registry["check_numerics"], (x,), {"message": Text("'); open('MARK', 'w'); ('")}, (y,)),)
    graph = Graph("x(): pass\nopen('MARK', 'w')\ndef y", (x,), nodes, (y,))
    assert compile_graph(graph)(np.ones(2, np.float32))[0].tolist() == [1.0, 1.0]
    z = Value((), dtypes.float32)
    nodes = (Node(registry["sum"], (x,), {"axis": (Number(0),), "keepdims": False}, (z,)),)
    assert compile_graph(Graph("graph", (x,), nodes, (z,)))(np.ones(2, np.float32)) == (2.0,)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", sorted(name for name, op in registry.items() if not op.random))
def test_every_op(name):
    op = registry[name]
    for case in op.samples:
        b = Builder()
        inputs = [b.input(a) for a in draw(op, case, np.float64)]
        y = b.op(op, *inputs, **case.attrs)
        b.agrees(b.expecting(*(y if isinstance(y, tuple) else (y,))))


def test_inputs_and_constants_may_be_given_back():
    b = Builder()
    x = b.input(np.float32(3))
    b.agrees(b.expecting(x, constant(2.0), x))


def test_effects_run_in_order():
    b, effect = Builder(), Effect()
    x = b.input(np.float32(3))
    b.op(effect, x)
    b.op(effect, b.op("add", x, 1.0))
    graph = b.graph()
    effect.told.clear()
    assert compile_graph(graph)(np.float32(5)) == ()
    assert effect.told == [5, 6]


def test_an_error_names_the_line():
    b = Builder()
    x, y = b.input(np.int32(3)), b.input(np.int32(1))
    quotient = b.op("floordiv", b.op("add", x, y), y, line=("model.py", 12, "f"))
    run = compile_graph(b.graph(quotient))
    message = r"division by zero \[Op:FloorDiv\].*\(defined at model.py:12\)"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message) as caught:
        run(np.int32(3), np.int32(0))
    text = "".join(traceback.format_exception(caught.value))
    assert "= floordiv(" in text, "the traceback shows the generated line"


def test_other_errors_pass():
    class Guard(Effect):
        def numpy(self, x):
            if x < 0:
                raise KeyError("changed")
            return x

    b = Builder()
    run = compile_graph(b.graph(b.op(Guard(), b.input(np.float32(1)))))
    with pytest.raises(KeyError, match="changed"):
        run(np.float32(-1))


def test_several_outputs_and_large_arrays():
    b = Builder()
    x = b.input(np.linspace(-2, 2, 3 << 18, dtype=np.float32).reshape(3, -1))
    parts = b.op("split", b.op("add", b.op("sigmoid", x), x), sizes=(1, 2), axis=0)
    b.agrees(b.expecting(*parts, b.op("less", x, 0.5)))


def test_one_string():
    x = Value((2,), dtypes.string)
    y = Value((), dtypes.string)
    node = Node(registry["slice"], (x,), {"key": (1,)}, (y,))
    (found,) = compile_graph(Graph("strings", (x,), (node,), (y,)))(np.array([b"a", b"bc"], dtype=object))
    assert found.shape == () and found[()] == b"bc"


def exponential(name):
    b = Builder()
    return replace(b.graph(b.op("exp", b.input(np.float32(0)))), name=name)


def test_the_source_goes_with_the_function():
    graph = exponential("source_of_one")
    run = compiled(graph)
    assert compiled(graph) is run
    filename = run.__code__.co_filename
    assert filename in linecache.cache
    assert inspect.getsource(run).startswith("def source_of_one(")
    del run, graph
    gc.collect()
    again = compile_graph(exponential("source_of_one"))
    assert again.__code__.co_filename == filename
    assert compile_graph(exponential("source_of_one")).__code__.co_filename != filename


def test_a_source_stays_as_long_as_a_traceback_shows_it():
    def failing():
        b = Builder()
        return replace(b.graph(b.op("reshape", b.input(np.zeros(4, np.float32)), shape=(2, 2))), name="failing")

    with pytest.raises(InvalidArgumentError) as caught:
        compile_graph(failing())(np.zeros(3, np.float32))
    gc.collect()
    compile_graph(failing())  # gets another file
    assert any("reshape" in line for line in traceback.format_exception(caught.value))


def test_linecache_may_be_checked_while_graphs_are_collected():
    collected = []

    class Collecting:
        """A path whose access runs the garbage collector."""

        def __fspath__(self):
            runs.clear()
            collected.append(gc.collect())
            return "no such file"

    linecache.cache["collecting"] = (0, 0.0, [], Collecting())
    runs = [compile_graph(exponential(f"collected_{i}")) for i in range(3)]
    linecache.checkcache()
    assert collected and "collecting" not in linecache.cache


@pytest.mark.parametrize("shape", [(5, 3), (3,), (2, 4, 3)])
def test_a_cross_entropy_and_its_softmax_are_computed_together(shape):
    logits = np.random.default_rng(0).standard_normal(shape).astype(np.float32) * 30
    labels = np.random.default_rng(1).integers(0, 3, shape[:-1])
    b = Builder()
    x, y = b.input(labels), b.input(logits)
    loss, softmax = b.op("sparse_softmax_cross_entropy", x, y), b.op("softmax", y, axis=len(shape) - 1)
    graph = b.expecting(loss, b.op("mul", softmax, np.float32(2.0)))
    assert names(with_fused_ops(graph)) == ["cross_entropy_and_softmax", "mul"]
    b.agrees(graph)
    with pytest.raises(tf.errors.InvalidArgumentError, match="label value of 7"):
        compile_graph(graph)(np.full(shape[:-1], 7), logits)


@pytest.mark.parametrize("shape", [(5, 3), (3,), (2, 4, 3), (40, 3)])
def test_a_cross_entropy_and_its_slope_are_computed_together(shape):
    logits = np.random.default_rng(0).standard_normal(shape).astype(np.float32) * 30
    labels = np.random.default_rng(1).integers(0, 3, shape[:-1])
    b = Builder()
    x, y = b.input(labels), b.input(logits)
    loss, slope = b.op("sparse_softmax_cross_entropy", x, y), b.op("sparse_softmax_slope", x, y)
    graph = b.expecting(loss, b.op("mul", slope, np.float32(2.0)), b.op("softmax", y, axis=len(shape) - 1))
    assert names(with_fused_ops(graph)) == ["cross_entropy_and_slope", "mul", "softmax"]
    b.agrees(graph)


def test_the_slope_of_a_cross_entropy_with_other_labels_stays():
    b = Builder()
    x, z, y = b.input(np.array([0, 1])), b.input(np.array([1, 1])), b.input(np.float32([[1.0, 2.0], [3.0, 5.0]]))
    graph = b.expecting(b.op("sparse_softmax_cross_entropy", x, y), b.op("sparse_softmax_slope", z, y))
    assert len(with_fused_ops(graph).nodes) == 2
    b.agrees(graph)


def test_a_wrong_label_is_the_same_error_while_a_function_is_traced():
    loss = tf.function(tf.nn.sparse_softmax_cross_entropy_with_logits)
    for labels in ([0, 3], [0, 1], [-1, 0]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="label") if labels != [0, 1] else nullcontext():
            loss(tf.constant(labels), tf.zeros((2, 3)))


@pytest.mark.parametrize("shape", [(2, 4, 4, 2), (2, 64, 64, 8)])
def test_a_maximum_and_its_place_are_found_together(shape):
    attrs = {"window": (2, 2), "strides": (2, 2), "paddings": ((0, 0), (0, 0)), "dilations": (1, 1)}
    b = Builder()
    x = b.input(np.random.default_rng(0).normal(size=shape).astype(np.float32))
    top = b.op("max_pool", x, **attrs)
    place = b.op("max_pool_place", x, top, **attrs)
    graph = b.expecting(top, b.op("max_pool_back", b.op("mul", top, np.float32(2.0)), place, size=shape[1:3], **attrs))
    assert names(with_fused_ops(graph)) == ["max_pool_and_place", "mul", "max_pool_back"]
    b.agrees(graph)


def test_a_softmax_before_the_cross_entropy_or_over_another_axis_stays():
    b = Builder()
    x, y = b.input(np.array([0, 1])), b.input(np.float32([[1.0, 2.0], [3.0, 5.0]]))
    before = b.op("softmax", y, axis=1)
    loss = b.op("sparse_softmax_cross_entropy", x, y)
    graph = b.expecting(before, loss, b.op("softmax", y, axis=0))
    assert len(with_fused_ops(graph).nodes) == 3
    b.agrees(graph)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("shape", [(), (3,), (4, 5)])
def test_extremes_of_an_array_and_a_number(name, shape):
    b = Builder()
    x = b.input(np.random.default_rng(0).standard_normal(shape).astype(np.float32))
    b.agrees(b.expecting(b.op(name, x, np.float32(0.25)), b.op(name, np.float32(-0.5), b.op("exp", x))))


def test_a_variable_of_another_shape_is_another_graph():
    v = tf.Variable([1.0, -2.0], shape=[None])
    mean = tf.function(lambda: tf.reduce_mean(tf.nn.relu(v)) + 0.0 * v)
    for values in ([1.0, -2.0], [1.0, 2.0, 3.0], [6.0], [1.0, 1.0]):
        v.assign(values)
        for _ in range(2):
            np.testing.assert_allclose(mean(), [np.maximum(values, 0).mean()] * len(values))


@pytest.mark.parametrize("shape", [(2, 6, 6, 3), (4, 32, 32, 16)])
def test_a_convolutional_step_agrees_with_the_eager_one(shape):
    rng = np.random.default_rng(1)
    x = tf.constant(rng.standard_normal(shape).astype(np.float32))
    w = tf.Variable(rng.standard_normal((3, 3, shape[-1], 8)).astype(np.float32) * 0.1)
    c = tf.Variable(rng.standard_normal(8).astype(np.float32))

    def gradients(x):
        with tf.GradientTape() as tape:
            h = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME") + c), 2, 2, "VALID")
            loss = tf.reduce_sum(h * h)
        return [loss, *tape.gradient(loss, [w, c])]

    traced = tf.function(gradients)
    traced(x)
    for y, known in zip(traced(x), gradients(x), strict=True):
        np.testing.assert_allclose(y, known, rtol=1e-4, atol=1e-3)
