"""`jit_compile=True`: calls, variables, random numbers, side effects, loops and failures under XLA."""

import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from small_graphs import Builder

import gradtape as tf
from gradtape import ops
from gradtape.core.extras import is_installed
from gradtape.graph.executors.xla import executor
from gradtape.graph.executors.xla.executor import compile_graph
from gradtape.graph.executors.xla.interrupts import uninterrupted
from gradtape.graph.ir.effects import Changed, guard
from gradtape.graph.ir.graph import Graph, Node

jax = pytest.importorskip("jax")
ops.load_all()


def compiled(f):
    return tf.function(f, jit_compile=True)


def test_the_first_call_and_those_after_it_agree():
    f = compiled(lambda x, y: (tf.tanh(x) @ y, tf.reduce_sum(x)))
    x, y = tf.constant([[1.0, 2.0]]), tf.constant([[3.0], [4.0]])
    for _ in range(3):
        product, total = f(x, y)
        np.testing.assert_allclose(product.numpy(), np.tanh([[1.0, 2.0]]) @ [[3.0], [4.0]], rtol=1e-6)
        assert total.numpy() == 3.0


def test_an_input_that_comes_again_may_be_followed_by_another():
    f = compiled(lambda x, y: x - y)
    x, y = tf.constant([5.0, 6.0]), tf.constant([1.0, 1.0])
    for _ in range(4):
        assert f(x, y).numpy().tolist() == [4.0, 5.0]
    assert f(y, y).numpy().tolist() == [0.0, 0.0]
    assert f(x, x).numpy().tolist() == [0.0, 0.0]
    assert f(x, y).numpy().tolist() == [4.0, 5.0]


def test_calls_on_the_same_tensors_are_calls_like_any_other():
    """They take a fast path once the tensors are on the device: not for tapes, other arguments, or eager execution."""
    traces = []

    def square(x, y=None):
        traces.append(1)
        return x * x if y is None else x * y

    f = compiled(square)
    x, array = tf.constant(3.0), np.float32([1.0, 2.0])
    for _ in range(4):
        assert f(x).numpy() == 9.0
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert tape.gradient(y, x).numpy() == 6.0
        assert f(tf.constant(4.0)).numpy() == 16.0
        assert f(x, tf.constant(2.0)).numpy() == 6.0
        assert tf.function(lambda x: f(x) + f(x))(x).numpy() == 18.0
        assert f(array).numpy().tolist() == (array**2).tolist()
        array += 1
    with pytest.raises(TypeError, match="missing"):
        f()
    count = len(traces)
    tf.config.run_functions_eagerly(True)
    try:
        f(x)
    finally:
        tf.config.run_functions_eagerly(False)
    assert len(traces) == count + 1


def test_numbers_of_64_bits_inside_a_program_of_smaller_ones_stay_so():
    f = compiled(lambda x: tf.cast(tf.cast(x, tf.float64) + 1e-12 - tf.cast(x, tf.float64), tf.float32))
    for _ in range(4):
        np.testing.assert_allclose(f(tf.constant(0.5)).numpy(), 1e-12, rtol=1e-3)


def test_a_variable_whose_value_is_an_input_may_change_in_place():
    f = compiled(lambda x: x * 2)
    v = tf.Variable([1.0, 2.0])
    for i in range(5):
        assert f(v.value()).numpy().tolist() == [2.0 + 2 * i, 4.0 + 2 * i]
        v.assign_add([1.0, 1.0])


def test_64_bit_values_stay_so_and_the_users_jax_is_left_alone():
    f = compiled(lambda x, n: (x / 3, n + 1))
    x, n = tf.constant(1.0, tf.float64), tf.constant(2**40, tf.int64)
    for _ in range(3):
        third, more = f(x, n)
        assert third.numpy() == 1 / 3
        assert more.numpy() == 2**40 + 1
    assert jax.numpy.asarray(1.0).dtype == np.float32


def counter():
    v = tf.Variable([1.0, 2.0])

    @compiled
    def step(x):
        v.assign_add(x)
        return v * 2

    step(tf.constant([0.0, 0.0]))
    return v, step


def on_device(v):
    return isinstance(v._storage.latest(), jax.Array)


