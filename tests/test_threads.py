"""Work on several cores: results in order, errors unchanged, nested and simultaneous calls, and forks."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import gradtape as tf
from gradtape.backends import blas
from gradtape.backends.numpy import blocks, threads
from gradtape.backends.numpy.threads import together
from gradtape.engine.run import dispatch
from gradtape.engine.tape.log import Log
from gradtape.graph.ir.graph import replay


def test_results_are_in_order():
    assert together([lambda i=i: i * i for i in range(5)]) == [0, 1, 4, 9, 16]


def test_an_error_anywhere_reaches_the_caller_and_the_next_call_works():
    def fail():
        raise KeyError("no")

    for works in ([fail, int], [int, fail], [int, int, fail]):
        with pytest.raises(KeyError, match="no"):
            together(works)
        assert together([int, int]) == [0, 0]


def test_calls_may_be_nested_and_simultaneous():
    def work():
        return sum(together([lambda: 1, lambda: sum(together([lambda: 1] * 3)), lambda: 1]))

    found = []
    callers = [threading.Thread(target=lambda: found.extend(work() for _ in range(50))) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(20)
    assert found == [5] * 150
    assert len(threads._helpers()) == threads.CORES - 1


def test_the_threads_of_an_op_are_as_many_as_the_program_says(monkeypatch):
    monkeypatch.setenv("PJRT_NPROC", "")
    counts = [blas._threads(package)[0] for package in ("numpy", "scipy")]
    before = [count() for count in counts]

    def threads_of_an_op():
        return set(threads.together([lambda: (time.sleep(0.01), threading.get_ident())[1]] * 4))

    try:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        assert [count() for count in counts] == [1, 1] or not blas.controllable()
        assert os.environ["PJRT_NPROC"] == "1" and tf.config.threading.get_intra_op_parallelism_threads() == 1
        assert threads_of_an_op() == {threading.get_ident()}
        with blas.one_thread_each:
            pass
        assert [count() for count in counts] == [1, 1] or not blas.controllable()
        with pytest.raises(ValueError, match="0 or more, got -1"):
            tf.config.threading.set_intra_op_parallelism_threads(-1)
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(0)
    assert [count() for count in counts] == before and threads._most == [threads.CORES]
    assert len(threads_of_an_op()) == min(4, threads.CORES)


def test_large_sums_are_accumulated_in_place():
    total, term = np.ones((2, blocks.LARGE), np.float32), np.full((2, blocks.LARGE), 2, np.float32)
    blocks.accumulate(total, term)
    assert total.min() == total.max() == 3
    blocks.accumulate(total.T, term.T)
    assert total.min() == total.max() == 5


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int32"])
@pytest.mark.parametrize("count", [7, blocks.LARGE // 2, blocks.LARGE + 3])
def test_sums_and_differences_of_any_size_and_layout(dtype, count):
    rng = np.random.default_rng(count)
    a, b = ((8 * rng.normal(size=(count, 2))).astype(dtype) for _ in range(2))
    layouts = (lambda x: x, np.transpose, lambda x: x[:, 0], lambda x: x[::-1], lambda x: x[:0])
    for ufunc in (np.add, np.subtract):
        for layout in layouts:
            x, y = layout(a), layout(b)
            expected = ufunc(x, y)
            np.testing.assert_array_equal(blocks.combined(ufunc, x, y), expected)
            np.testing.assert_array_equal(blocks.combined(ufunc, x, y[..., :1]), ufunc(x, y[..., :1]))
            np.testing.assert_array_equal(blocks.combined(ufunc, x, x[:1].copy()), ufunc(x, x[:1]))
            total = layout(a.copy())
            blocks.accumulate(total, y, ufunc)
            np.testing.assert_array_equal(total, expected)


def test_stacks_of_products_on_several_cores():
    rng = np.random.default_rng(0)
    for shape in ((8, 4, 64, 64), (3, 1, 128, 128), (0, 4, 64, 64), (1, 512, 16, 16)):
        a, b = (rng.normal(size=shape) for _ in range(2))
        pairs = ((a, b), (a.swapaxes(-1, -2), b), (a, b[:, :1]), (a.swapaxes(0, 1), b.swapaxes(0, 1)))
        repeated = np.broadcast_to(a[..., :1], shape)
        matrix = rng.normal(size=shape[2:])
        for x, y in (*pairs, (repeated, b), (b, repeated), (a, matrix), (matrix, b)):
            np.testing.assert_allclose(blocks.product(x, y), np.matmul(x, y), rtol=1e-12, atol=1e-12)


def test_a_value_used_three_times_in_a_large_formula():
    x = tf.constant(np.linspace(-2, 2, blocks.LARGE, dtype=np.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.tanh(x) * tf.exp(x) + tf.sigmoid(x)
    a = x.numpy().astype(np.float64)
    s = 1 / (1 + np.exp(-a))
    slope = np.exp(a) * (1 - np.tanh(a) ** 2) + np.tanh(a) * np.exp(a) + s * (1 - s)
    np.testing.assert_allclose(tape.gradient(y, x), slope, rtol=1e-5, atol=1e-5)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_threads_of_its_own():
    program = """
