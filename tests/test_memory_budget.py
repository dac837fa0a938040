"""Tapes with a memory budget: saved values are freed and recomputed, with bitwise identical gradients."""

import functools
import gc
import os
import shutil
import subprocess
import sys
import threading
import tracemalloc
import weakref

import numpy as np
import pytest
from random_programs.comparison import run
from random_programs.generator import generate

import gradtape as tf
from gradtape.core.budgets import SMALLEST_BYTES
from gradtape.engine.memory import spilling
from gradtape.engine.memory.policy import SMALL_SHARE
from gradtape.engine.memory.store import Store
from gradtape.engine.tape.log import Log


@pytest.fixture(autouse=True)
def small_budgets(monkeypatch, request):
    """Enforces even the smallest budgets: the tensors of these tests are small."""
    if "budgets_in_use" not in request.fixturenames:
        monkeypatch.setattr(Store, "least_limit", 0)


@pytest.fixture
def budgets_in_use():
    """The minimum budget of `Store.least_limit` bytes applies."""


def same(found, expected):
    flat = zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True)
    return all(a is b is None or a.numpy().tobytes() == b.numpy().tobytes() for a, b in flat)


def account_of(tape):
    return tape._log.store.account


RNG = np.random.default_rng(0)
WEIGHTS = [tf.Variable(RNG.normal(size=(8, 8)) / 3, dtype=tf.float32) for _ in range(12)]
DATA = tf.constant(RNG.normal(size=(16, 8)), tf.float32)
STEPS = tf.Variable(0.0)
CALLS = []


@tf.function
def compiled_layer(h, w):
    STEPS.assign_add(1.0)
    return tf.tanh(tf.matmul(tf.exp(-h * h), w)), tf.reduce_sum(h)


@tf.custom_gradient
def clipped(x):
    y = tf.square(x)
    return y, lambda g: tf.clip_by_value(g * 2.0 * x, -0.1, 0.1)


def counted(x):
    CALLS.append(1)
    return tf.sin(x)


def dense(h, w):
    return tf.nn.relu(tf.matmul(h, w) + 0.1)


def residual(h, w):
    return h + tf.nn.gelu(tf.matmul((h - tf.reduce_mean(h, -1, keepdims=True)) * 0.5, w))


def attention(h, w):
    q, k, v = tf.unstack(tf.transpose(tf.reshape(tf.matmul(h, w), [16, 2, 4]), [1, 0, 2])[:, :, :3], axis=2)
    mixed = tf.nn.softmax(q[:, :, None] * k[:, None, :]) @ v[:, :, None]
    return h + tf.tile(tf.transpose(mixed, [1, 0, 2]), [1, 4, 1])[:, :, 0]


def dropped(h, w):
    return tf.nn.dropout(tf.sigmoid(tf.matmul(h, w)), 0.4)


def drawn(h, w):
    return tf.sin(tf.matmul(h, w) + tf.random.normal([16, 8])) * tf.random.uniform([16, 8])


def selected(h, w):
    y = tf.matmul(h, w)
    return tf.where(y > 0.0, tf.exp(-y), tf.cast(tf.argsort(y), tf.float32) * y)


def in_parts(h, w):
    a, b = tf.split(tf.matmul(h, w), 2, axis=1)
    return tf.concat([tf.sin(a) * b, tf.reverse(tf.cos(b), [0])], axis=1)


def compiled(h, w):
    y, total = compiled_layer(h, w)
    return y + 0.01 * total


def by_hand(h, w):
    return clipped(tf.matmul(h, w)) * tf.cos(h)


def repeated(h, w):
    return tf.recompute_grad(lambda x: tf.nn.dropout(tf.sin(x) * x, 0.3))(tf.matmul(h, w))


def by_python(h, w):
    return tf.py_function(counted, [tf.matmul(h, w)], tf.float32) * h


LAYERS = [
    dense, residual, attention, dropped, drawn, selected, in_parts, compiled, by_hand, repeated, by_python,
]  # fmt: skip


def network(layer):
    h = DATA
    for w in WEIGHTS:
        h = layer(h, w)
    return tf.reduce_sum(h * h)


