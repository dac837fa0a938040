"""Functions planned for a memory budget: the same results with less memory."""

import cProfile
import logging
import tracemalloc

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.budgets import in_force
from gradtape.engine.memory.store import Store
from gradtape.graph.executors.numpy import footprint
from gradtape.graph.executors.numpy.footprint import Layouts, largest, peak
from gradtape.graph.executors.numpy.memory_planning import plan_memory
from gradtape.graph.ir.graph import Graph
from gradtape.graph.passes.recomputation import Weights, recomputed

KB = 1000


@pytest.fixture(autouse=True)
def small_budgets(monkeypatch):
    """Allows budgets below two megabytes: the tensors are small."""
    monkeypatch.setattr(Store, "least_limit", 0)



def chain(layers=50, width=16, batch=1024):
    """Returns the loss of a deep net of narrow layers, its variables and a batch: nearly all memory is activations."""
    draw = np.random.default_rng(0)
    weights = [tf.Variable(draw.normal(size=(width, width)).astype("f4") / 3) for _ in range(layers)]
    x = tf.constant(draw.normal(size=(batch, width)).astype("f4"))

    def loss(x):
        for w in weights:
            x = tf.nn.relu(x @ w)
        return tf.reduce_mean(x * x)

    return loss, weights, x


def residual(layers=6, width=16, batch=1024):
    """The same with residual blocks, each with a norm, tanh and dropout."""
    draw = np.random.default_rng(0)
    weights = [tf.Variable(draw.normal(size=(width, width)).astype("f4") / 3) for _ in range(2 * layers)]
    x = tf.constant(draw.normal(size=(batch, width)).astype("f4"))

    def loss(x):
        for first, second in zip(weights[::2], weights[1::2], strict=True):
            mean, variance = tf.nn.moments(x, [-1], keepdims=True)
            inner = tf.nn.dropout(tf.tanh((x - mean) * tf.math.rsqrt(variance + 1e-3) @ first), 0.3)
            x = x + tf.transpose(tf.reshape(tf.transpose(inner @ second), [width, -1]))
        return tf.reduce_mean(x * x)

    return loss, weights, x


def training_step(loss, variables, **options):
    def step(x):
        with tf.GradientTape() as tape:
            value = loss(x)
        for v, g in zip(variables, tape.gradient(value, variables), strict=True):
            v.assign_sub(0.1 * g)
        return value

    return tf.function(step, **options)


def trained(make, steps=3, **options):
    """Returns the loss of each step, the final variables, and the peak memory of the last step."""
    tf.random.set_seed(3)
    loss, variables, x = make()
    step = training_step(loss, variables, **options)
    losses = [float(step(x)) for _ in range(steps)]
    tracemalloc.start()
    step(x)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return losses, [v.numpy() for v in variables], taken


# The memory of the largest op, in activations: a sum has two arguments and a result; random numbers are drawn in
# chunks.
@pytest.mark.parametrize("make, fraction, largest_op", [
    (chain, 0.5, 3), (chain, 0.25, 3), (chain, 0.1, 3), (residual, 0.5, 8), (residual, 0.25, 8),
])  # fmt: skip
def test_same_numbers_in_a_fraction_of_the_memory(make, fraction, largest_op):
    losses, values, plain = trained(make)
    found, now, taken = trained(make, memory_budget=fraction)
    assert found == losses
    assert all(np.array_equal(a, b) for a, b in zip(values, now, strict=True))
    _, _, x = make()
    assert taken <= 1.05 * fraction * plain + largest_op * x.numpy().nbytes