def test_variables_stay_on_the_device_until_somebody_looks():
    v, step = counter()
    x = tf.constant([1.0, 1.0])
    assert step(x).numpy().tolist() == [4.0, 6.0]
    assert on_device(v)
    assert v.shape == (2,)
    step(x)
    assert on_device(v)
    assert v.numpy().tolist() == [3.0, 4.0]
    assert not on_device(v)
    assert step(x).numpy().tolist() == [8.0, 10.0]


def test_eager_assignments_between_runs_count():
    v, step = counter()
    x = tf.constant([1.0, 1.0])
    step(x)
    v.assign([10.0, 20.0])
    assert step(x).numpy().tolist() == [22.0, 42.0]
    v.assign_add([1.0, 1.0])
    assert step(x).numpy().tolist() == [26.0, 46.0]
    for _ in range(3):
        v.assign_sub([1.0, 1.0])  # on NumPy's side, in place
    assert step(x).numpy().tolist() == [22.0, 42.0]


def test_what_was_read_keeps_its_value_when_the_memory_is_reused():
    v, step = counter()
    x = tf.constant([1.0, 1.0])
    y = step(x)
    before = v.value()
    array = np.asarray(before)
    for _ in range(3):
        step(x)
    assert y.numpy().tolist() == [4.0, 6.0]
    assert array.tolist() == before.numpy().tolist() == [2.0, 3.0]
    assert v.numpy().tolist() == [5.0, 6.0]


def test_a_variable_on_the_device_pickles_and_is_watched():
    v, step = counter()
    step(tf.constant([1.0, 1.0]))
    assert pickle.loads(pickle.dumps(v)).numpy().tolist() == [2.0, 3.0]
    step(tf.constant([1.0, 1.0]))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
    assert tape.gradient(y, v).numpy().tolist() == [6.0, 8.0]


def test_a_variable_that_is_only_read_is_copied_once():
    v = tf.Variable([1.0, 2.0])
    f = compiled(lambda: v * 2)
    for _ in range(3):
        f()
    copy = v._storage.buffer
    assert copy is not None
    f()
    assert v._storage.buffer is copy
    v.assign([3.0, 4.0])
    assert f().numpy().tolist() == [6.0, 8.0]


def test_threads_share_a_program_that_gives_memory_on():
    v = tf.Variable(np.zeros(1000, np.float32))
    step = compiled(lambda: v.assign_add(tf.ones(1000)) + 0.0)
    step()
    step()

    def work():
        for _ in range(20):
            step()
            v.numpy()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert v.numpy()[0] == 62.0


def test_a_guard_that_fails_leaves_variables_as_they_were():
    v = tf.Variable(1.0)
    builder = Builder()
    n = builder.input(np.int32(3))
    held = builder.input(np.float32(1.0))
    more = builder.op("add", held, np.float32(1.0))
    nodes = (*builder.nodes, Node(guard, (n,), {"value": np.int32(3)}, (), True))
    program = compile_graph(Graph("step", (n,), nodes, (more,), ((v, held),), ((v, more),)).verify())
    assert program([np.int32(3)]) == [2.0]
    with pytest.raises(Changed):
        program([np.int32(4)])
    assert v.numpy() == 2.0
    assert program([np.int32(3)]) == [3.0]


def test_random_numbers_are_those_of_the_other_executor():
    def draws():
        return tf.random.uniform((3,)), tf.random.normal((2, 2)), tf.random.truncated_normal((5,), dtype=tf.float64)

    def drawn(jit_compile):
        tf.random.set_seed(7)
        f = tf.function(draws, jit_compile=jit_compile)
        return [[part.numpy() for part in f()] for _ in range(3)]

    for ours, theirs in zip(drawn(True), drawn(False), strict=True):
        for x, y in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-6)
    assert drawn(True)[1][0].tolist() != drawn(True)[2][0].tolist()


def test_random_numbers_in_a_loop():
    def total():
        s = 0.0
        for _ in tf.range(3):
            s += tf.random.uniform(())
        return s

    def drawn(jit_compile):
        tf.random.set_seed(7)
        f = tf.function(total, jit_compile=jit_compile)
        return [float(f()) for _ in range(3)]

    np.testing.assert_allclose(drawn(True), drawn(False), rtol=1e-6)


