"""Costs of a tape, live tapes, and gradient flow."""

import gc
import io
import re
import sys
import time

import numpy as np
import pytest

import gradtape as tf
from gradtape.engine.registry.cotangents import PendingProduct
from gradtape.inspect import live_tapes
from gradtape.inspect.costs.profile import backward_times
from gradtape.state.waits import waiting


def mlp(tape_options):
    rng = np.random.default_rng(0)
    w = [tf.Variable(rng.normal(size=s).astype(np.float32), name=n) for s, n in (((8, 16), "w0"), ((16, 4), "w1"))]
    x = tf.constant(rng.normal(size=(32, 8)).astype(np.float32))
    with tf.GradientTape(**tape_options) as tape:
        hidden = tf.nn.relu(x @ w[0])
        loss = tf.reduce_mean(tf.square(hidden @ w[1]))
    return tape, loss, w


def test_a_profile_has_times_bytes_and_lines():
    tape, loss, w = mlp({"trace": True})
    tape.gradient(loss, w)
    profile = tape.profile()
    assert profile.by_op["matmul"].records == 2
    assert set(profile.by_op) == {"matmul", "relu", "square", "mean"}
    assert all(cost.forward > 0 and cost.backward > 0 for cost in profile.by_op.values())
    assert len(profile.by_line) == 2 and all(line[0] == __file__ for line in profile.by_line)
    kept = [k.bytes for k in tape.memory().kept if k.for_derivative]
    assert profile.total.kept == sum(kept) > 0
    text = str(profile)
    assert "matmul" in text and "hidden = tf.nn.relu(x @ w[0])" in text and "test_inspect_costs.py" in text


def test_time_in_collectives_is_a_row():
    tape, loss, w = mlp({"trace": True})
    assert tape.profile(loss, w).collectives is None
    with waiting("gradients"), waiting("allreduce"):
        time.sleep(0.02)
    found = tape.profile(loss, w)
    assert found.collectives.records == 2 and found.collectives.forward == 0
    assert found.collectives.backward > 0.03
    row = next(line for line in str(found).splitlines() if line.split()[:1] == ["collectives"])
    assert "ms" in row and "%" in row
    with tf.GradientTape(trace=True) as tape:
        y = w[0] * 2.0
        with waiting("allreduce"):
            pass
        y = tf.reduce_sum(y)
    assert tape.profile(y, w[0]).collectives.forward > 0


def test_an_untraced_profile_says_how_to_get_the_rest():
    gc.collect()  # while a traced tape is alive, others are traced too
    tape, loss, w = mlp({"persistent": True})
    profile = tape.profile(loss, w)
    assert profile.total.forward is None and profile.total.backward > 0
    assert "trace=True" in str(profile)
    tape, loss, w = mlp({})
    tape.gradient(loss, w)
    with pytest.raises(RuntimeError, match="trace=True"):
        tape.profile(loss, w)


def test_products_that_wait_are_counted_where_they_come_from(monkeypatch):
    now = 0
    value = PendingProduct.value

    def long_value(products, *last):
        nonlocal now
        now += 1_000_000_000
        return value(products, *last)

    monkeypatch.setattr(sys.modules[backward_times.__module__], "perf_counter_ns", lambda: now)
    monkeypatch.setattr(PendingProduct, "value", long_value)
    w = tf.Variable(tf.ones((2, 3)))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.matmul(tf.ones((4, 2)), w))
    times = {name: cost.backward for name, cost in tape.profile(y, w).by_op.items()}
    assert times["matmul"] >= 1 and times["sum"] == 0