def test_budget_in_bytes_and_as_a_string():
    _, _, plain = trained(chain)
    for budget in (plain // 2, f"{plain // 2 // KB}KB"):
        assert trained(chain, memory_budget=budget)[2] < 0.7 * plain


def test_with_room_for_everything_the_plan_is_the_plain_one():
    loss, variables, x = chain(layers=3, batch=64)
    graph = training_step(loss, variables).get_concrete_function(x).graph
    assert plan_memory(graph, 10**9) is graph


def test_what_is_written_over_and_views_are_counted():
    a = tf.Variable(tf.ones([100, 10]))

    @tf.function
    def f(x):
        y = tf.exp(x + a)
        return tf.reduce_sum(tf.transpose(y) * 2.0)

    graph: Graph = f.get_concrete_function(tf.ones([100, 10])).graph
    root = Layouts(graph).root
    turned = next(node.outputs[0] for node in graph.nodes if node.op.name == "transpose")
    assert root[turned] is next(node.outputs[0] for node in graph.nodes if node.op.name == "exp")
    assert peak(graph, root) == 3 * 4000 - 4000  # two of the three arrays at a time
    assert largest(graph) == 3 * 4000


def test_the_work_of_planning_grows_with_the_nodes_and_not_faster():
    def calls(layers):
        weights = [tf.Variable(tf.eye(8)) for _ in range(layers)]

        @tf.function
        def gradients(h):
            with tf.GradientTape() as tape:
                for w in weights:
                    h = h + tf.nn.gelu((h - tf.reduce_mean(h, -1, keepdims=True)) @ w)
                loss = tf.reduce_sum(h)
            return tape.gradient(loss, weights)

        graph = gradients.get_concrete_function(tf.ones([32, 8])).graph
        layouts = Layouts(graph)
        weighing = Weights(layouts.root, footprint.size, footprint.seconds, lambda node: False)
        profile = cProfile.Profile()
        profile.enable()
        plan = recomputed(graph, weighing, 0.3 * peak(graph, layouts.root), 0.5, float("inf"))
        profile.disable()
        assert len(plan.nodes) > len(graph.nodes)
        return sum(entry.callcount for entry in profile.getstats()) / len(graph.nodes)

    few, many = calls(10), calls(60)
    assert many < 2 * few


def test_a_budget_that_cannot_be_met_is_said_once(caplog):
    loss, variables, x = chain(layers=4, batch=64)
    step = training_step(loss, variables, memory_budget=1000)
    with caplog.at_level(logging.WARNING, logger="gradtape"):
        results = [float(step(x)) for _ in range(4)]
    assert np.isfinite(results).all()
    said = [r.getMessage() for r in caplog.records]
    assert len(said) == 1
    assert "step does not fit a memory budget of 1.0 kB" in said[0]
    assert "the least that was found" in said[0]


def test_effects_happen_once_and_in_order():
    seen = []
    w = tf.Variable(np.full((8, 8), 0.1, "f4"))

    def step(x):
        with tf.GradientTape() as tape:
            for i in range(12):
                x = tf.nn.relu(x @ w)
                tf.py_function(lambda y, i=i: seen.append(i), [x], [])
            loss = tf.reduce_sum(x)
        return tape.gradient(loss, w)

    x = tf.ones([512, 8])
    plain, planned = tf.function(step), tf.function(step, memory_budget=0.2)
    for _ in range(3):
        expected = plain(x)
        seen.clear()
        assert np.array_equal(planned(x), expected)
        assert seen == list(range(12))


def test_the_context_holds_for_functions_called_in_it():
    loss, variables, x = chain(layers=20)
    step = training_step(loss, variables)

    def taken():
        tracemalloc.start()
        step(x)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    step(x), step(x)
    plain = taken()
    with tf.memory_budget(0.25):
        step(x), step(x)
        assert taken() < 0.5 * plain
        with tf.memory_budget(None):
            assert taken() > 0.9 * plain
    assert taken() > 0.9 * plain
    assert in_force.budget is None


def test_the_context_ends_with_an_error_too():
    with pytest.raises(ZeroDivisionError), tf.memory_budget("1MB"):
        raise ZeroDivisionError
    assert in_force.budget is None


@pytest.mark.parametrize(
    "budget, error", [(0, ValueError), ("2 elephants", ValueError), ([1], TypeError), (-5, ValueError)]
)
def test_what_is_no_budget_is_refused(budget, error):
    with pytest.raises(error, match="budget"):
        tf.function(lambda x: x, memory_budget=budget)
    with pytest.raises(error, match="budget"), tf.memory_budget(budget):
        pass


def test_methods_and_signatures():
    class Model(tf.Module):
        def __init__(self):
            self.loss, self.weights, self.x = chain(layers=6, batch=256)

        @tf.function(memory_budget=0.4, input_signature=[tf.TensorSpec([None, 16])])
        def gradients(self, x):
            with tf.GradientTape() as tape:
                loss = self.loss(x)
            return tape.gradient(loss, self.weights)

    model = Model()
    for size in (256, 100):
        x = model.x[:size]
        with tf.GradientTape() as tape:
            loss = model.loss(x)
        expected = tape.gradient(loss, model.weights)
        for _ in range(2):
            for g, e in zip(model.gradients(x), expected, strict=True):
                np.testing.assert_allclose(g, e, rtol=2e-4, atol=1e-6)


def test_loops_and_branches_stay_whole():
    w = tf.Variable(np.full((8, 8), 0.1, "f4"))

    def step(x):
        with tf.GradientTape() as tape:
            for _ in tf.range(3):
                x = tf.tanh(x @ w)
            if tf.reduce_sum(x) > 0.0:
                x = x * 2.0
            for _ in range(8):
                x = tf.tanh(x @ w)
            loss = tf.reduce_sum(x)
        return tape.gradient(loss, w)

    x = tf.ones([256, 8])
    plain, planned = tf.function(step), tf.function(step, memory_budget=0.3)
    for _ in range(3):
        assert np.array_equal(plain(x), planned(x))


@pytest.mark.parametrize("make", [chain, residual])
def test_a_call_under_a_tape_keeps_less(make):
    def called(budget):
        tf.random.set_seed(3)
        loss, variables, x = make()
        f = tf.function(loss, memory_budget=budget)
        results = []
        for _ in range(3):
            with tf.GradientTape(persistent=True) as tape:
                value = f(x)
            results += [value, *tape.gradient(value, variables), *tape.gradient(value, variables[:1])]
        return [y.numpy() for y in results], tape.memory().total

    expected, kept = called(None)
    found, less = called(0.4)
    assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))
    assert less < 0.6 * kept