def test_effects_happen_in_order(capfd):
    @compiled
    def f(x):
        tf.print("first", x, output_stream=sys.stdout)
        y = x + 1
        tf.print("second", y, output_stream=sys.stdout)
        return y

    for i in range(3):
        assert f(tf.constant(i)).numpy() == i + 1
    lines = capfd.readouterr().out.split("\n")
    assert lines[:6] == ["first 0", "second 1", "first 1", "second 2", "first 2", "second 3"]


def test_an_op_on_the_host_raises_its_own_error(capfd):
    f = compiled(lambda x: tf.debugging.check_numerics(1 / x, "a quotient"))
    assert f(tf.constant(2.0)).numpy() == 0.5
    assert f(tf.constant(4.0)).numpy() == 0.25
    with pytest.raises(tf.errors.InvalidArgumentError, match="a quotient"):
        f(tf.constant(0.0))
    assert "Traceback" not in capfd.readouterr().err
    assert f(tf.constant(2.0)).numpy() == 0.5


def test_shapes_that_depend_on_values():
    f = compiled(lambda x: tf.where(x > 0))
    for x in ([1.0, -1.0, 2.0], [1.0, -1.0, 2.0], [-1.0, 1.0, 2.0], [1.0, 1.0, 2.0], [1.0, 1.0, 2.0]):
        assert f(tf.constant(x)).numpy().ravel().tolist() == np.flatnonzero(np.array(x) > 0).tolist()


def test_choices():
    @compiled
    def f(x):
        if tf.reduce_sum(x) > 0:
            return x * 2
        return x - 1

    for x in ([1.0, 2.0], [-1.0, -2.0], [1.0, 2.0], [-3.0, 1.0]):
        assert f(tf.constant(x)).numpy().tolist() == [2 * v if sum(x) > 0 else v - 1 for v in x]


def doubled_until(x, limit):
    while tf.reduce_sum(x) < limit:
        x = x * 2
    return x


def running(rows):
    state = tf.zeros(3)
    for row in rows:
        state = tf.tanh(state + row)
    return state


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (doubled_until, (np.float32([1.0, 2.0]), np.float32(50.0))),
        (running, (np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3),)),
    ],
)
def test_loops_and_their_gradients(f, args):
    def value_and_gradient(*args):
        with tf.GradientTape() as tape:
            tape.watch(args[0])
            y = f(*args)
        return y, tape.gradient(y, args[0])

    tensors = [tf.constant(a) for a in args]
    program, plain = compiled(value_and_gradient), tf.function(value_and_gradient)
    for _ in range(3):
        for x, y in zip(program(*tensors), plain(*tensors), strict=True):
            np.testing.assert_allclose(x.numpy(), y.numpy(), rtol=1e-5)
    if f is doubled_until:  # another number of iterations
        tensors[1] = tf.constant(500.0)
        for x, y in zip(program(*tensors), plain(*tensors), strict=True):
            np.testing.assert_allclose(x.numpy(), y.numpy(), rtol=1e-5)


def test_large_constants_are_passed_in():
    table = tf.constant(np.arange(1 << 16, dtype=np.float32).reshape(-1, 4))
    f = compiled(lambda i: tf.gather(table, i))
    for i in (3, 3, 5):
        assert f(tf.constant(i)).numpy().tolist() == [4.0 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3]


def test_all_deferred_signals_arrive_even_if_a_handler_raises(interruptible):
    came = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: came.append(number))
    try:
        with pytest.raises(KeyboardInterrupt), uninterrupted():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGUSR1)
            assert not came
        assert came == [signal.SIGUSR1]
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_an_interrupt_waits_until_variables_have_their_values(monkeypatch, interruptible):
    def build_interrupted(program, *args, build=executor.XlaProgram._built):
        built = build(program, *args)

        def run(*arrays):
            results = built.call(*arrays)
            signal.raise_signal(signal.SIGINT)
            return results

        return built._replace(call=run)

    monkeypatch.setattr(executor.XlaProgram, "_built", build_interrupted)
    monkeypatch.setattr(executor, "_FEW", 1)
    v = tf.Variable([1.0, 2.0])
    double = compiled(lambda: v.assign_add(v))
    for expected in ([2.0, 4.0], [4.0, 8.0], [8.0, 16.0]):
        with pytest.raises(KeyboardInterrupt):
            double()
        assert v.numpy().tolist() == expected
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_strings_are_refused_in_words():
    f = compiled(lambda x: (x, tf.constant("a")))
    with pytest.raises(tf.errors.InvalidArgumentError, match="XLA knows no strings"):
        f(tf.constant(1.0))


