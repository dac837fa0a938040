"""First calls from several threads: one trace and one compilation per signature, no deadlock, one variable."""

import copy
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.extras import is_installed
from gradtape.core.locks import BuildLock, SharedAttempt
from gradtape.graph.executors.xla import executor
from gradtape.graph.function import jit_policy
from gradtape.graph.function.trace_cache import TraceCache
from gradtape.graph.trace.traced import Untraceable

THREADS = 8
with_keras = pytest.mark.skipif(not is_installed("keras"), reason="Keras is not installed")


def all_at_once(*calls):
    """The results of calls that start together, each in a thread of its own; fails if they do not end."""
    start = threading.Barrier(len(calls))

    def run(call):
        start.wait()
        return call()

    pool = ThreadPoolExecutor(len(calls))
    try:
        return [future.result(timeout=100) for future in [pool.submit(run, call) for call in calls]]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@pytest.fixture
def compilations(monkeypatch):
    """Counts compilations, and makes each take a moment."""
    count = Counter()
    built = executor.XlaProgram._built

    def counted(self, *arguments):
        count[self.graph.name] += 1
        time.sleep(0.05)
        return built(self, *arguments)

    monkeypatch.setattr(executor.XlaProgram, "_built", counted)
    return count


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("watch", [False, True])
def test_a_signature_is_traced_and_compiled_once(jit_compile, watch, compilations, quick_xla):
    traces = []

    @tf.function(jit_compile=jit_compile)
    def f(x):
        traces.append(x.shape)
        time.sleep(0.02)
        return tf.reduce_sum(tf.tanh(x) * x)

    def call(x):
        with tf.GradientTape() as tape:
            if watch:
                tape.watch(x)
            y = f(x)
        return tape.gradient(y, x) if watch else y

    for size in (2, 3):  # the second signature is no first call of the function
        x = tf.random.normal([size])
        results = all_at_once(*[partial(call, x)] * THREADS)
        assert traces == [(n,) for n in range(2, size + 1)]
        assert all(np.array_equal(result, results[0]) for result in results)
    assert sum(compilations.values()) == jit_compile * (2 + 2 * watch)  # forward and backward


@pytest.fixture
def slow_compilation(monkeypatch, quick_xla):
    """Makes compilations last until the second event is set; sets the first one when one begins."""
    began, may_end = threading.Event(), threading.Event()
    built = executor.XlaProgram._built

    def waits(self, *arguments):
        began.set()
        assert may_end.wait(60)
        return built(self, *arguments)

    monkeypatch.setattr(executor.XlaProgram, "_built", waits)
    yield began, may_end
    may_end.set()


@pytest.mark.parametrize("watch", [False, True])
def test_where_compilation_is_the_default_other_threads_go_on(watch, slow_compilation, monkeypatch):
    monkeypatch.setattr(jit_policy.settings, "autoclustering", True)
    monkeypatch.setattr(jit_policy, "MIN_NODES", 1)
    began, may_end = slow_compilation
    f, x = tf.function(lambda x: tf.reduce_sum(tf.tanh(x) * x)), tf.constant([1.0, 2.0])

    def call():
        with tf.GradientTape() as tape:
            if watch:
                tape.watch(x)
            y = f(x)
        return float(tf.reduce_sum(tape.gradient(y, x))) if watch else float(y)

    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(call)
        assert began.wait(60)
        others = [pool.submit(call).result(30) for _ in range(3)]  # it is still compiling
        assert not first.done() and len(set(others)) == 1
        may_end.set()
        assert first.result(30) == pytest.approx(others[0], rel=1e-6)
    assert call() == first.result()


def test_the_compilation_of_a_new_size_stops_no_call_of_another_size(slow_compilation):
    began, may_end = slow_compilation
    f = tf.function(lambda x: x + 1.0, jit_compile=True)
    may_end.set()
    f(tf.ones([2]))
    began.clear()
    may_end.clear()
    with ThreadPoolExecutor(2) as pool:
        new = pool.submit(f, tf.ones([3]))
        assert began.wait(60)
        assert pool.submit(f, tf.ones([2])).result(30).shape == [2] and not new.done()
        may_end.set()
        assert new.result(30).shape == [3]


