"""Functions and training loops on a device, or on PyTorch's CPU device without one."""

import tracemalloc
import weakref

import numpy as np
import pytest
from stand_in import MODULE, ON_GPU, on_host

import gradtape as tf
from gradtape.graph.executors.xla.executor import XlaProgram
from gradtape.graph.function.observers import look
from gradtape.state.device_storage import DeviceStorage


def trained(function=None):
    """Returns what a small network learns in a few steps, and other results of a tape."""
    rng = np.random.default_rng(0)
    w, b, v = (tf.Variable(rng.normal(size=s).astype("f") / 4) for s in [(8, 16), (16,), (16, 4)])
    x, labels = tf.constant(rng.normal(size=(32, 8)).astype("f")), tf.constant(rng.integers(0, 4, 32))

    def step(x, labels):
        with tf.GradientTape() as tape:
            logits = tf.matmul(tf.nn.gelu(tf.matmul(x, w) + b), v)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        for variable, gradient in zip([w, b, v], tape.gradient(loss, [w, b, v]), strict=True):
            variable.assign_sub(0.5 * gradient)
        return loss

    step = step if function is None else function(step)
    results = [step(x, labels).numpy() for _ in range(4)]
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.tanh(tf.matmul(x, w)) ** 3)
        slope = inner.gradient(y, x)
        steep = tf.reduce_sum(slope * slope)
    results.append(outer.gradient(steep, x).numpy())
    with tf.GradientTape() as tape:
        tape.watch(x)
        rows = tf.reduce_sum(tf.sin(x), axis=1)
    results.append(tape.jacobian(rows, x).numpy())
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as forward:
        y = tf.reduce_sum(tf.sin(tf.matmul(x, w)))
    results.append(forward.jvp(y).numpy())
    return [*results, w.numpy()]


@pytest.mark.parametrize(
    "function", [None, tf.function, lambda f: tf.function(f, jit_compile=True)], ids=["eager", "function", "xla"]
)
def test_a_training_loop(function, request):
    with on_host():
        expected = trained(function)
    request.getfixturevalue("gpu")
    for got, value in zip(trained(function), expected, strict=True):
        np.testing.assert_allclose(got, value, rtol=2e-4, atol=2e-5)


def test_a_function_is_recorded_by_a_tape(gpu):
    v = tf.Variable([1.0, 2.0])
    for jit in (False, True):
        f = tf.function(lambda x: tf.reduce_sum(x * v), jit_compile=jit)
        for _ in range(3):
            with tf.GradientTape() as tape:
                y = f(tf.constant([3.0, 4.0]))
            assert tape.gradient(y, v).numpy().tolist() == [3.0, 4.0]


def test_every_call_of_a_function_gives_tensors_in_the_same_place(gpu):
    v = tf.Variable([1.0, 2.0])
    with tf.device("/CPU:0"):
        here = tf.constant([3.0, 4.0])
    for f in (tf.function(lambda x: v + x), tf.function(lambda x: v * 1.0)):
        assert ["GPU:0" in f(here).device for _ in range(3)] == [True] * 3


def test_python_code_in_functions_is_differentiated(gpu):
    f = tf.function(lambda x: tf.py_function(lambda y: y * y * y, [x], tf.float32))
    x = tf.constant([1.0, 2.0])
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert tape.gradient(y, x).numpy().tolist() == [3.0, 12.0]


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("lifted", [False, True])
@pytest.mark.parametrize("initial", [lambda x: [1.0, 2.0], lambda x: 2.0 * x - 1.0], ids=["list", "tensor"])
def test_variables_made_in_functions_are_there(gpu, jit, lifted, initial):
    made = []

    @tf.function(jit_compile=jit, autograph=False)
    def f(x):
        if not made or not lifted:
            made.append(tf.Variable(initial(x), experimental_enable_variable_lifting=lifted))
        made[-1].assign_add(x)
        return made[-1] * 1.0

    results = [f(tf.constant([1.0, 1.5])).numpy().tolist() for _ in range(3)]
    assert results == ([[2.0, 3.5], [3.0, 5.0], [4.0, 6.5]] if lifted else [[2.0, 3.5]] * 3)
    assert type(made[-1]._storage) is DeviceStorage


def test_control_flow_in_functions(gpu):
    @tf.function
    def f(x):
        for _ in tf.range(3):
            x = tf.where(x > 0.0, x * 2.0, x - 1.0)
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x, lambda: -x)

    for _ in range(2):
        assert f(tf.constant([1.0, -1.0])).numpy().tolist() == [8.0, -4.0]


@pytest.mark.parametrize("jit", [False, True])
def test_a_tape_watches_what_a_function_closes_over(gpu, jit):
    x = tf.constant([1.0, 2.0])
    with tf.device("/CPU:0"):
        here = tf.constant([3.0, 4.0])
    f = tf.function(lambda y: y * (x * x) * here, jit_compile=jit)
    f(tf.ones([2]))  # without observers
    with tf.GradientTape() as tape:
        tape.watch([x, here])
        y = f(tf.ones([2]))
    of_x, of_here = tape.gradient(y, [x, here])
    assert of_x.numpy().tolist() == [6.0, 16.0]
    assert of_here.numpy().tolist() == [1.0, 4.0]