def test_without_jax_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    builder = Builder()
    with pytest.raises(ImportError, match=r"pip install 'jax>=0.8'"):
        compile_graph(builder.graph(builder.input(np.float32(1.0))))


def test_a_lack_of_memory_has_tensorflows_class():
    import jax

    v = tf.Variable([1.0, 2.0])
    f = tf.function(lambda x: v.assign_add(x), jit_compile=True)
    f(tf.constant([1.0, 1.0]))
    ((variant,),) = next(iter(f._concretes.values())).variants()
    program = variant._program

    def exhausted(*arrays):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 8 bytes")

    compiled = program._compiled
    program._compiled = compiled._replace(call=exhausted)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="no memory left"):
        f(tf.constant([1.0, 1.0]))
    assert v.numpy().tolist() == [2.0, 3.0]
    program._compiled = compiled
    f(tf.constant([1.0, 1.0]))
    assert v.numpy().tolist() == [3.0, 4.0]


def test_a_run_that_fails_when_it_has_taken_the_memory_can_be_repeated():
    v = tf.Variable(np.zeros(1 << 20, np.float32))
    f = compiled(lambda x: v.assign_add(x))
    x = tf.ones(1 << 20)
    f(x)
    ((variant,),) = next(iter(f._concretes.values())).variants()
    program = variant._program
    v.assign(tf.ones(1 << 20))

    whole = program._compiled

    def failing(*arrays):
        whole.call(*arrays)
        raise RuntimeError("the device is gone")

    program._compiled = whole._replace(call=failing)
    with pytest.raises(RuntimeError, match="gone"):
        f(x)
    program._compiled = whole
    assert v.numpy()[0] == 1.0
    f(x)
    assert v.numpy()[0] == 2.0


def test_compile_runs_a_computation_once():
    """As in TensorFlow: one value is returned in a list, a structure unchanged."""
    v = tf.Variable(2.0)
    assert [float(y) for y in tf.xla.experimental.compile(lambda x: x * v, [3.0])] == [6.0]
    found = tf.xla.experimental.compile(lambda x, y: (x, {"a": y["b"] + 1}), [1, {"b": tf.constant(2)}])
    assert int(found[0]) == 1 and int(found[1]["a"]) == 3
    assert float(tf.xla.experimental.compile(lambda: v.assign_add(1.0))[0]) == 3.0 == float(v)
    assert float(tf.function(lambda x: tf.xla.experimental.compile(tf.square, [x])[0])(tf.constant(3.0))) == 9.0
    with pytest.raises(TypeError, match="inputs must be a list"):
        tf.xla.experimental.compile(lambda x: x, 2.0)
    with pytest.raises(TypeError, match="not callable"):
        tf.xla.experimental.compile(3, [2.0])
    with pytest.raises(ValueError, match="None values not supported"):
        tf.xla.experimental.compile(lambda: (None, tf.constant(1.0)))
    with pytest.raises(RuntimeError, match="not supported when eager"), tf.xla.experimental.jit_scope():
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_forked_after_xla_was_started_says_so():
    code = """
import os, gradtape as tf
double = tf.function(lambda x: x * 2.0, jit_compile=True)
triple = tf.function(lambda x: x * 3.0, jit_compile=True)
double(tf.constant(1.0))
for f in (double, triple):
    child = os.fork()
    if not child:
        try:
            f(tf.constant(1.0))
        except RuntimeError as error:
            os._exit(7 if "spawn" in str(error) else 1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print(float(double(tf.constant(2.0))))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "4.0\n", done.stderr[-2000:]


@pytest.mark.skipif(not (hasattr(os, "fork") and is_installed("keras")), reason="needs fork and Keras")
def test_a_step_that_keras_has_compiled_by_itself_runs_on_numpy_in_a_forked_process():
    code = """
import os, gradtape as tf, numpy as np
model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
x = np.ones((40, 2), "float32")
model.fit(x, x[:, :1], batch_size=1, verbose=0)  # XLA compiles the step after 32 batches
model.predict(x, batch_size=1, verbose=0)
child = os.fork()
if not child:
    model.fit(x, x[:, :1], batch_size=1, verbose=0)
    os._exit(model.predict(x, batch_size=1, verbose=0).shape[0])
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "40\n", done.stderr[-2000:]