def test_jacobians_and_second_derivatives_through_a_call():
    w = tf.Variable(np.random.default_rng(1).normal(size=(4, 4)))
    x = tf.constant(np.random.default_rng(2).normal(size=(3, 4)))

    def f(x):
        return tf.reduce_sum(tf.tanh(tf.tanh(tf.tanh(x @ w) @ w) @ w), 0)

    def answers(f):
        with tf.GradientTape() as outer:
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = f(x)
            g = tape.gradient(y, w)
            total = tf.reduce_sum(g * g)
        return tape.jacobian(y, x), outer.gradient(total, w)

    for mine, expected in zip(answers(tf.function(f, memory_budget=0.1)), answers(f), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-10)


def test_draws_of_a_call_are_not_repeated_for_its_jacobian():
    x = tf.ones([600])
    f = tf.function(lambda x: tf.exp(tf.nn.dropout(tf.exp(tf.exp(x)), 0.5)), memory_budget=1000)
    for _ in range(4):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
        zero = y.numpy() == 1.0
        assert np.array_equal(np.diag(tape.jacobian(y, x).numpy()) == 0.0, zero)
        assert np.array_equal(tape.gradient(y, x).numpy() == 0.0, zero)


def test_a_tape_inside_a_function_has_it_planned():
    loss, variables, x = chain()

    def gradients(x, **options):
        with tf.GradientTape(**options) as tape:
            value = loss(x)
        return tape.gradient(value, variables)

    def taken(f):
        f(x), f(x)
        tracemalloc.start()
        f(x)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    plain = taken(tf.function(gradients))
    assert taken(tf.function(lambda x: gradients(x, memory_budget=0.25))) < 0.5 * plain


def test_tapes_opened_in_the_context_have_it():
    loss, variables, x = chain()

    def kept():
        with tf.GradientTape() as tape:
            value = loss(x)
        return tape.memory().total, tape.gradient(value, variables)

    all_of_it, expected = kept()
    with tf.memory_budget(0.25):
        part, found = kept()
        with tf.GradientTape(trace=True):  # keeps every value for explanations
            loss(x)
    assert part < 0.4 * all_of_it
    assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))


def test_the_first_call_keeps_to_it_and_has_the_numbers_of_a_first_call():
    def first(budget):
        loss, variables, x = chain(layers=20, batch=8192)
        step = training_step(loss, variables, memory_budget=budget)
        tracemalloc.start()
        value = step(x)
        taken = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return [value.numpy(), *(v.numpy() for v in variables)], taken

    expected, plain = first(None)
    found, taken = first(0.2)
    assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))
    assert taken < 0.5 * plain  # including the plan itself


def test_values_that_must_be_known_are_computed():
    def f(x, n):
        matrix = tf.linalg.cholesky(x @ tf.transpose(x) + tf.eye(3, dtype=x.dtype))
        kept = tf.boolean_mask(x[:, 0], x[:, 0] > 0.0)
        return tf.reduce_sum(matrix) + tf.reduce_sum(tf.ones([n], x.dtype)) + tf.reduce_sum(kept)

    x = tf.constant(np.random.default_rng(0).normal(size=(3, 3)))
    plain, planned = tf.function(f), tf.function(f, memory_budget=0.5)
    for n in (2, 3, 2):
        np.testing.assert_allclose(planned(x, tf.constant(n)), plain(x, tf.constant(n)), rtol=1e-12)
    rows = tf.function(lambda i: tf.gather(x, i + 1), memory_budget=0.5)
    assert np.array_equal(rows(tf.constant(0)), x[1])
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not in"):
            rows(tf.constant(7))


@pytest.mark.parametrize("budget", [1000, 4000, 0.1, 0.5])
def test_what_an_effect_gave_is_never_written_over(budget):
    x = tf.constant(np.linspace(-1.0, 1.0, 500))

    def f(x):
        for _ in range(5):
            x = tf.exp(tf.sin(x)) * tf.random.uniform([500], dtype=tf.float64, seed=1)
        return x

    def answers(f):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y.numpy(), tape.gradient(y, x).numpy()

    plain, planned = tf.function(f), tf.function(f, memory_budget=budget)
    for _ in range(3):
        tf.random.set_seed(5)
        expected = answers(plain)
        tf.random.set_seed(5)
        assert all(map(np.array_equal, answers(planned), expected))
