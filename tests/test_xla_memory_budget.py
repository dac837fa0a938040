"""Functions compiled by XLA within a memory budget: XLA's reported memory, and the results."""

import logging

import numpy as np
import pytest
from test_function_memory_budget import chain, residual, training_step

import gradtape as tf
from gradtape.core.budgets import readable_bytes
from gradtape.engine.memory.store import Store
from gradtape.graph.executors.numpy.footprint import largest
from gradtape.graph.executors.xla.constraint import laid_out
from gradtape.graph.executors.xla.stage_partitioning import barrier, in_stages
from gradtape.graph.passes.optimize import dead_code

pytest.importorskip("jax")


@pytest.fixture(autouse=True)
def small_budgets(monkeypatch):
    """Allows budgets below two megabytes: the tensors are small."""
    monkeypatch.setattr(Store, "least_limit", 0)


def program_of(function, *args):
    """Returns the XLA program that a function runs for these arguments."""
    (variant,) = next(iter(function.get_concrete_function(*args)._concrete.variants()))
    return variant._program


def trained(make, steps=3, **options):
    tf.random.set_seed(3)
    loss, variables, x = make()
    step = training_step(loss, variables, jit_compile=True, **options)
    losses = [float(step(x)) for _ in range(steps)]
    return losses, [v.numpy() for v in variables], program_of(step, x)


@pytest.fixture(scope="module")
def without_budget():
    """Losses, variables and program of the chain that is trained without a budget."""
    return trained(chain)


@pytest.mark.parametrize("fraction", [0.5, 0.25, 0.1])
def test_the_same_bits_in_a_fraction_of_the_memory(fraction, without_budget):
    losses, values, plain = without_budget
    found, now, program = trained(chain, memory_budget=fraction)
    assert found == losses
    assert all(np.array_equal(a, b) for a, b in zip(values, now, strict=True))
    assert program.peak <= fraction * plain.peak + largest(dead_code(plain.graph))