def once(layer, **options):
    tf.random.set_seed(7)
    with tf.GradientTape(**options) as tape:
        loss = network(layer)
    account = account_of(tape) if options else None
    return [*tape.gradient(loss, WEIGHTS), tf.random.uniform([2])], account


@pytest.mark.parametrize("budget", [0.5, 0.1, SMALLEST_BYTES, "1GB"])
@pytest.mark.parametrize("layer", LAYERS)
def test_gradients_are_those_of_a_plain_tape(layer, budget):
    expected, _ = once(layer)
    before = len(CALLS), float(STEPS)
    found, account = once(layer, memory_budget=budget)
    assert same(found, expected)
    if layer is by_python:
        assert len(CALLS) - before[0] == 12
    if layer is compiled:
        assert float(STEPS) - before[1] == 12.0
    if budget == "1GB":
        assert account.evictions == account.recomputations == 0
    elif layer not in (repeated, by_python):  # results of Python code cannot be recomputed
        assert account.evictions > 0
        assert account.recomputations > 0


@pytest.mark.parametrize("layer", [dense, attention, dropped, compiled, by_hand])
@pytest.mark.parametrize("which", ["inner", "outer", "both"])
def test_second_derivatives(layer, which):
    def second(inner, outer):
        tf.random.set_seed(7)
        with tf.GradientTape(**outer) as around:
            with tf.GradientTape(**inner) as tape:
                loss = network(layer)
            slopes = tape.gradient(loss, WEIGHTS)
            total = tf.add_n([tf.reduce_sum(tf.sin(g)) for g in slopes])
        return [*slopes, *around.gradient(total, WEIGHTS)]

    budget = {"memory_budget": 0.2}
    found = second(budget if which != "outer" else {}, budget if which != "inner" else {})
    assert same(found, second({}, {}))


@pytest.mark.parametrize("layer", [dense, dropped, compiled])
def test_a_persistent_tape_answers_again_and_again(layer):
    def asked(**options):
        tf.random.set_seed(7)
        with tf.GradientTape(persistent=True, **options) as tape:
            h = network(layer)
            other = tf.sqrt(h)
        few = WEIGHTS[3:5]
        return [tape.gradient(h, WEIGHTS), tape.gradient(other, few), tape.gradient(h, WEIGHTS)], tape

    expected, _ = asked()
    found, tape = asked(memory_budget=0.15)
    assert same(found, expected)
    assert account_of(tape).held <= account_of(tape).wanted * 0.3


def test_threads_that_ask_one_tape_at_the_same_time():
    def recorded(**options):
        with tf.GradientTape(persistent=True, **options) as tape:
            loss = network(residual)
        return tape, loss

    tape, loss = recorded()
    expected = tape.gradient(loss, WEIGHTS)
    tape, loss = recorded(memory_budget=0.2)
    found = []

    def ask():
        for _ in range(4):
            found.append(tape.gradient(loss, WEIGHTS))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert len(found) == 16
    assert all(same(gradients, expected) for gradients in found)
    store = tape._log.store
    assert store.account.held == store.bytes_of([i for i, value in enumerate(store.values) if value.tensor is not None])


def test_jacobians_and_hessians():
    x = tf.Variable(RNG.normal(size=(5,)), dtype=tf.float64)

    def asked(**options):
        with tf.GradientTape(persistent=True, **options) as tape:
            y = x
            for _ in range(6):
                y = tf.sin(y) * tf.exp(-y * y) + tf.reduce_mean(y)
            total = tf.reduce_sum(y)
        return [tape.jacobian(y, x), tape.jacobian(y, x, experimental_use_pfor=False), tape.hessian(total, x)]

    assert same(asked(memory_budget=0.2), asked())


def test_a_hessian_through_calls_of_functions():
    x = tf.Variable(RNG.normal(size=(4,)), dtype=tf.float32)
    layer = tf.function(lambda y: tf.sin(y) * tf.exp(-y * y))

    def asked(**options):
        with tf.GradientTape(persistent=True, **options) as tape:
            y = x
            for _ in range(5):
                y = layer(y) + tf.reduce_mean(y)
            total = tf.reduce_sum(y)
        return tape.hessian(total, x)

    plain = asked()
    assert np.any(plain.numpy())
    assert same(asked(memory_budget=SMALLEST_BYTES), plain)


