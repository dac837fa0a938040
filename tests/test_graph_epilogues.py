"""Sums that are part of a product or a convolution, and products that are added to variables where they are."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from small_graphs import Builder, names

import gradtape as tf
from gradtape.backends.numpy import onednn
from gradtape.graph.executors.numpy.executor import compile_graph
from gradtape.graph.ir.graph import Graph
from gradtape.graph.passes.descents import Descent, Replacement, separated
from gradtape.graph.passes.epilogues import with_fixed_products, with_sums
from gradtape.graph.passes.optimize import optimize

pytestmark = pytest.mark.skipif(onednn.version() is None, reason="needs oneDNN")
RNG = np.random.default_rng(0)
PLAIN = {"strides": (1, 1), "paddings": ((1, 1), (1, 1)), "dilations": (1, 1), "groups": 1}


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("shape", [(512, 32), (4, 128, 32)])
@pytest.mark.parametrize("added", ["row", "whole"])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_what_is_added_to_a_large_product_is_part_of_it(shape, added, transpose_b):
    b = Builder()
    x, w = b.input(normal(*shape)), b.input(normal(*((256, 32) if transpose_b else (32, 256))))
    c = b.input(normal(256) if added == "row" else normal(*shape[:-1], 256))
    product = b.op("matmul", x, b.op("mul", w, np.float32(0.5)), transpose_b=transpose_b)
    graph = b.expecting(b.op("sub", c, product) if added == "whole" else b.op("add", product, c))
    better = with_sums(graph).verify()
    assert names(better) == ["mul", "matmul_add"]
    for y in compile_graph(better)(*[b.example[v] for v in b.inputs]):
        np.testing.assert_allclose(y, b.array(graph.outputs[0]), rtol=1e-5, atol=1e-5)


def test_a_bias_and_a_path_around_a_layer_are_both_part_of_its_product():
    b = Builder()
    x, w, row, whole = (b.input(normal(*shape)) for shape in ((4, 128, 32), (32, 256), (256,), (4, 128, 256)))
    total = b.op("add", b.op("add", whole, b.op("matmul", x, w)), row)
    graph = b.expecting(b.op("sub", whole, total), b.op("add", b.op("add", total, row), whole))
    assert names(with_sums(graph).verify()) == ["matmul_add", "sub", "add", "add"]
    more = b.op("sub", row, b.op("add", b.op("matmul", x, w), row))
    assert names(with_sums(b.expecting(more)).verify())[-2:] == ["matmul_add", "sub"]
    for y, value in zip(compile_graph(graph)(*[b.example[v] for v in b.inputs]), graph.outputs, strict=True):
        np.testing.assert_allclose(y, b.array(value), rtol=1e-5, atol=1e-5)


def test_a_product_of_arrays_that_are_laid_out_in_any_way():
    b = Builder()
    x, w, c = b.input(normal(512, 32)), b.input(normal(32, 256)), b.input(normal(512, 256))
    graph = with_sums(b.expecting(b.op("add", c, b.op("matmul", x, w))))
    run = compile_graph(graph)
    (known,) = run(*[b.example[v] for v in b.inputs])
    turned = [np.asfortranarray(b.example[v]) for v in b.inputs]
    backwards = [b.example[v][::-1, ::-1].copy()[::-1, ::-1] for v in b.inputs]
    for given in (turned, backwards):
        np.testing.assert_allclose(run(*given)[0], known, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("rows", [24, 96])
def test_a_large_product_is_prepared_for_its_shapes(turned, rows):
    b = Builder()
    shapes = ((rows, 160), (160, 72))
    x, w = (b.input(normal(*(shape[::-1] if flag else shape))) for shape, flag in zip(shapes, turned, strict=True))
    graph = b.expecting(b.op("matmul", x, w, transpose_a=turned[0], transpose_b=turned[1]))
    run = compile_graph(with_fixed_products(graph).verify())
    given = [b.example[v] for v in b.inputs]
    for arrays in (given, [np.asfortranarray(a) for a in given]):
        np.testing.assert_allclose(run(*arrays)[0], b.array(graph.outputs[0]), rtol=1e-5, atol=1e-5)


def test_arrays_of_other_shapes_are_not_touched():
    product = onednn.FixedProduct((64, 64), 64, (False, False))
    y = np.zeros((32, 64), np.float32)
    assert not product.into(y, normal(32, 64), normal(64, 64))
    assert not y.any()


@pytest.mark.parametrize("row", [(8,), (1, 1, 1, 8)])
def test_the_bias_of_a_convolution_is_part_of_it(row):
    b = Builder()
    x, w, c = b.input(normal(4, 16, 16, 16)), b.input(normal(3, 3, 16, 8)), b.input(normal(*row))
    graph = b.expecting(b.op("add", b.op("conv", x, w, **PLAIN), c))
    better = with_sums(graph).verify()
    assert names(better) == ["conv_add"]
    given = [b.example[v] for v in b.inputs]
    (y,) = compile_graph(better)(*given)
    np.testing.assert_allclose(y, b.array(graph.outputs[0]), rtol=1e-4, atol=1e-4)
    assert y.flags.writeable
    assert not any(np.shares_memory(y, x) for x in given)


@pytest.mark.parametrize("case", ["small", "used twice", "transposed", "stretched", "float64"])
def test_other_sums_stay(case):
    b = Builder()
    dtype = np.float64 if case == "float64" else np.float32
    rows = 8 if case == "small" else 512
    x, w = b.input(normal(rows, 32).astype(dtype)), b.input(normal(32, 256).astype(dtype))
    c = b.input(normal(*((512, 1) if case == "stretched" else (256,))).astype(dtype))
    if case == "transposed":
        x = b.op("transpose", x, perm=(1, 0))
    product = b.op("matmul", x, w, transpose_a=case == "transposed")
    outputs = [b.op("add", product, c), *([product] if case == "used twice" else [])]
    graph = b.expecting(*outputs)
    assert with_sums(graph) is graph


def test_a_nan_stays_one():
    x = np.zeros((512, 32), np.float32)
    x[3, 4] = np.nan
    layer = tf.function(lambda x, w, c: tf.nn.relu(tf.matmul(x, w) + c))
    given = [tf.constant(a) for a in (x, normal(32, 256), normal(256))]
    layer(*given)
    assert np.isnan(layer(*given).numpy()).sum() == 256


def update(change, shape=(64, 64), rows=128):
    """What becomes of a variable of this shape that `change(b, w, x, g)` gives a new value, and the graph."""
    b = Builder()
    w = b._value(normal(*shape))
    x, g = b.input(normal(rows, shape[0])), b.input(normal(rows, shape[1]))
    variable = tf.Variable(b.example[w])
    new = change(b, w, x, g)
    graph = Graph("step", tuple(b.inputs), tuple(b.nodes), (), ((variable, w),), ((variable, new),)).verify()
    pure, updates = separated(optimize(graph))
    return b, pure.verify(), updates, b.array(new)


STEPS = {
    "scaled": lambda b, w, x, g: b.op("sub", w, b.op("mul", np.float32(0.1), b.op("matmul", x, g, transpose_a=True))),
    "added": lambda b, w, x, g: b.op("add", b.op("matmul", x, g, transpose_a=True), w),
    "turned": lambda b, w, x, g: b.op("sub", w, b.op("matmul", b.op("transpose", x, perm=(1, 0)), g)),
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("shared", [False, True])
def test_a_step_of_descent_is_added_where_the_variable_is(step, shared):
    b, graph, updates, known = update(STEPS[step])
    assert [type(u) for u in updates] == [Descent]
    (change,) = updates
    variable = change.variable
    before = variable._array if shared else None
    kept = None if before is None else before.copy()
    at = id(variable._array)
    factors = compile_graph(graph)(*[b.example[v] for v in b.inputs], variable._settled())
    change.carry_out(*factors)
    np.testing.assert_allclose(variable.numpy(), known, rtol=1e-5, atol=1e-4)
    assert (id(variable._array) == at) == (not shared)
    if shared:
        np.testing.assert_array_equal(before, kept)


def _by_zero(b, w, x, g):
    return b.op("sub", w, b.op("matmul", x, b.op("mul", g, np.float32(0.0)), transpose_a=True))


@pytest.mark.parametrize(("change", "shape"), [
    (lambda b, w, x, g: b.op("sub", b.op("matmul", x, g, transpose_a=True), w), (64, 64)),
    (lambda b, w, x, g: b.op("sub", b.op("neg", w), b.op("matmul", x, g, transpose_a=True)), (64, 64)),
    (lambda b, w, x, g: b.op("add", w, w), (64, 64)),
    (STEPS["scaled"], (4, 4)),
])  # fmt: skip
def test_other_updates_take_the_value(change, shape):
    b, graph, updates, known = update(change, shape)
    assert [type(u) for u in updates] == [Replacement]
    updates[0].carry_out(*compile_graph(graph)(*[b.example[v] for v in b.inputs], updates[0].variable._settled()))
    np.testing.assert_allclose(updates[0].variable.numpy(), known, rtol=1e-5, atol=1e-4)


def test_a_number_of_zero_keeps_a_nan():
    _, _, updates, _ = update(_by_zero)
    assert all(isinstance(u, Replacement) or u.scale != 0 for u in updates)


def trained(function):
    """Ten steps of a network with two large layers, from the same start."""
    rng = np.random.default_rng(3)
    x = tf.constant(rng.standard_normal((64, 96)).astype(np.float32))
    w1, w2 = (tf.Variable(rng.standard_normal(s).astype(np.float32) * 0.1) for s in ((96, 128), (128, 128)))
    kept = []

    @function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2)))
        for w, g in zip((w1, w2), tape.gradient(loss, (w1, w2)), strict=True):
            w.assign_sub(0.5 * g)
        return loss, w1 * 1.0

    for i in range(10):
        if i == 5:
            kept = [(w.value(), w.numpy()) for w in (w1, w2)]
        step(x)
    for value, known in kept:
        np.testing.assert_array_equal(value.numpy(), known)
    return [w.numpy() for w in (w1, w2)]


def test_training_agrees_with_eager_and_values_that_were_read_stay():
    for traced, eager in zip(trained(tf.function), trained(lambda f: f), strict=True):
        np.testing.assert_allclose(traced, eager, rtol=1e-4, atol=1e-6)


def test_a_matrix_in_the_step_of_another_keeps_its_old_value_there():
    first, second = tf.Variable(normal(64, 64)), tf.Variable(normal(64, 64))
    x = tf.constant(normal(64, 64))

    @tf.function
    def step():
        old = second * 1.0
        first.assign_sub(tf.matmul(x, second))
        second.assign_sub(tf.matmul(x, first))
        return old

    for _ in range(3):
        a, b = first.numpy(), second.numpy()
        step()
        np.testing.assert_allclose(first.numpy(), a - x.numpy() @ b, rtol=1e-4, atol=1e-3)
        np.testing.assert_allclose(second.numpy(), b - x.numpy() @ (a - x.numpy() @ b), rtol=1e-3, atol=1e-2)


def test_reading_threads_see_whole_values():
    v = tf.Variable(np.zeros((128, 128), np.float32))
    ones = tf.constant(np.ones((64, 128), np.float32))

    @tf.function
    def step():
        v.assign_add(tf.matmul(ones, ones, transpose_a=True))

    step()
    wrong = []

    def look():
        for _ in range(200):
            array = v.numpy()
            if array.min() != array.max():
                wrong.append(array)

    reader = threading.Thread(target=look)
    reader.start()
    for _ in range(200):
        step()
    reader.join()
    assert not wrong
    assert v.numpy()[0, 0] == 201 * 64
