"""Functions without `jit_compile` on a device: XLA compiles them, except for what it cannot run alone."""

import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from stand_in import MODULE

import gradtape as tf
from gradtape.graph.executors.xla.executor import XlaProgram
from gradtape.graph.function import jit_policy
from gradtape.state.device_storage import DeviceStorage

sys.path.append(str(Path(__file__).parents[1]))
from test_random_programs import Program, results

jax = pytest.importorskip("jax")


@pytest.fixture
def runs(gpu, monkeypatch):
    """The names of the XLA programs that have run."""
    names, run = [], XlaProgram.run

    def noted(self, arrays):
        names.append(self.graph.name)
        return run(self, arrays)

    monkeypatch.setattr(XlaProgram, "run", noted)
    monkeypatch.setattr(jit_policy.settings, "autoclustering", None)
    monkeypatch.setattr(jit_policy, "MIN_NODES", 1)
    return names


def messages(caplog):
    return [r.getMessage() for r in caplog.records if "not compiled by XLA" in r.getMessage()]


def test_a_function_of_device_tensors_is_compiled(runs):
    @tf.function
    def scaled(x):
        return x * 2.0 + 1.0

    x = tf.constant([1.0, 2.0])
    for _ in range(3):
        y = scaled(x)
        assert y.numpy().tolist() == [3.0, 5.0]
        assert "GPU:0" in y.device
    assert runs == ["scaled"] * 3


@pytest.mark.parametrize("argument", [[], [[1, 0]]], ids=["no argument", "an int32 tensor, which is on the host"])
def test_variables_on_a_device_suffice(runs, argument):
    v = tf.Variable([1.0, 2.0])
    python_runs = []

    @tf.function
    def step(*at):
        python_runs.append(at)
        v.assign_add(tf.gather(v, *at) if at else v)
        return tf.reduce_sum(v)

    assert type(v._storage) is DeviceStorage
    assert [step(*map(tf.constant, argument)).numpy() for _ in range(3)] == [6.0, 12.0, 24.0]
    assert runs == ["step"] * 3
    assert len(python_runs) == 2  # the first trace has found the variable


@pytest.mark.parametrize("how", [{"jit_compile": False}, {"memory_budget": 0.5}], ids=str)
def test_what_is_never_compiled(runs, how):
    f = tf.function(lambda x: x * 2.0, **how)
    for _ in range(2):
        assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    assert not runs


def test_set_jit_turns_it_off(runs):
    tf.config.optimizer.set_jit(False)
    f = tf.function(lambda x: x * 2.0)
    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    assert not runs


def test_a_function_on_the_host_is_not_compiled_by_default(runs):
    f = tf.function(lambda x: x * 2.0)
    with tf.device("/CPU:0"):
        x = tf.constant([1.0, 2.0])
    assert "CPU:0" in f(x).device
    assert not runs
    assert "GPU:0" in f(tf.constant([1.0, 2.0])).device  # the same trace, on the device
    assert len(runs) == 1
    assert "CPU:0" in f(x).device
    assert len(runs) == 1


def looped(x):
    for _ in tf.range(3):
        x = x + tf.random.uniform([2])
    return x


def collected(x):
    a, i = tf.TensorArray(tf.float32, size=0, dynamic_size=True), 0
    while tf.reduce_sum(x) < 20.0:
        x = x * 2.0
        a, i = a.write(i, x), i + 1
    return a.stack()