import os, numpy as np, gradtape as tf
from gradtape.backends.numpy import blocks
x = tf.ones((blocks.LARGE,))
before = float(tf.reduce_sum(x + x))
child = os.fork()
if child == 0:
    os._exit(0 if float(tf.reduce_sum(x + x)) == before else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=60)


def in_threads(work, count=8, times=200):
    """Runs `work(thread index)` repeatedly in several threads, which switch after every few lines."""
    failures = []

    def run(number):
        try:
            for _ in range(times):
                work(number)
        except BaseException as error:
            failures.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        callers = [threading.Thread(target=run, args=(number,)) for number in range(count)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(60)
    finally:
        sys.setswitchinterval(before)
    assert not failures
    return count * times


def under_tape(v):
    with tf.GradientTape():
        v.assign_add([1.0, 1.0])


UPDATES = {
    "assign_add": lambda v: v.assign_add([1.0, 1.0]),
    "assign_sub": lambda v: v.assign_sub(tf.constant([-1.0, -1.0])),
    "under a tape": under_tape,
    "scatter_nd_add": lambda v: v.scatter_nd_add([[0], [1]], [1.0, 1.0]),
    "scatter_sub": lambda v: v.scatter_sub(tf.IndexedSlices(tf.constant([-1.0, -1.0]), tf.constant([0, 1]))),
}


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
def test_no_update_of_a_variable_is_lost(update):
    v = tf.Variable([0.0, 0.0])
    total = in_threads(lambda number: update(v))
    assert v.numpy().tolist() == [total, total]


def test_threads_that_assign_to_slices_do_not_undo_each_other():
    v = tf.Variable(tf.zeros([8]))
    seen = [0] * 8

    def work(number):
        assert v.numpy()[number] == seen[number]
        seen[number] += 1
        v[number].assign(seen[number])

    in_threads(work, times=50)
    assert v.numpy().tolist() == [50.0] * 8


@pytest.mark.parametrize("traced", [True, False], ids=["traced before", "traced by all at once"])
@pytest.mark.parametrize("jit_compile", [False, True])
def test_no_update_in_a_function_is_lost(jit_compile, traced):
    if jit_compile:
        pytest.importorskip("jax")
    v = tf.Variable([0.0, 0.0])
    step = tf.function(lambda: v.assign_add([1.0, 1.0]), jit_compile=jit_compile)
    before = 0
    if traced:
        step()
        before = 1
    total = in_threads(lambda number: step(), times=50) + before
    assert v.numpy().tolist() == [total, total]


def test_the_first_calls_of_several_threads_create_one_variable():
    class Model:
        v = None

        @tf.function
        def step(self):
            if self.v is None:
                time.sleep(0.01)
                self.v = tf.Variable(0)
            self.v.assign_add(1)

    model = Model()
    assert in_threads(lambda number: model.step(), count=16, times=1) == int(model.v)


def test_a_step_of_an_optimizer_in_a_function_loses_no_count_and_no_momentum():
    w, momentum, count = tf.Variable([1.0, -1.0]), tf.Variable([0.0, 0.0]), tf.Variable(0, dtype=tf.int64)

    @tf.function
    def step():
        momentum.assign(momentum + 1.0)
        w.assign_sub(0.25 * tf.ones([2]))
        count.assign_add(1)

    total = in_threads(lambda number: step(), times=100)
    assert count.numpy() == total
    assert momentum.numpy().tolist() == [total, total]
    assert w.numpy().tolist() == [1.0 - total / 4, -1.0 - total / 4]


def test_the_effects_of_a_run_that_another_thread_got_ahead_of_happen_once():
    v = tf.Variable(0.0)
    calls = []

    def other_thread():
        if len(calls) < 3:
            other = threading.Thread(target=lambda: v.assign_add(10.0))
            other.start()
            other.join(20)
        calls.append(1)
        return np.float32(1.0)

    step = tf.function(lambda: v.assign_add(tf.numpy_function(other_thread, [], tf.float32)))
    for _ in range(5):
        step()
    assert len(calls) == 5
    assert float(v) == 5 + 30


def test_a_function_under_a_forward_accumulator_loses_no_update():
    v, x = tf.Variable(0.0), tf.constant(1.0)
    step = tf.function(lambda: v.assign_add(1.0))

    def work(number):
        with tf.autodiff.ForwardAccumulator(x, x):
            step()

    assert float(v) == 0.0
    total = in_threads(work, times=40)
    assert float(v) == total


def test_a_generator_gives_every_thread_numbers_of_its_own():
    generator = tf.random.Generator.from_seed(1)
    drawn = [[] for _ in range(8)]
    in_threads(lambda number: drawn[number].append(generator.skip(1).numpy().tolist()[0]), times=50)
    assert len({state for states in drawn for state in states}) == 400


@pytest.mark.parametrize("jit_compile", [False, True])
def test_one_function_in_many_threads_keeps_their_values_apart(jit_compile):
    if jit_compile:
        pytest.importorskip("jax")
    step = tf.function(lambda x: tf.tanh(tf.exp(-x * x) + x) @ tf.transpose(x), jit_compile=jit_compile)
    inputs = [tf.constant(np.full((60, 3000), number / 8), tf.float32) for number in range(8)]
    expected = [step(x).numpy() for x in inputs]

    def work(number):
        np.testing.assert_array_equal(step(inputs[number]), expected[number])

    in_threads(work, times=10)


def test_a_tape_of_its_own_in_each_thread():
    v = tf.Variable(3.0)

    def work(number):
        with tf.GradientTape() as tape:
            y = v * float(number)
        assert float(tape.gradient(y, v)) == number

    in_threads(work, times=50)


def test_a_closed_tape_may_be_asked_by_another_thread():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    found = []
    other = threading.Thread(target=lambda: found.append(float(tape.gradient(y, v))))
    other.start()
    other.join(20)
    assert found == [6.0]


def test_tapes_of_several_threads_watch_one_tensor(monkeypatch):
    x, leaf = tf.constant(3.0), Log._leaf

    def slow_leaf(log):
        time.sleep(0.001)  # other threads run before the tracer is written
        return leaf(log)

    monkeypatch.setattr(Log, "_leaf", slow_leaf)

    def work(number):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * float(number)
        assert float(tape.gradient(y, x)) == number

    in_threads(work, count=4, times=10)


def test_what_is_read_before_an_update_of_another_thread_keeps_its_value():
    v = tf.Variable(tf.zeros([1 << 21]))  # of a size that is updated in place

    def work(number):
        if number:
            v.assign_add(tf.ones([1 << 21]))
        else:
            read = v.value()
            first = float(read[0])
            assert float(tf.reduce_min(read)) == float(tf.reduce_max(read)) == first

    in_threads(work, count=3, times=10)
    assert float(v[0]) == 20.0


def test_a_recorder_is_told_of_the_nodes_that_its_own_thread_replays():
    class Lines(dispatch.Recorder):
        def __init__(self):
            self.lines = []

        def at_node(self, line):
            self.lines.append(line)

    graph = tf.function(lambda x: x * x).get_concrete_function(tf.constant(2.0)).graph
    recorder = Lines()
    with dispatch.recorded_by((recorder,)):
        other = threading.Thread(target=replay, args=(graph, [tf.constant(3.0)]))
        other.start()
        other.join()
        assert recorder.lines == []
        replay(graph, [tf.constant(3.0)])
    assert [line is None for line in recorder.lines] == [False, True]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_wait_for_locks_of_another_thread():
    """A thread holds every lock at the fork; the child watches, draws, assigns and enters a mode."""
    program = """
import os, signal, threading, warnings
import gradtape as tf
from gradtape.core import locks
v = tf.Variable([1.0])
tf.random.set_seed(1)
held, done = threading.Event(), threading.Event()
def hold():
    for lock in locks._locks:
        lock.acquire()
    held.set()
    done.wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()
warnings.simplefilter("ignore", DeprecationWarning)
child = os.fork()
if not child:
    signal.alarm(20)
    tf.debugging.enable_check_numerics()
    with tf.GradientTape() as tape:
        x = tf.random.normal([3])
        tape.watch(x)
        y = tf.reduce_sum(x * v)
    v.assign_add(tape.gradient(y, x)[:1])
    os._exit(0)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
os._exit(abs(code))
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60, check=False).returncode == 0