def test_backward_times_of_an_op_with_several_outputs():
    x = tf.Variable([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape(trace=True) as tape:
        first, second = tf.split(x, 2)
        y = tf.reduce_sum(first * 2.0 + second)
    assert tape.profile(y, x).by_op["split"].backward > 0


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_tables_are_plain_when_piped_and_coloured_in_a_terminal(monkeypatch):
    pytest.importorskip("rich")
    tape, loss, w = mlp({"trace": True})
    tape.gradient(loss, w)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain, coloured = io.StringIO(), Terminal()
    tape.memory().show(plain)
    tape.memory().show(coloured)
    assert plain.getvalue() == f"{tape.memory()}\n"
    assert "\x1b[" in coloured.getvalue()


def test_memory_counts_each_array_once_and_leaves_variables_out():
    x = tf.Variable(tf.ones([1000]))
    with tf.GradientTape(trace=True) as tape:
        y = tf.exp(x)
        tf.square(y)
        y * y * x
    memory = tape.memory()
    assert sum(k.bytes for k in memory.kept if k.for_derivative) == 2 * 4000
    assert memory.total == 4 * 4000  # and the results of the square and of the last product, for explanations
    assert memory.variables == 4000
    assert memory.by_op == {"mul": 8000, "exp": 4000, "square": 4000}
    assert memory.biggest[0].shape == (1000,) and memory.biggest[0].dtype == "float32"
    assert "8.0 kB of it are kept for explanations only" in str(memory)


@pytest.mark.parametrize("kind", [{"trace": True}, {"check": "nan"}])
def test_memory_counts_what_is_kept_for_explanations(kind):
    v = tf.Variable(tf.ones([1000]))
    with tf.GradientTape(**kind) as tape:
        y = tf.reduce_sum(v + 1.0)  # the derivative needs none of it
    memory = tape.memory()
    assert memory.by_op["add"] >= 4000 and 4000 <= memory.total < 4100
    assert not any(k.for_derivative for k in memory.kept if k.bytes == 4000)
    assert "kept for explanations only" in str(memory)
    assert tape.profile(y, v).total.kept < 100


def test_memory_of_a_tape_inside_a_function():
    found = []

    @tf.function
    def step(x):
        with tf.GradientTape(trace=True) as tape:
            tape.watch(x)
            tf.exp(x)
        found.append(tape.memory().total)
        return x

    step(tf.ones([1000]))
    assert found == [8000]  # the exponential for the derivative, and the recorded input


def test_memory_of_a_compiled_function():
    @tf.function
    def f(x):
        return tf.reduce_sum(tf.exp(x) * tf.sin(x))

    x = tf.Variable(tf.ones([1000]))
    f(x)
    with tf.GradientTape() as tape:
        f(x)
    assert tape.memory().total >= 4000


def test_live_tapes_are_found_with_who_holds_them():
    class Trainer:
        pass

    trainer = Trainer()
    x = tf.Variable(tf.ones([500]))
    with tf.GradientTape(persistent=True) as trainer.tape:
        tf.exp(x)
    (row,) = [row for row in live_tapes().rows if row.bytes == 2000 and row.line[0] == __file__]
    assert row.persistent and row.age >= 0 and row.records == 1
    assert "attribute 'tape' of a Trainer" in row.held_by
    trainer.tape = None
    assert not [row for row in live_tapes().rows if row.bytes == 2000]


def test_a_tape_for_each_step_is_called_a_leak():
    x = tf.Variable(tf.ones([700]))
    history = []
    for _ in range(4):
        with tf.GradientTape(persistent=True) as tape:
            tf.exp(x)
        history.append(tape)
    del tape
    found = live_tapes()
    (warning,) = [text for text in found.warnings if "4 tapes" in text]
    assert "test_inspect_costs.py" in warning and "del tape" in warning
    assert any("a list of 4" in row.held_by for row in found.rows)
    assert warning in str(found)


def test_an_old_persistent_tape_is_warned_of(monkeypatch):
    x = tf.Variable(tf.ones([900]))
    with tf.GradientTape(persistent=True) as tape:
        tf.exp(x)
    monkeypatch.setattr(tape, "_born", (tape._born[0] - 1000.0, tape._born[1]))
    assert any(re.search(r"\b10\d\d s old", text) for text in live_tapes().warnings)


def test_flow_by_variable():
    dead = tf.Variable(np.array([[1.0, -1.0, 1.0], [1.0, -1.0, 1.0]], np.float32), name="dead")
    unused = tf.Variable(1.0, name="unused")
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_sum(tf.nn.relu(tf.ones([4, 2]) @ dead)) + 0.0 * unused
    row, constant = tape.flow(loss, [dead, unused]).rows
    assert row.name == "dead" and row.shape == (2, 3)
    assert row.norm == pytest.approx(8.0) and row.largest == 4.0
    assert row.ratio == pytest.approx(8.0 / np.sqrt(6.0))
    assert row.zeros == pytest.approx(1 / 3) and row.dead == pytest.approx(1 / 3)
    assert constant.remark == "all zero" or constant.norm == 5.0


def test_flow_says_what_is_wrong():
    small, missing, broken = (tf.Variable(1.0, name=n) for n in ("small", "missing", "broken"))
    with tf.GradientTape(persistent=True) as tape:
        loss = small * 1e-9 + tf.sqrt(broken - 1.0)
    remarks = {r.name: r.remark for r in tape.flow(loss, [small, missing, broken]).rows}
    assert remarks["small"] == "vanishing"
    assert "explain" in remarks["missing"]
    assert "diagnose" in remarks["broken"]


def test_flow_shows_dead_activations_of_a_traced_tape():
    tape, loss, w = mlp({"trace": True})
    tape.gradient(loss, w)
    (row,) = tape.flow().activations
    assert row.op == "relu" and row.shape == (32, 16) and 0 < row.zeros < 1
    assert "Activations" in str(tape.flow())


def test_flow_by_something_else_is_refused():
    tape, loss, w = mlp({"trace": True})
    with pytest.raises(ValueError, match="layer"):
        tape.flow(loss, w, by="colour")


def test_the_time_between_ops_is_pythons():
    v = tf.Variable(tf.ones([50, 50]))
    with tf.GradientTape(trace=True) as tape:
        x = v * 2.0
        time.sleep(0.05)
        y = tf.reduce_sum(x)
    profile = tape.profile(y, v)
    assert profile.python.forward > 0.045
    assert all(cost.forward < 0.04 for cost in profile.by_op.values())
    assert profile.total.forward == pytest.approx(
        profile.python.forward + sum(cost.forward for cost in profile.by_op.values())
    )
    row = next(line for line in str(profile).splitlines() if line.split()[:1] == ["Python"])
    assert "ms" in row and "%" in row


def test_the_account_of_a_budget_is_that_of_its_time():
    v = tf.Variable(tf.ones([1000]))
    with tf.GradientTape(memory_budget=0.5) as tape:
        y = tf.tanh(v)
        before = tape.memory().budget
        wanted = before.wanted
        for _ in range(8):
            y = tf.tanh(y) * y
    assert before.wanted == wanted < tape.memory().budget.wanted