REFUSED = {
    "print runs in Python": lambda x: (tf.print("", end=""), x * 2.0)[1],
    "py_function runs in Python": lambda x: tf.py_function(lambda y: y * y, [x], tf.float32) + 1.0,
    "numpy_function runs in Python": lambda x: tf.numpy_function(lambda y: y * y, [x], tf.float32) + 1.0,
    "the shape of Nonzero's result depends on values": lambda x: tf.boolean_mask(x, x > 1.5) * 2.0,
    "computes with strings": lambda x: tf.strings.to_number(tf.strings.as_string(x)) + 1.0,
    "assert runs in Python": lambda x: (tf.debugging.assert_positive(x), x * 2.0)[1],
    "it draws random numbers in a branch or a loop": looped,
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_xla_cannot_run_alone_runs_op_by_op(runs, caplog, reason):
    python_function = REFUSED[reason]

    def calls():
        tf.random.set_seed(7)
        f = tf.function(python_function)
        return [f(tf.constant(x)).numpy() for x in ([1.0, 2.0], [2.0, 4.0], [3.0, 5.0])]

    found = calls()
    assert not runs
    assert [reason in line for line in messages(caplog)] == [True]
    with tf.device("/CPU:0"):
        expected = calls()
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_a_refused_function_is_differentiated(runs):
    f = tf.function(lambda x: tf.py_function(lambda y: y * y, [x], tf.float32) * x)
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, x).numpy().tolist() == [3.0, 12.0]
    assert not runs


def test_loops_that_collect_values(runs):
    f = tf.function(collected)
    for n in (1.0, 2.0, 5.0, 1.0):
        with tf.device("/CPU:0"):
            expected = tf.function(collected)(tf.constant([n, n]))
        np.testing.assert_array_equal(f(tf.constant([n, n])).numpy(), expected.numpy())


def test_a_tape_gets_both_passes_compiled(runs):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def loss(x):
        return tf.reduce_sum(x * v * v)

    for n in (1.0, 2.0):
        runs.clear()
        with tf.GradientTape() as tape:
            y = loss(tf.constant([n, 3.0]))
        gradient = tape.gradient(y, v)
        assert gradient.numpy().tolist() == [2.0 * n, 12.0]
        assert "GPU:0" in gradient.device
        assert runs == ["loss", "loss_gradient"]


def test_a_gradient_of_rows_stays_sparse(runs):
    table = tf.Variable(np.ones((4, 2), "f4"))
    f = tf.function(lambda i: tf.reduce_sum(tf.gather(table, i) ** 2))
    with tf.GradientTape() as tape:
        y = f(tf.constant([0, 2, 2]))
    gradient = tape.gradient(y, table)
    assert isinstance(gradient, tf.IndexedSlices)
    assert tf.convert_to_tensor(gradient).numpy().tolist() == [[2.0, 2.0], [0.0, 0.0], [4.0, 4.0], [0.0, 0.0]]
    assert len(runs) == 2


def test_higher_derivatives_and_jacobians(runs):
    f = tf.function(lambda x: x**3)
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        slope = inner.gradient(y, x)
    assert outer.gradient(slope, x).numpy().tolist() == [6.0, 12.0]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    assert tape.jacobian(y, x).numpy().tolist() == [[3.0, 0.0], [0.0, 12.0]]
    with tf.autodiff.ForwardAccumulator(x, tf.ones([2])) as forward:
        y = f(x)
    assert forward.jvp(y).numpy().tolist() == [3.0, 12.0]


def test_assignments_under_a_tape(runs):
    v, total = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])

    @tf.function
    def step(x):
        total.assign_add(x)
        return tf.reduce_sum(v * total)

    for expected in ([3.0, 4.0], [6.0, 8.0]):
        with tf.GradientTape() as tape:
            y = step(tf.constant([3.0, 4.0]))
        assert tape.gradient(y, v).numpy().tolist() == expected
        assert total.numpy().tolist() == expected
    assert runs == ["step", "step_gradient"] * 2