def test_a_call_that_keeps_nothing():
    x = tf.Variable(tf.ones([4]))
    shifted = tf.function(lambda y: 2.0 * y + 1.0)
    with tf.GradientTape(memory_budget=SMALLEST_BYTES) as tape:
        y = tf.exp(shifted(tf.sin(x)))
    with tf.GradientTape() as plain:
        expected = tf.exp(shifted(tf.sin(x)))
    assert same(tape.gradient(y, x), plain.gradient(expected, x))


def test_a_variable_that_is_assigned_meanwhile():
    def asked(**options):
        v = tf.Variable(tf.fill([64], 2.0))
        with tf.GradientTape(**options) as tape:
            y = tf.sin(v * 3.0)
            v.assign(tf.fill([64], 5.0))
            v.assign_add(tf.ones([64]))
            y = tf.exp(y * v) * y
        return tape.gradient(y, v)

    assert same(asked(memory_budget=SMALLEST_BYTES), asked())


def test_with_assignments_that_count():
    def asked(**options):
        v, x = tf.Variable(tf.fill([8], 0.5)), tf.Variable(tf.fill([8], 1.5))
        with tf.GradientTape(track_assign=True, **options) as tape:
            for _ in range(4):
                v.assign(tf.sin(v * x) + v)
            y = tf.reduce_sum(v * v)
        return tape.gradient(y, [v, x])

    assert same(asked(memory_budget=SMALLEST_BYTES), asked())


@pytest.mark.usefixtures("budgets_in_use")
def test_a_budget_leaves_a_small_step_alone():
    def asked(size, budget):
        v = tf.Variable(np.full(size, 0.5, np.float32))
        with tf.GradientTape(memory_budget=budget) as tape:
            h = v * 1.0
            for _ in range(20):
                h = tf.sin(h)
        account = tape.memory().budget
        tape.gradient(h, v)
        return account

    for budget in (0.1, "8KB"):
        account = asked(1000, budget)
        assert account.evictions == account.recomputations == 0 and account.held == account.wanted
        account = asked(50_000, budget)  # the budget is too small to be worthwhile
        assert account.evictions > 0 and 400_000 < account.held <= Store.least_limit < account.wanted
    for budget in (0.1, "3MB"):
        account = asked(400_000, budget)
        assert account.evictions > 0 and account.held <= 0.1 * account.wanted


@pytest.mark.usefixtures("budgets_in_use")
@pytest.mark.parametrize("jit", [False, True])
def test_calls_of_functions_are_held_to_a_fraction_from_the_minimum_on(jit):
    if jit:
        pytest.importorskip("jax")
    w = tf.Variable(1.0)
    f = tf.function(lambda x: tf.tanh(x * w) + tf.sin(x) * tf.cos(x * w), jit_compile=jit)
    minimum = "The budget is the minimum for a tape, 2.0 MB."
    for size, is_small in ((500, True), (20_000, False), (100_000, False)):
        with tf.GradientTape(memory_budget=0.1) as tape:
            x = tf.ones([size])
            for _ in range(30):
                x = f(x)
        memory = tape.memory()
        account, limit = memory.budget, max(0.1 * memory.budget.wanted, Store.least_limit)
        assert account.held <= limit + 4 * size  # and `x`, which the program holds
        assert (account.evictions == 0) == is_small
        assert (minimum in str(memory)) == (limit == Store.least_limit)


def test_the_account_and_the_limit():
    with tf.GradientTape(memory_budget=4000) as tape:
        loss = network(dense)
    account = account_of(tape)
    size = 16 * 8 * 4
    assert account.wanted == 13 * size  # the data, eleven layers, the last
    assert account.held <= 4000 < account.peak <= 4000 + 2 * size
    store = tape._log.store
    tape.gradient(loss, WEIGHTS)
    assert account.peak <= 4000 + 2 * size
    assert store.limit == 4000
    memory = None
    with tf.GradientTape(memory_budget=0.5) as tape:
        loss = network(dense)
        memory = tape.memory()
    assert memory.total <= 0.5 * 13 * size
    assert memory.budget == account_of(tape)
    assert "blocks were evicted" in str(memory)