@pytest.mark.parametrize("by_default", [False, True])
def test_get_concrete_function_compiles_and_does_not_run(by_default, compilations, quick_xla, monkeypatch):
    monkeypatch.setattr(jit_policy.settings, "autoclustering", by_default)
    monkeypatch.setattr(jit_policy, "MIN_NODES", 1)
    calls, draws = tf.Variable(0.0), tf.random.Generator.from_seed(1)

    @tf.function(jit_compile=None if by_default else True)
    def f(x):
        calls.assign_add(1.0)
        return tf.reduce_sum(x) + draws.normal([])

    concrete = f.get_concrete_function(tf.TensorSpec([3], tf.float32))
    f.get_concrete_function(tf.TensorSpec([None], tf.float32))  # each size has a program of its own
    assert dict(compilations) == {"f": 1} and float(calls) == 0.0
    same = tf.random.Generator.from_seed(1)
    expected = [3.0 + float(same.normal([])) for _ in range(2)]
    assert [float(f(tf.ones([3]))), float(concrete(tf.ones([3])))] == pytest.approx(expected)
    assert dict(compilations) == {"f": 1} and float(calls) == 2.0
    f(tf.ones([4]))
    assert dict(compilations) == {"f": 2} and f.experimental_get_tracing_count() == 2


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals to threads")
def test_an_interrupt_while_waiting_for_a_compilation_ends_the_wait_only(slow_compilation, interruptible):
    began, may_end = slow_compilation
    f = tf.function(lambda x: x * 3.0, jit_compile=True)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(f, tf.constant(1.0))
        assert began.wait(60)
        waiting = threading.main_thread().ident
        pool.submit(lambda: (time.sleep(0.2), signal.pthread_kill(waiting, signal.SIGINT)))
        with pytest.raises(KeyboardInterrupt):
            f(tf.constant(1.0))
        assert not first.done()
        may_end.set()
        assert float(first.result(30)) == float(f(tf.constant(1.0))) == 3.0


def network(jit_compile, has_input=True):
    keras = tf.keras
    keras.utils.set_random_seed(1)
    layers = [keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)]
    model = keras.Sequential([keras.Input((4,)), *layers] if has_input else layers)
    model.compile("sgd", "mse", metrics=["mae"], jit_compile=jit_compile)
    return model


@with_keras
@pytest.mark.parametrize("jit_compile", [True, "auto"])
@pytest.mark.parametrize("has_input", [True, False])
def test_keras_builds_traces_and_compiles_a_model_once(jit_compile, has_input, compilations, quick_xla, monkeypatch):
    traces, traced = Counter(), TraceCache.traced
    monkeypatch.setattr(
        TraceCache, "traced", lambda self, *args: (traces.update([self.name.split(".")[-1]]), traced(self, *args))[1]
    )
    x = np.random.default_rng(0).normal(size=(6, 4)).astype("float32")
    y = x.sum(1, keepdims=True)
    for _ in range(2):  # a first call in all threads, then later ones
        model = network(jit_compile, has_input)
        calls = [
            partial(model.predict, x, verbose=0), partial(model.predict_on_batch, x), partial(model, x),
            partial(model.evaluate, x, y, verbose=0),
        ]  # fmt: skip
        traces.clear()
        compilations.clear()
        for _ in range(2):
            results = all_at_once(*calls * 4)
            for found in (results[0::4], results[1::4], results[2::4], results[3::4]):
                assert all(np.array_equal(each, found[0]) for each in found)
            np.testing.assert_allclose(results[0], results[2], rtol=1e-5)
            assert len(model.weights) == 4
            # A first trace that creates variables, those of metrics or, unless another call has, layers, is repeated.
            assert traces["predict_step"] in ((1,) if has_input else (1, 2)) and traces["test_step"] == 2
            assert dict(compilations) == ({"predict_step": 1, "test_step": 1} if jit_compile is True else {})


@with_keras
def test_serving_is_not_interrupted_by_a_compilation(slow_compilation):
    began, may_end = slow_compilation
    model = network("auto")
    batch, long = np.ones([8, 4], "float32"), np.ones([8 * 40, 4], "float32")
    for _ in range(40):  # requests, however many
        expected = model.predict(batch, verbose=0)
        model.predict_on_batch(batch)
    assert not began.is_set()
    with ThreadPoolExecutor(3) as pool:
        job = pool.submit(model.predict, long, batch_size=8, verbose=0)
        assert began.wait(60)
        for call in (model.predict_on_batch, partial(model.predict, verbose=0)):
            np.testing.assert_array_equal(pool.submit(call, batch).result(30), expected)
        assert pool.submit(model.predict, long, batch_size=8, verbose=0).result(30).shape == (320, 1)
        assert not job.done()
        may_end.set()
        np.testing.assert_allclose(job.result(30)[:8], expected, rtol=1e-5)


@with_keras
@pytest.mark.parametrize("jit_compile", [True, "auto", False])
def test_keras_compiles_in_advance_and_does_not_run(jit_compile, compilations, quick_xla):
    x, y = np.ones([8, 4], "float32"), np.ones([8, 1], "float32")
    found = []
    for warm in (False, True):
        model = network(jit_compile)
        if warm:
            compilations.clear()
            model.make_predict_function().get_concrete_function(tf.TensorSpec([8, 4], tf.float32))
            model.make_test_function().get_concrete_function(x, tf.TensorSpec([8, 1], tf.float32))
            model.make_train_function().get_concrete_function(x, y)
            compiled = {} if jit_compile is False else {"predict_step": 1, "test_step": 1, "train_step": 1}
            assert dict(compilations) == compiled and int(model.optimizer.iterations) == 0
        found.append([model.predict(x, verbose=0), model.predict_on_batch(x), *model.evaluate(x, y, verbose=0)])
        found[-1] += model.fit(x, y, batch_size=8, verbose=0).history["loss"]
        if warm:
            assert dict(compilations) == compiled
    for cold, warmed in zip(*found, strict=True):
        np.testing.assert_allclose(warmed, cold, rtol=1e-5)
    with pytest.raises(ValueError, match="open size"):
        model.make_predict_function().get_concrete_function(tf.TensorSpec([None, 4], tf.float32))