def test_random_numbers_are_those_of_the_host(runs):
    def drawn():
        tf.random.set_seed(3)
        f = tf.function(lambda x: tf.nn.dropout(x, 0.5) + tf.random.uniform([100]))
        x = tf.ones([100])
        found = [f(x), f(x)]
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            found.append(f(x))
        return [y.numpy() for y in (*found, tape.gradient(found[-1], x))]

    found = drawn()
    assert len(runs) == 4
    with tf.device("/CPU:0"):
        expected = drawn()
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_nested_functions_are_one_program(runs):
    inner = tf.function(lambda x: tf.sin(x))
    outer = tf.function(lambda x: inner(x) * 2.0)
    x = tf.constant([1.0, 2.0])
    np.testing.assert_allclose(outer(x).numpy(), 2.0 * np.sin([1.0, 2.0]), rtol=1e-6)
    assert len(runs) == 1
    np.testing.assert_allclose(inner(x).numpy(), np.sin([1.0, 2.0]), rtol=1e-6)
    assert len(runs) == 2


def test_further_shapes_are_compiled_when_they_come_again(runs):
    f = tf.function(lambda x: x * 2.0, reduce_retracing=True)
    for n in range(1, 8):
        assert f(tf.ones([n])).numpy().tolist() == [2.0] * n
    assert len(runs) == 4
    for n in range(1, 8):
        assert f(tf.ones([n])).numpy().tolist() == [2.0] * n
    assert len(runs) == 4 + 7


@pytest.mark.parametrize("narrow", ["float16", "bfloat16", "float32"])
def test_casts_to_a_narrower_float_round(runs, narrow):
    x = tf.constant(np.random.default_rng(0).normal(size=100))
    f = tf.function(lambda x: 2.0 * tf.cast(tf.cast(x, narrow), tf.float64))
    expected = 2.0 * x.numpy().astype(tf.as_dtype(narrow).as_numpy_dtype).astype(np.float64)
    for _ in range(2):
        assert f(x).numpy().tolist() == expected.tolist()
    assert runs


def test_small_functions_are_not_worth_a_program(runs, monkeypatch):
    monkeypatch.setattr(jit_policy, "MIN_NODES", 4)
    x = tf.constant([1.0, 2.0])
    small = tf.function(lambda x: tf.tanh(x * 2.0) + 1.0)
    np.testing.assert_allclose(small(x).numpy(), np.tanh([2.0, 4.0]) + 1.0, rtol=1e-6)
    assert not runs
    tf.function(lambda x: tf.tanh(x * 2.0) + tf.sin(x))(x)
    assert len(runs) == 1
    loop = tf.function(lambda x: tf.while_loop(lambda y: tf.reduce_sum(y) < 9.0, lambda y: (y * 2.0,), [x])[0])
    assert loop(x).numpy().tolist() == [4.0, 8.0]
    assert len(runs) == 2