def test_dropout_drops_the_same_units_and_what_xla_fuses_differently_is_rounded_differently():
    losses, values, plain = trained(residual)
    found, now, program = trained(residual, memory_budget=0.4)
    np.testing.assert_allclose(found, losses, rtol=1e-6)
    for a, b in zip(values, now, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    assert program.peak <= 0.4 * plain.peak + largest(dead_code(plain.graph))


def test_budget_in_bytes(without_budget):
    _, _, plain = without_budget
    _, _, program = trained(chain, memory_budget=plain.peak // 3)
    assert program.peak <= plain.peak // 3 + largest(dead_code(plain.graph))


def test_with_room_for_everything_the_program_is_the_plain_one(caplog, without_budget):
    _, _, plain = without_budget
    with caplog.at_level(logging.INFO, logger="gradtape"):
        _, _, program = trained(chain, memory_budget="1GB")
    assert program.peak == plain.peak
    assert not caplog.records


def test_a_budget_that_cannot_be_met_is_said_once_with_what_is_taken(caplog):
    with caplog.at_level(logging.WARNING, logger="gradtape"):
        _, _, program = trained(lambda: chain(layers=4, batch=64), memory_budget=1000)
    (said,) = [r.getMessage() for r in caplog.records]
    assert "step does not fit a memory budget of 1.0 kB" in said
    assert f"takes {readable_bytes(program.peak)} of memory, the least that was found" in said


@pytest.mark.parametrize("drops", [False, True])
@pytest.mark.parametrize("jit", [False, True])
def test_compiled_calls_under_a_budgeted_tape_are_let_go_and_run_again(jit, drops, quick_xla):
    def layer(h, w):
        y = tf.tanh(tf.matmul(tf.exp(-h * h), w))
        return tf.nn.dropout(y, 0.3) if drops else y

    layer = tf.function(layer, jit_compile=jit)
    weights = [tf.Variable(tf.eye(16) * (0.5 + i / 20)) for i in range(10)]
    x = tf.ones([64, 16])

    def asked(**options):
        tf.random.set_seed(3)
        with tf.GradientTape(**options) as tape:
            h = x
            for w in weights:
                h = layer(h, w)
            loss = tf.reduce_sum(h * h)
        account = tape._log.store.account if options else None
        return [g.numpy() for g in tape.gradient(loss, weights)] + [tf.random.uniform([2]).numpy()], account

    expected, _ = asked()
    size = 64 * 16 * 4
    found, account = asked(memory_budget=8 * size)
    assert all(map(np.array_equal, found, expected))
    assert account.wanted > 16 * size
    assert account.peak <= 8 * size + 6 * size  # and what one call takes and keeps
    assert account.evictions > 0
    assert account.recomputations > 0


@pytest.mark.parametrize("jit", [False, True])
def test_a_call_that_keeps_more_than_the_tapes_budget_is_planned_to_it(jit):
    loss, variables, x = chain(layers=20)
    f = tf.function(loss, jit_compile=jit)

    def asked(**options):
        with tf.GradientTape(**options) as tape:
            y = f(x)
        memory = tape.memory()
        return [g.numpy() for g in tape.gradient(y, variables)], memory

    expected, plain = asked()
    budget = plain.total // 3
    found, memory = asked(memory_budget=budget)
    assert memory.total <= budget * 1.2
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6 * np.abs(theirs).max())


def test_calls_that_a_tapes_budget_does_not_cover_are_said(caplog):
    w = tf.Variable(tf.eye(32))

    @tf.function(jit_compile=True)
    def whole(x):
        for _ in range(10):
            x = tf.tanh(x @ w)
        return tf.reduce_sum(x)

    @tf.function
    def by_python(x):
        for _ in range(4):
            x = tf.tanh(x @ w)
        return tf.reduce_sum(tf.py_function(lambda y: y * 1.0, [x], tf.float32))

    with caplog.at_level(logging.WARNING, logger="gradtape"):
        for f in (whole, by_python, whole, by_python):
            with tf.GradientTape(memory_budget=0.1) as tape:
                y = f(tf.ones([64, 32]))
            assert tape.memory().budget.wanted >= 3 * 64 * 32 * 4
            tape.gradient(y, w)
    said = [r.getMessage() for r in caplog.records]
    assert len(said) == 2
    assert "one call of function whole keeps" in said[0]
    assert "calls of function by_python keep" in said[1]


def test_the_context_holds_for_functions_called_in_it():
    loss, variables, x = chain(layers=20)
    step = training_step(loss, variables, jit_compile=True)
    step(x)
    plain = program_of(step, x)
    with tf.memory_budget(0.25):
        step(x)
        assert program_of(step, x).peak < 0.5 * plain.peak
    assert program_of(step, x) is plain


def test_effects_happen_once_and_in_order():
    seen = []

    def note(i):
        def noted(x):
            seen.append(i)
            return x[0, 0]

        return noted

    w = tf.Variable(np.full((8, 8), 0.1, "f4"))

    def step(x):
        with tf.GradientTape() as tape:
            for i in range(12):
                x = tf.nn.relu(x @ w)
                tf.numpy_function(note(i), [x], tf.float32)
            loss = tf.reduce_sum(x)
        return tape.gradient(loss, w)

    x = tf.ones([512, 8])
    plain = tf.function(step, jit_compile=True)
    planned = tf.function(step, jit_compile=True, memory_budget=0.3)
    for _ in range(2):
        expected = plain(x)
        seen.clear()
        np.testing.assert_allclose(planned(x), expected, rtol=1e-6)
        assert seen == list(range(12))


def test_guards_loops_and_branches(quick_xla):
    w = tf.Variable(np.full((8, 8), 0.1, "f4"))

    def step(x, n):
        with tf.GradientTape() as tape:
            for _ in tf.range(3):
                x = tf.tanh(x @ w)
            if tf.reduce_sum(x) > 0.0:
                x = x * 2.0
            for _ in range(8):
                x = tf.tanh(x @ w)
            loss = tf.reduce_sum(x) + tf.reduce_sum(tf.ones([n]))
        return tape.gradient(loss, w)

    x = tf.ones([256, 8])
    plain = tf.function(step, jit_compile=True)
    planned = tf.function(step, jit_compile=True, memory_budget=0.3)
    for n in (2, 3, 2):
        np.testing.assert_allclose(planned(x, tf.constant(n)), plain(x, tf.constant(n)), rtol=1e-5)


def test_what_a_stage_uses_goes_through_the_barrier_in_front_of_it_and_views_do_not():
    w = tf.Variable(tf.ones([4, 4]))

    @tf.function
    def f(x):
        a = tf.transpose(tf.exp(x @ w))
        return tf.reduce_sum((a @ w) * tf.broadcast_to(x[0], [4, 4]))

    graph = dead_code(f.get_concrete_function(tf.ones([4, 4])).graph)
    staged = in_stages(graph, graph.nodes).verify()
    barriers = [node for node in staged.nodes if node.op is barrier]
    assert len(barriers) == 1
    made = {v: node for node in graph.nodes for v in node.outputs}
    through = [made[v].op.name if v in made else v for v in barriers[0].inputs]
    assert "exp" in through
    assert "transpose" not in through
    assert "broadcast_to" not in through
    names = [node.op.name for node in staged.nodes]
    assert names.count("transpose") == 2  # recomputed from values that passed the barrier
    inner = [node for node in staged.nodes if node.op.name == "matmul"][1]
    assert {staged_maker(staged, v) for v in inner.inputs} == {"transpose", "optimization_barrier"}


def staged_maker(graph, value):
    return next(node.op.name for node in graph.nodes if value in node.outputs)


@pytest.mark.parametrize("make", [chain, residual])
def test_a_call_under_a_tape_keeps_less(make, quick_xla):
    def called(budget):
        tf.random.set_seed(3)
        loss, variables, x = make()
        f = tf.function(loss, jit_compile=True, memory_budget=budget)
        results = []
        for _ in range(2):
            with tf.GradientTape(persistent=True) as tape:
                value = f(x)
            results += [value, *tape.gradient(value, variables), *tape.gradient(value, variables[:1])]
        return [y.numpy() for y in results], tape.memory().total

    expected, kept = called(None)
    found, less = called(0.4)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    assert less < 0.6 * kept


def test_on_a_mesh_of_devices_it_is_said_that_there_is_no_plan(caplog):
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    everywhere = NamedSharding(Mesh(np.array(jax.devices()[:1]), ("batch",)), PartitionSpec())
    f = tf.function(lambda x: laid_out(x, everywhere) + 1.0, jit_compile=True, memory_budget=0.5)
    with caplog.at_level(logging.WARNING, logger="gradtape"):
        assert [f(tf.constant([1.0])).numpy().tolist() for _ in range(2)] == [[2.0], [2.0]]
    (said,) = [r.getMessage() for r in caplog.records]
    assert "a mesh of devices" in said
    assert "the memory budget does not hold" in said


def test_random_words_take_no_more_than_the_numbers_made_of_them():
    def f(x):
        kept = tf.random.uniform([256, 1024], seed=1) >= 0.1
        return tf.where(kept, x * 1.25, 0.0), kept

    f = tf.function(f, jit_compile=True)
    x = tf.ones([256, 1024])
    f(x)
    numbers = 4 * 256 * 1024
    assert program_of(f, x).peak <= numbers + numbers // 4 + numbers + 1000  # the results, and the words