def test_functions_that_call_each_other_do_not_deadlock():
    @tf.function
    def even(x, depth):
        time.sleep(0.01)
        return odd(x, depth - 1) + 1.0 if depth else x

    @tf.function
    def odd(x, depth):
        time.sleep(0.01)
        return even(x, depth - 1) * 2.0 if depth else -x

    x = tf.constant(1.0)
    calls = [lambda: even(x, 4), lambda: odd(x, 4)] * 4
    assert [float(y) for y in all_at_once(*calls)] == [7.0, 2.0] * 4


def test_the_first_calls_of_signatures_create_one_variable():
    class Counter(tf.Module):
        count = None

        @tf.function
        def __call__(self, x):
            if self.count is None:
                time.sleep(0.02)
                self.count = tf.Variable(0.0)
            self.count.assign_add(tf.reduce_sum(x))
            return self.count

    counter = Counter()
    all_at_once(*[lambda n=n: counter(tf.ones([n % 3 + 1])) for n in range(9)])
    assert float(counter.count) == 18.0


def test_first_calls_that_run_eagerly_create_one_variable(monkeypatch):
    def refuses(*arguments):
        raise Untraceable("as the test demands")

    monkeypatch.setattr(TraceCache, "traced", refuses)
    variables = []

    @tf.function(autograph=False)
    def count():
        if not variables:
            time.sleep(0.02)
            variables.append(tf.Variable(0.0))
        variables[0].assign_add(1.0)

    all_at_once(*[count] * THREADS)
    assert len(variables) == 1 and float(variables[0]) == THREADS


def test_who_waits_for_a_compilation_that_fails_gets_its_error(monkeypatch, quick_xla):
    attempts = []

    def fails(self, *arguments):
        attempts.append(self)
        time.sleep(0.2)
        raise RuntimeError(f"failed in attempt {len(attempts)}")

    monkeypatch.setattr(executor.XlaProgram, "_built", fails)
    f = tf.function(lambda x: x + 1.0, jit_compile=True)
    f.get_concrete_function(tf.TensorSpec([], tf.float32))  # its failure is left to the first call
    attempts.clear()

    def message():
        with pytest.raises(RuntimeError) as failed:
            f(tf.constant(1.0))
        return str(failed.value)

    messages = Counter(all_at_once(*[message] * THREADS))
    assert sum(messages.values()) == THREADS and len(attempts) == len(messages) <= 2


def test_an_error_or_interrupt_while_tracing_leaves_the_function_to_others():
    failures = iter([ValueError, KeyboardInterrupt])

    @tf.function
    def f(x):
        if (failure := next(failures, None)) is not None:
            time.sleep(0.02)
            raise failure("once")
        return x + 1.0

    def call():
        try:
            return float(f(tf.constant(1.0)))
        except (ValueError, KeyboardInterrupt) as error:
            return type(error).__name__

    assert Counter(all_at_once(*[call] * THREADS)) == {2.0: THREADS - 2, "ValueError": 1, "KeyboardInterrupt": 1}


@pytest.mark.parametrize("seed", range(5))
def test_locks_exclude_each_other_and_never_deadlock(seed):
    """Threads take random locks, nested and repeatedly; the slow reference is a list of who is inside."""
    locks = [BuildLock() for _ in range(4)]
    inside = [[] for _ in locks]
    guests = []

    def enter(chance, depth):
        number = chance.randrange(len(locks))
        me = threading.get_ident()
        with locks[number]:
            others = {thread for thread in inside[number] if thread != me}
            if others:  # without the lock: it would have waited for itself
                guests.append(others)
                assert me in locks[number]._guests
            inside[number].append(me)
            time.sleep(chance.random() / 2000)
            if depth and chance.random() < 0.8:
                enter(chance, depth - 1)
            inside[number].remove(me)

    def work(number):
        chance = random.Random(f"{seed} {number}")
        for _ in range(20):
            enter(chance, 3)

    all_at_once(*[lambda n=n: work(n) for n in range(6)])
    assert not any(inside) and not any(lock._guests or lock._owner for lock in locks)


def test_locks_are_copied_and_pickled_as_new_ones():
    for lock in (BuildLock(), SharedAttempt()):
        with lock:
            for other in (copy.copy(lock), copy.deepcopy(lock), pickle.loads(pickle.dumps(lock))):
                assert type(other) is type(lock) and other is not lock
                all_at_once(lambda other=other: other.__enter__())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_wait_for_a_trace_of_another_thread():
    code = """
import os, threading, time, gradtape as tf
began, may_end = threading.Event(), threading.Event()
@tf.function
def f(x):
    began.set()
    may_end.wait()
    return x * 2.0
thread = threading.Thread(target=f, args=(tf.constant(1.0),))
thread.start()
began.wait()
child = os.fork()
if not child:
    may_end.set()
    os._exit(int(f(tf.constant(3.0))))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
may_end.set()
thread.join()
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "6\n", done.stderr[-2000:]