def test_errors_have_the_same_class(runs):
    f = tf.function(lambda x, y: tf.matmul(x, y))
    x = tf.ones([2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError) as on_device:
        f(x, x)
    with tf.device("/CPU:0"), pytest.raises(type(on_device.value)):
        f(tf.ones([2, 3]), tf.ones([2, 3]))
    with pytest.raises(ZeroDivisionError):
        tf.function(lambda x: x / (1 // 0))(x)


def without(reason):
    jit_policy.is_available.cache_clear()
    f, g = tf.function(lambda x: x * 2.0), tf.function(lambda x: x * 3.0)
    x = tf.constant([1.0, 2.0])
    try:
        return [h(x).numpy().tolist() for h in (f, g, f)]
    finally:
        jit_policy.is_available.cache_clear()


def test_without_jax(runs, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "jax", None)
    assert without("JAX") == [[2.0, 4.0], [3.0, 6.0], [2.0, 4.0]]
    assert not runs
    assert len(messages(caplog)) == 1
    assert "JAX is not installed" in messages(caplog)[0]


def test_without_a_jax_for_the_device(runs, monkeypatch, caplog):
    monkeypatch.setattr(MODULE, "xla_platform", "another")
    assert without("CUDA") == [[2.0, 4.0], [3.0, 6.0], [2.0, 4.0]]
    assert not runs
    assert len(messages(caplog)) == 1
    assert "the installed JAX runs programs on the" in messages(caplog)[0]


@pytest.mark.parametrize("seed", range(8))
def test_random_programs_agree_with_eager_execution_on_the_host(gpu, seed):
    """Loops, branches, variables and arrays; gradients around and inside, and second derivatives."""
    program = Program(seed)
    draw = np.random.default_rng(seed).normal
    vectors = [[draw(size=3).astype(np.float32) for _ in range(2)] for _ in range(3)]

    def found(staged):
        s = tf.Variable([0.1, -0.2, 0.3])
        f = program.function(f"<random program {seed} on a device>", s)
        inputs = [(tf.constant(x), tf.constant(y), tf.constant(k)) for k, (x, y) in enumerate(vectors, 1)]
        return results(tf.function(f) if staged else f, s, inputs, staged)

    with tf.device("/CPU:0"):
        expected = found(staged=False)
    if not all(np.isfinite(y).all() and np.abs(y).max(initial=0.0) < 1e6 for y in expected):
        pytest.skip("its numbers are too large to compare")
    for got, want in zip(found(staged=True), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-4, err_msg=program.source)


def test_functions_see_the_present_values_of_tensors_that_they_were_given_before(gpu):
    double = tf.function(lambda x: 2.0 * x, jit_compile=True)
    v = tf.Variable([1.0, 2.0])
    for rounds in range(1, 4):
        x = v.read_value()
        for _ in range(3):
            assert double(x).numpy().tolist() == [2.0 * rounds, 2.0 + 2.0 * rounds]
        assert double(double(x)).numpy().tolist() == [4.0 * rounds, 4.0 + 4.0 * rounds]
        v.assign_add([1.0, 1.0])
        assert x.numpy().tolist() == [1.0 * rounds, 1.0 + rounds]


@pytest.mark.parametrize("is_result", [False, True])
def test_tensors_given_to_functions_are_freed(gpu, is_result):
    double = tf.function(lambda x: 2.0 * x, jit_compile=True)
    given = tf.ones([1 << 20])
    if is_result:
        given = double(given)
    for _ in range(3):
        double(given)
    buffer = weakref.ref(given.buffer)
    del given
    assert buffer() is None


@pytest.mark.parametrize("watch", [False, True])
def test_other_threads_run_op_by_op_while_one_compiles(runs, watch, monkeypatch):
    began, may_end = threading.Event(), threading.Event()
    built = XlaProgram._built

    def waits(self, *arguments):
        began.set()
        assert may_end.wait(60)
        return built(self, *arguments)

    monkeypatch.setattr(XlaProgram, "_built", waits)
    f, x = tf.function(lambda x: tf.reduce_sum(tf.tanh(x) * x)), tf.constant([1.0, 2.0])

    def call():
        with tf.GradientTape() as tape:
            if watch:
                tape.watch(x)
            y = f(x)
        return float(tf.reduce_sum(tape.gradient(y, x)) if watch else y)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(call)
        try:
            assert began.wait(60)
            other = pool.submit(call).result(60)
            assert not runs and not first.done()
        finally:
            may_end.set()
        assert first.result(60) == pytest.approx(other, rel=1e-5)
    assert len(runs) == 1 + watch


def test_get_concrete_function_compiles_for_the_device(runs, monkeypatch):
    compiled, built = [], XlaProgram._built
    monkeypatch.setattr(
        XlaProgram, "_built", lambda self, *args: (compiled.append(self.graph.name), built(self, *args))[1]
    )
    total = tf.Variable([0.0])

    @tf.function
    def step(x):
        total.assign_add(tf.reduce_sum(x, keepdims=True))
        return x * 2.0

    sizes = range(2, jit_policy._COMPILED_AT_ONCE + 4)  # the last ones are not compiled in their first call otherwise
    for size in sizes:
        step.get_concrete_function(tf.TensorSpec([size], tf.float32))
    assert compiled == ["step"] * len(sizes) and not runs
    for size in sizes:
        step(tf.ones([size]))
    assert compiled == runs == ["step"] * len(sizes) and float(total[0]) == sum(sizes)