def test_views_are_counted_once():
    x = tf.Variable(tf.ones([1000]))
    with tf.GradientTape(memory_budget="1MB") as tape:
        y = tf.exp(x)
        z = tf.sin(tf.reshape(y, [10, 100])) * tf.transpose(tf.reshape(y, [100, 10]))
    assert account_of(tape).held == account_of(tape).wanted == 2 * 4000
    assert tape.memory().total == 2 * 4000
    assert tape.gradient(z, x) is not None


SEQUENCE = tf.constant(RNG.normal(size=(60, 16, 8)), tf.float32)
VIEWS = {
    "rows": lambda x: [x[t] for t in range(60)],
    "columns": lambda x: [tf.transpose(x, [1, 0, 2])[:, t] for t in range(60)],
    "unstack": tf.unstack,
    "views of views": lambda x: [tf.reshape(x, [6, 10, 16, 8])[t // 10][t % 10][::-1] for t in range(60)],
    "of an array": lambda x: [tf.convert_to_tensor(x.numpy()[t]) for t in range(60)],
}


def recurrent(views, watched, **options):
    with tf.GradientTape(**options) as tape:
        if watched:
            tape.watch(SEQUENCE)
        h = tf.zeros([16, 8])
        for x in VIEWS[views](SEQUENCE):
            h = tf.tanh(tf.matmul(x, WEIGHTS[0]) + tf.matmul(h, WEIGHTS[1]))
        loss = tf.reduce_sum(h * h)
    account = account_of(tape) if options else None
    return tape.gradient(loss, [*WEIGHTS[:2], *[SEQUENCE] * watched]), account


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("views", VIEWS)
def test_views_of_an_input_are_one_memory(views, watched):
    watched &= views != "of an array"
    expected, _ = recurrent(views, watched)
    whole, state = 60 * 16 * 8 * 4, 16 * 8 * 4
    found, account = recurrent(views, watched, memory_budget="1MB")
    assert same(found, expected)
    assert account.evictions == 0
    assert account.peak <= whole + 62 * state + (views == "columns") * whole
    found, account = recurrent(views, watched, memory_budget=0.5)
    assert same(found, expected)
    assert account.recomputations <= 4 * 60 * 3  # each step's ops a few times, not all steps for each


def test_an_input_that_becomes_a_view_of_what_was_computed():
    x = tf.Variable(tf.ones([50, 4]))

    def asked(**options):
        with tf.GradientTape(**options) as tape:
            y = tf.exp(x)
            with tape.stop_recording():
                parts = tf.unstack(y)
            z = tf.add_n([tf.sin(part * part) for part in parts]) + tf.reduce_sum(tf.sin(y), 0)
            held = account_of(tape).held if options else None
        return tape.gradient(z, x), held

    expected, _ = asked()
    found, held = asked(memory_budget="1MB")
    assert same(found, expected)
    assert held <= 800 + 50 * 16 + 200 * 4  # y, the products, the sine: `y` once, though its parts are inputs
    assert same(asked(memory_budget=SMALLEST_BYTES)[0], expected)


def test_what_cannot_be_let_go_leaves_the_rest_its_budget(caplog):
    x = tf.Variable(tf.ones([8]))
    big = tf.ones([1000, 8])
    with tf.GradientTape(memory_budget=2000) as tape:
        y = tf.reduce_sum(big * x, 0)
        for _ in range(100):
            y = tf.sin(y)
    account = account_of(tape)
    assert "cannot let go takes 32.0 kB, and the memory budget is 2.0 kB: the tape keeps 500 B beside it" in caplog.text
    assert account.held <= 32_000 + 500
    tape.gradient(y, x)
    assert account.recomputations <= 400  # a tape that frees everything recomputes thousands of ops


@pytest.mark.parametrize("beyond", [-100, 100, 2000])
def test_a_budget_that_an_input_nearly_fills_leaves_room_for_a_chain(beyond):
    x = tf.Variable(tf.ones([8]))
    big = tf.ones([1000, 8])
    with tf.GradientTape(memory_budget=32_000 + beyond) as tape:
        y = tf.reduce_sum(big * x, 0)
        for _ in range(400):
            y = tf.sin(y)
    account = account_of(tape)
    assert account.held <= 32_000 + 0.25 * (32_000 + beyond)
    tape.gradient(y, x)
    assert account.recomputations <= 1200


def test_small_values_go_only_when_there_are_no_larger_ones():
    x = tf.Variable(tf.ones([100]))
    with tf.GradientTape(memory_budget=2_000_000) as tape:
        y = x
        for _ in range(20):
            y = tf.sin(y)
        z = tf.tile(y[None], [2000, 1])
        for _ in range(4):
            z = tf.sin(z)
    store = tape._log.store
    small = [value for value in store.values if value.needed and value.block.bytes == 400]
    assert len(small) >= 19
    assert SMALL_SHARE * store.limit > 400
    assert store.account.evictions > 0
    assert all(value.block.held for value in small)
    with tf.GradientTape(memory_budget=SMALLEST_BYTES) as tape:
        y = x * 1.0
        for _ in range(2000):
            y = tf.sin(tf.reduce_mean(y))
    account = account_of(tape)
    assert account.held <= SMALLEST_BYTES  # small values are freed too, if there are no others
    assert account.evictions > 0


def test_a_tensor_that_the_user_holds_is_not_computed_again():
    with tf.GradientTape(memory_budget=SMALLEST_BYTES) as tape:
        held = [DATA]
        for w in WEIGHTS:
            held.append(tf.sin(tf.matmul(held[-1], w)))
        loss = tf.reduce_sum(held[-1])
    account = account_of(tape)
    tape.gradient(loss, WEIGHTS)
    assert account.recomputations <= 12  # the products, which sines need and nothing else holds


def test_measured_memory_keeps_to_the_budget():
    weights = [tf.Variable(tf.ones([64])) for _ in range(30)]
    x = tf.ones([4096, 64])
    block = 4096 * 64 * 4

    def peak(**options):
        tracemalloc.start()
        try:
            with tf.GradientTape(**options) as tape:
                h = x
                for w in weights:
                    h = tf.tanh(h * w)
                loss = tf.reduce_sum(h)
            tape.gradient(loss, weights)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak()  # what is made once
    assert peak() > 30 * block
    for fraction in (0.5, 0.25, 0.1):
        assert peak(memory_budget=fraction) < fraction * 31 * block * 1.05 + 4 * block  # and one op with cotangents


def test_files_come_and_go(tmp_path, monkeypatch):
    monkeypatch.setattr(spilling, "_BYTES_A_SECOND", 1e15)
    monkeypatch.setattr(spilling, "_AN_ACCESS", 0.0)
    expected, _ = once(in_parts)
    tf.random.set_seed(7)
    with tf.GradientTape(memory_budget=0.1, spill=tmp_path) as tape:
        loss = network(in_parts)
    account = account_of(tape)
    assert account.written > 0
    assert [len(list(folder.iterdir())) > 0 for folder in tmp_path.iterdir()] == [True]
    assert same(tape.gradient(loss, WEIGHTS), expected[:-1])
    assert account.recomputations == 0 or account.written > 0
    assert not list(tmp_path.iterdir())

    def fails():
        with tf.GradientTape(memory_budget=0.1, spill=tmp_path):
            network(in_parts)
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert not list(tmp_path.iterdir())


FORKS = """
import gc, os, sys
sys.path.insert(0, sys.argv[1])
from test_memory_budget import WEIGHTS, Store, account_of, in_parts, network, once, same, spilling, tf
Store.least_limit, spilling._BYTES_A_SECOND, spilling._AN_ACCESS = 0, 1e15, 0.0
expected, _ = once(in_parts)
tf.random.set_seed(7)
with tf.GradientTape(memory_budget=0.1, spill=sys.argv[2]) as tape:
    loss = network(in_parts)
assert account_of(tape).written > 0
if child := os.fork():
    assert os.waitpid(child, 0)[1] == 0
    assert same(tape.gradient(loss, WEIGHTS), expected[:-1])
else:
    del tape  # and then everything else, at the end of the program
    gc.collect()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the process forks")
def test_a_fork_leaves_the_files_of_its_parent(tmp_path):
    subprocess.run([sys.executable, "-c", FORKS, os.path.dirname(__file__), tmp_path], check=True, timeout=120)
    assert not list(tmp_path.iterdir())


def test_what_only_python_can_make_goes_to_disk_too(tmp_path):
    expected, _ = once(by_python)
    found, account = once(by_python, memory_budget=0.05, spill=tmp_path)
    assert same(found, expected)
    assert account.written > 0


def test_views_of_what_went_to_disk(tmp_path):
    x = tf.constant(RNG.normal(size=(64, 64)), tf.float32)

    def gradient(**options):
        w = tf.Variable(tf.ones([64]))
        with tf.GradientTape(**options) as tape:
            total = tf.zeros([64])
            for at in range(4):
                with tape.stop_recording():
                    row = x[at]  # only Python knows where it comes from, and its memory is that of `x`
                total += tf.sin(w * row) + tf.reduce_sum(tf.tanh(x * w), 0)
        written = account_of(tape).written if options else None
        return tape.gradient(total, w), written

    expected, _ = gradient()
    result, written = gradient(memory_budget=SMALLEST_BYTES, spill=tmp_path)
    assert same([result], [expected])
    assert written > 0


def test_a_disk_that_refuses(tmp_path, monkeypatch):
    monkeypatch.setattr(spilling, "_BYTES_A_SECOND", 1e15)
    monkeypatch.setattr(spilling, "_AN_ACCESS", 0.0)
    expected, _ = once(dense)
    with tf.GradientTape(memory_budget=0.1, spill=tmp_path) as tape:
        shutil.rmtree(next(tmp_path.iterdir()))
        loss = network(dense)
    assert account_of(tape).written == 0
    assert same(tape.gradient(loss, WEIGHTS), expected[:-1])


@pytest.mark.parametrize("layer", [dense, compiled, by_hand])
def test_nothing_is_left_to_the_garbage_collector(layer):
    gc.collect()
    gc.disable()
    try:
        with tf.GradientTape(memory_budget=0.2) as tape:
            loss = network(layer)
        log, store = weakref.ref(tape._log), weakref.ref(tape._log.store)
        tape.gradient(loss, WEIGHTS)
        assert log() is store() is None
    finally:
        gc.enable()


def test_a_plain_tape_is_as_it_was():
    with tf.GradientTape() as tape:
        network(dense)
    assert type(tape._log) is Log
    assert type(tape._log.saved) is list


def test_explanations():
    v, w = tf.Variable(tf.ones([8]), name="v"), tf.Variable(1.0, name="w")
    with tf.GradientTape(memory_budget=SMALLEST_BYTES, persistent=True) as tape:
        y = tf.exp(tf.sin(v))
    assert tape.gradient(y, w) is None
    assert tape.explain(y, [v, w]).reasons[1].source == "`w`"


def test_inside_a_function_a_tape_is_a_plain_one():
    @tf.function
    def slopes(h):
        with tf.GradientTape(memory_budget=0.1) as tape:
            loss = network(dense) + tf.reduce_sum(h)
        return tape.gradient(loss, WEIGHTS)

    found = slopes(DATA)
    assert np.allclose(found[0], once(dense)[0][0], rtol=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_random_programs(seed, monkeypatch):
    program = generate(seed)
    expected = run(program, "eager")
    for budget in (0.5, SMALLEST_BYTES):
        plain = tf.GradientTape.__init__
        limited = functools.partialmethod(plain, memory_budget=budget)
        with monkeypatch.context() as patched:
            patched.setattr(tf.GradientTape, "__init__", limited)
            found = run(program, "eager")
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected, strict=True):
            if isinstance(theirs, Exception):
                assert repr(ours) == repr(theirs)
            else:
                assert [None if y is None else y.tobytes() for y in ours] == [
                    None if y is None else y.tobytes() for y in theirs
                ]