def test_the_gradient_by_way_of_a_branch_not_taken_is_zero(gpu):
    f = tf.function(lambda x, p: tf.cond(p, lambda: 2.0 * x, lambda: tf.constant([3.0, 4.0])))
    for taken, expected in ((True, [2.0, 2.0]), (False, [0.0, 0.0])):
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, tf.constant(taken))
        assert tape.gradient(y, x).numpy().tolist() == expected


def test_values_that_matter_are_looked_at_there(gpu, caplog):
    x = tf.constant([[-1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(check="nan") as tape:
        tape.watch(x)
        y = tf.math.log(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"It began in tf\.math\.log"):
        tape.gradient(y, x)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.math.log(x)
        sums = x * tf.reduce_sum(x, 0)
    with pytest.warns(RuntimeWarning, match="NaN itself"):
        tape.gradient(y, x, nan_safe=True)
    tape.batch_jacobian(sums, x)
    assert "depend on other rows" in caplog.text


def test_an_update_of_variables_is_one_program(gpu, monkeypatch):
    """An update like Adam's: a dozen ops with three results."""
    v, m, s = (tf.Variable(x) for x in ([1.0, 2.0], [0.0, 0.0], [0.0, 0.0]))

    def update(g, rate):
        m.assign_add(0.1 * (g - m))
        s.assign_add(0.001 * (g * g - s))
        v.assign_sub(rate * m / (tf.sqrt(s) + 1e-7))

    launched, run = [], XlaProgram.run
    monkeypatch.setattr(XlaProgram, "run", lambda self, given: (launched.append(self.graph.name), run(self, given))[1])
    step = tf.function(update)
    g, rate = tf.constant([0.5, -1.0]), tf.constant(0.01)
    step(g, rate)
    step(g, rate)
    launched.clear()
    step(g, rate)
    assert launched == ["update"]
    with on_host():
        expected = [np.float32([1.0, 2.0]), np.zeros(2, "f"), np.zeros(2, "f")]
        for _ in range(3):
            expected[1] += 0.1 * (g.numpy() - expected[1])
            expected[2] += 0.001 * (g.numpy() ** 2 - expected[2])
            expected[0] -= 0.01 * expected[1] / (np.sqrt(expected[2]) + 1e-7)
    for variable, value in zip((v, m, s), expected, strict=True):
        np.testing.assert_allclose(variable.numpy(), value, rtol=1e-5)


def test_what_cannot_be_one_launch_is_several(gpu):
    x = tf.constant([1.0, 2.0])
    f = tf.function(lambda x: tf.exp(x**x) * 2.0 + tf.cast(tf.cast(x, tf.complex64), tf.float32))
    for _ in range(3):
        np.testing.assert_allclose(f(x).numpy(), np.exp([1.0, 4.0]) * 2 + [1, 2], rtol=1e-5)


def test_a_function_keeps_to_a_memory_budget(gpu):
    rng = np.random.default_rng(0)
    weights = [tf.Variable(rng.normal(size=(16, 16)).astype("f4") / 3) for _ in range(30)]
    x = tf.constant(rng.normal(size=(1024, 16)).astype("f4"))

    def gradients(x):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.nn.relu(h @ w)
            loss = tf.reduce_mean(h * h)
        return tape.gradient(loss, weights)

    def taken(budget):
        f = tf.function(gradients, memory_budget=budget, jit_compile=False)
        f(x)
        tracemalloc.start()
        found = f(x)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return [g.numpy() for g in found], peak

    expected, plain = taken(None)
    found, less = taken(0.25)
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    block = 4 * 1024 * 16
    if not ON_GPU:  # tracemalloc sees the arrays of the fake
        assert plain < 40 * block  # a value is freed after its last use
        assert less < 1.05 * 0.25 * plain + 5 * block


@pytest.mark.parametrize("jit", [False, True])
def test_observers_of_a_function_see_its_runs_on_a_device(gpu, jit):
    seen = []

    @tf.function(jit_compile=jit, autograph=False)
    def f(x):
        y = x * x
        look([y], lambda arrays: seen.append(arrays[0].tolist()), lambda: True, lambda: None)
        return y + 1.0

    for n in (1.0, 2.0, 3.0):
        assert f(tf.constant([n])).numpy().tolist() == [n * n + 1.0]
    assert seen == [[1.0], [4.0], [9.0]]


def test_what_a_program_reads_is_kept_until_it_has_ended():
    class Result:
        nbytes, ready = 4, False

        def is_ready(self):
            return self.ready

        def is_deleted(self):
            return False

    class Array:
        pass

    first, array = Result(), Array()
    kept = weakref.ref(array)
    MODULE.lend([array], [first])
    del array
    MODULE.lend([], [])
    assert kept() is not None
    first.ready = True
    MODULE.lend([], [])
    assert kept() is None
