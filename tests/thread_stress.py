"""`python -m thread_stress --rounds N --seed SEED`: threads that trace, compile, retrace, build and predict together.

Each round creates new functions, variables and models, starts 16 threads at once, and lets each of them use everything
in an order of its own. With GRADTAPE_LOCK_DELAYS, which `make stress` sets, threads sleep at every lock. A signature
must be traced and compiled once, no update may be lost, every result must be that of one thread, and no round may hang:
then all stacks are printed and the process ends.

Axes: plain, compiled (asked for, by default, in advance), recorded by a tape, methods, retraced for other shapes and
values, recursive, creating variables; Keras models built or not, compiled or not; how often Python switches threads.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

import gradtape as tf
from gradtape.graph.executors.xla import executor
from gradtape.graph.function import jit_policy
from gradtape.graph.function.trace_cache import TraceCache
from gradtape.graph.ir.graph import Graph

THREADS = 16
_HANGS_S = 120  # a round that takes longer is counted as hanging

Task = Callable[[], None]


class Graphs:
    """The graphs that are traced, and those that XLA compiles, during a round."""

    def __init__(self) -> None:
        self.traced: list[Graph] = []
        self.compiled: list[Graph] = []
        self._originals = TraceCache.traced, executor.XlaProgram._built

    def __enter__(self) -> Graphs:
        traced, built = self._originals

        def trace(cache, *arguments):
            result = traced(cache, *arguments)
            self.traced.append(result[0].graph)
            return result

        def build(program, *arguments):
            self.compiled.append(program.graph)
            return built(program, *arguments)

        TraceCache.traced, executor.XlaProgram._built = trace, build
        return self

    def __exit__(self, *_):
        TraceCache.traced, executor.XlaProgram._built = self._originals


def of_function(graphs: list[Graph], name: str) -> Counter[str]:
    """Counts the graphs of a function and of its derivatives by their names."""
    return Counter(graph.name for graph in graphs if graph.name.startswith(name))


def of_model(graphs: list[Graph], model: tf.keras.Model) -> Counter[str]:
    """Counts the graphs that read the first weight of a model by their names."""
    weight = model.weights[0].value
    names = [graph.name for graph in graphs if any(variable is weight for variable, _ in graph.variables)]
    return Counter(name.rpartition(".")[2] for name in names)


def expect(condition, message):
    """Raises an AssertionError with a message."""
    if not condition:
        raise AssertionError(message)


def close(x, y):
    """Fails unless two results agree up to the differences between NumPy and XLA."""
    np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def signatures(chance, graphs):
    """Functions with several signatures: each is traced and compiled once, whether a tape records calls or not."""
    jit_compile = chance.choice([None, None, True])
    by_default = jit_compile is None and chance.random() < 0.3
    jit_policy.settings.autoclustering = by_default or None
    traces = Counter()

    def body(x):
        traces[tuple(x.shape)] += 1
        return tf.reduce_sum(tf.tanh(x) * x * 2.0 + 1.0)

    name = f"signatures_{chance.randrange(10**9)}"
    body.__name__ = name
    f = tf.function(body, jit_compile=jit_compile)
    sizes = (2, 3) if jit_compile or by_default else range(2, 10)

    def call(n, recorded):
        x = np.linspace(-1, 1, n).astype("float32")
        with tf.GradientTape() as tape:
            v = tf.constant(x)
            if recorded:
                tape.watch(v)
            y = f(v)
        close(y, np.sum(np.tanh(x) * x * 2 + 1))
        if recorded:
            close(tape.gradient(y, v), 2 * (np.tanh(x) + x * (1 - np.tanh(x) ** 2)))

    tasks = [lambda n=n, r=r: call(n, r) for n in sizes for r in (False, True)]
    yield [*tasks, lambda: f.get_concrete_function(tf.TensorSpec([sizes[0]], tf.float32))]
    expect(traces == {(n,): 1 for n in sizes}, f"traces {traces}")
    compiled = of_function(graphs.compiled, name)
    number = sum(compiled.values())
    most = 6 if jit_compile or by_default else 0  # per size: what runs without a tape, and the two programs under one
    # By default, a thread that finds another one compiling leaves its own program to a later call.
    expect(number == most or (by_default and 0 < number < most), f"compilations {compiled}, not {most}")


def counting(chance, graphs):
    """Variables that are updated eagerly, in functions and in compiled functions: no update is lost."""
    eager, traced, compiled = (tf.Variable(0.0) for _ in range(3))
    row = tf.Variable(tf.zeros([4]))
    in_function = tf.function(lambda: traced.assign_add(1.0))
    in_program = tf.function(lambda x: compiled.assign_add(x), jit_compile=chance.random() < 0.3)
    product = tf.function(lambda: row.assign(row * 1.0 + 1.0))  # a read and an assignment

    def update():
        eager.assign_add(1.0)
        in_function()
        in_program(tf.constant(1.0))
        product()
        row[1].assign(row[1])  # an update of one row that changes nothing

    repeats = 3
    yield [update] * repeats
    for variable in (eager, traced, compiled):
        expect(float(variable) == repeats * THREADS, f"{float(variable)} of {repeats * THREADS} updates")
    expect(row.numpy()[0] == repeats * THREADS, f"{row.numpy()} of {repeats * THREADS} updates")


def creating(chance, graphs):
    """Functions and methods that create a variable in their first call: they create one."""

    class Module(tf.Module):
        total = None

        @tf.function(jit_compile=chance.choice([None, True]))
        def __call__(self, x):
            if self.total is None:
                created.append(1)
                self.total = tf.Variable(0.0)
            self.total.assign_add(tf.reduce_sum(x))
            return self.total

        @tf.function
        def double(self, x):
            return x * 2.0

    created = []
    module = Module()
    sizes = (1, 2, 3)
    yield [lambda n=n: module(module.double(tf.ones([n]))) for n in sizes]
    expect(len(created) == 1, f"{len(created)} variables")
    expect(float(module.total) == 2 * THREADS * sum(sizes), f"total {float(module.total)}")
    expect(Module.double.__get__(module).experimental_get_tracing_count() == len(sizes), "traces of a method")


def retracing(chance, graphs):
    """Functions that are specialized for values, relax their shapes, or take Python values."""
    by_value = tf.function(lambda n: tf.reduce_sum(tf.range(n)))
    traces = []

    def body(x, factor):
        traces.append((x.shape, factor))
        return tf.reduce_sum(x) * factor

    relaxed = tf.function(body, reduce_retracing=True)
    fixed = tf.function(body, input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.float32)])
    n, factor = chance.randrange(2, 5), 3.0

    def call(k):
        expect(int(by_value(tf.constant(k))) == k * (k - 1) // 2, "a value")
        expect(float(relaxed(tf.ones([k]), factor)) == k * factor, "a shape")
        expect(float(fixed(tf.ones([k]), tf.constant(factor))) == k * factor, "an open shape")

    yield [lambda k=k: call(k) for k in (n, n + 1, n + 2)]
    expect(fixed.experimental_get_tracing_count() == 1, "traces of an open signature")


def recursive(chance, graphs):
    """Functions that call each other in opposite orders, and one that fails in its first call."""
    failures = iter([ValueError("once")])

    @tf.function
    def even(x, depth):
        return odd(x, depth - 1) + 1.0 if depth else x

    @tf.function
    def odd(x, depth):
        return even(x, depth - 1) * 2.0 if depth else -x

    @tf.function
    def fails_once(x):
        if (failure := next(failures, None)) is not None:
            raise failure
        return x + 1.0

    failed = []

    def call_failing():
        try:
            expect(float(fails_once(tf.constant(1.0))) == 2.0, "after a failure")
        except ValueError:
            failed.append(1)

    x = tf.constant(1.0)
    yield [
        lambda: expect(float(even(x, 4)) == 7.0, "even"), lambda: expect(float(odd(x, 4)) == 2.0, "odd"), call_failing,
    ]  # fmt: skip
    expect(len(failed) == 1, f"{len(failed)} failures")


def drawing(chance, graphs):
    """Generators and functions that draw: no two threads get the same numbers."""
    generator, drawn = tf.random.Generator.from_seed(chance.randrange(1000)), []
    f = tf.function(lambda: generator.uniform([2], dtype=tf.float64), jit_compile=chance.random() < 0.2)
    yield [lambda: drawn.append(tuple(f().numpy())), lambda: drawn.append(tuple(generator.normal([2]).numpy()))] * 2
    expect(len(set(drawn)) == len(drawn) == 4 * THREADS, "equal numbers")


def network(chance, jit_compile):
    """Returns a new model, which may be unbuilt, of one of three kinds."""
    keras = tf.keras
    layers = [keras.layers.Dense(4, activation="tanh"), keras.layers.BatchNormalization(), keras.layers.Dense(1)]

    class Subclassed(keras.Model):
        def __init__(self):
            super().__init__()
            self.parts = layers

        def call(self, x):
            for part in self.parts:
                x = part(x)
            return x

    kind = chance.randrange(3)
    if kind == 2:
        model = Subclassed()
    else:
        model = keras.Sequential([keras.Input((3,)), *layers] if kind else layers)
    model.compile("sgd", "mse", metrics=["mae"], jit_compile=jit_compile)
    return model


def predicting(chance, graphs):
    """Keras models that are built, traced and compiled by whichever thread comes first."""
    jit_compile = chance.choice([False, "auto", "auto", True])
    model = network(chance, jit_compile)
    if jit_compile is True and chance.random() < 0.5:  # XLA on one of two is enough
        model.compile("sgd", "mse", metrics=["mae"], jit_compile=False)
    x = np.random.default_rng(0).normal(size=(6, 3)).astype("float32")
    y = x.sum(1, keepdims=True)
    was_built, predictions, losses = model.built, [], []
    yield [
        lambda: predictions.append(model.predict(x, verbose=0)),
        lambda: predictions.append(model.predict_on_batch(x)),
        lambda: predictions.append(np.asarray(model(x))),
        lambda: losses.append(model.evaluate(x, y, verbose=0)),
    ]
    expect(len(model.weights) == 8, f"{len(model.weights)} weights")
    for outputs in predictions:
        close(outputs, np.asarray(model(x)))
    error = np.asarray(model(x)) - y
    for loss in losses:
        close(loss, [np.mean(error**2), np.mean(np.abs(error))])
    wanted = {"predict_step": 1, "test_step": 1} if model.jit_compile is True else {}
    compiled = of_model(graphs.compiled, model)
    expect(compiled == wanted, f"compilations {compiled}, not {wanted}")
    traced = of_model(graphs.traced, model)  # a trace that creates variables, of layers or metrics, is repeated
    expect(traced["predict_step"] <= 1 + (not was_built) and traced["test_step"] <= 2, f"traces {traced}")


def serving(chance, graphs):
    """Models for which XLA is the choice of `jit_compile="auto"`: in advance, or in a call of many batches."""
    model = network(chance, "auto")
    x = np.random.default_rng(0).normal(size=(4 * 34, 3)).astype("float32")
    predictions = []

    def warm_up():
        model.make_predict_function().get_concrete_function(tf.TensorSpec([4, 3], tf.float32))

    short = lambda: predictions.append((model.predict_on_batch(x[:4]), 4))  # noqa: E731
    long = lambda: predictions.append((model.predict(x, batch_size=4, verbose=0), len(x)))  # noqa: E731
    yield [short, chance.choice([warm_up, long]), short]
    compiled = of_model(graphs.compiled, model)
    expect(compiled == {"predict_step": 1}, f"compilations {compiled}")
    for outputs, count in predictions:
        close(outputs, np.asarray(model(x[:count])))


def training(chance, graphs):
    """Steps of one Keras model in all threads: the optimizer counts each of them."""
    model = network(chance, chance.choice([False, "auto"]))
    x = np.random.default_rng(0).normal(size=(6, 3)).astype("float32")
    y = x.sum(1, keepdims=True)
    yield [lambda: model.train_on_batch(x, y)] * 2 + [lambda: model.predict_on_batch(x)]
    expect(int(model.optimizer.iterations) == 2 * THREADS, f"{int(model.optimizer.iterations)} steps")
    expect(np.isfinite(model.predict_on_batch(x)).all(), "weights")


# A scenario yields tasks for the threads, then checks the outcome.
SCENARIOS: tuple[Callable[[random.Random, Graphs], Iterator[list[Task]]], ...] = (
    signatures, counting, creating, retracing, recursive, drawing, predicting, serving, training,
)  # fmt: skip


def run_round(seed: int, names: list[str] | None = None) -> list[str]:
    """Runs some scenarios together in all threads; returns what went wrong."""
    chance = random.Random(seed)
    named = [scenario for scenario in SCENARIOS if scenario.__name__ in (names or ())]
    chosen = named or chance.sample(SCENARIOS, 3)
    jit_policy.settings.autoclustering = None
    sys.setswitchinterval(chance.choice([0.005, 0.0005, 0.00005]))
    with Graphs() as graphs:
        running = [(s.__name__, s(random.Random(f"{seed} {s.__name__}"), graphs)) for s in chosen]
        tasks = [(name, task) for name, steps in running for task in next(steps)]
        problems = _run_in_threads(seed, tasks)
        for name, steps in running:
            try:
                next(steps, None)
            except AssertionError:
                problems.append(f"{name}: {traceback.format_exc()}")
    return problems


def _run_in_threads(seed: int, tasks: list[tuple[str, Task]]) -> list[str]:
    """Runs all tasks in each thread, in an order of its own; returns the errors."""
    start, problems = threading.Barrier(THREADS), []

    def work(number):
        mine = list(tasks)
        random.Random(f"{seed} {number}").shuffle(mine)
        start.wait()
        for name, task in mine:
            try:
                task()
            except Exception:
                problems.append(f"{name}: {traceback.format_exc()}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return problems


def main() -> int:
    """Prints the progress and what went wrong; the exit code is 1 if anything did."""
    parser = argparse.ArgumentParser(prog="thread_stress", description=__doc__.splitlines()[0])
    parser.add_argument("scenarios", nargs="*", help="default: three of all per round")
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first round")
    options = parser.parse_args()
    tf.debugging.disable_traceback_filtering()
    tf.keras.config.disable_traceback_filtering()
    failed, began = 0, time.monotonic()
    for number in range(options.rounds):
        faulthandler.dump_traceback_later(_HANGS_S, exit=True)
        problems = run_round(options.seed + number, options.scenarios)
        failed += bool(problems)
        if problems:
            print(f"\n=== round {options.seed + number}: {len(problems)} problems, the first of which is {problems[0]}")
        if problems or (number + 1) % 10 == 0 or number + 1 == options.rounds:
            seconds = time.monotonic() - began
            print(f"{number + 1} of {options.rounds} rounds, {failed} failed, {seconds:.0f} s", flush=True)
    faulthandler.cancel_dump_traceback_later()
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
