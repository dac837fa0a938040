"""An interrupt at any line: the next step is correct, and no recorder stays active."""

import gc
import linecache
import os
import random
import subprocess
import sys
import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.scopes import holding
from gradtape.engine.memory import spilling
from gradtape.engine.memory.store import Store
from gradtape.engine.run import dispatch, randomness

HOME = os.path.dirname(tf.__file__)
# With GRADTAPE_ALL_INTERRUPTS=1, all lines; without, so many lines of a step, and every third one of a dataset.
TRIED = 150
STRIDE = 1 if os.environ.get("GRADTAPE_ALL_INTERRUPTS") else 3


def _is_out_of_reach(frame):
    """Returns whether Python may be between the end of a block and its `__exit__`, which would then never run."""
    code = frame.f_code
    if code in (dispatch.Block.__exit__.__code__, holding.__exit__.__code__):
        return frame.f_lineno == code.co_firstlineno + 1
    return linecache.getline(code.co_filename, frame.f_lineno).lstrip().startswith("with ")


class Interrupter:
    """Raises KeyboardInterrupt before line number `at` of gradtape's lines in the block; counts them."""

    def __init__(self, at=None):
        self.at = at
        self.lines = 0
        self.where = None

    def follow(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(HOME):
            return None
        if event == "line" and not _is_out_of_reach(frame):
            if self.lines == self.at and self.where is None:
                self.where = (os.path.relpath(frame.f_code.co_filename, HOME), frame.f_code.co_qualname, frame.f_lineno)
                sys.settrace(None)
                raise KeyboardInterrupt
            self.lines += 1
        return self.follow

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self.follow)
        return self

    def __exit__(self, *_):
        sys.settrace(self.before)


class Step:
    """A step of gradient descent on `v`, which moves from `value` to `value - 0.5 * slope`."""

    def __init__(self):
        self.v = tf.Variable([1.0, -2.0, 3.0])
        self.x = tf.constant([0.5, 1.5, 2.5])

    def loss(self):
        return tf.reduce_sum(tf.tanh(self.v * self.x) ** 2)

    def slope(self, value):
        t = np.tanh(value * self.x.numpy())
        return 2 * t * (1 - t * t) * self.x.numpy()

    def restart(self):
        self.v.assign([1.0, -2.0, 3.0])

    def run(self):
        with tf.GradientTape() as tape:
            loss = self.loss()
        self.v.assign_sub(0.5 * tape.gradient(loss, self.v))


class InFunction(Step):
    def __init__(self):
        super().__init__()
        self.run = tf.function(super().run)


class FunctionUnderTape(Step):
    def __init__(self):
        super().__init__()
        self.loss = tf.function(super().loss)


class Nested(Step):
    def run(self):
        with tf.GradientTape(persistent=True) as outer:
            with tf.GradientTape() as inner:
                loss = self.loss()
            g = inner.gradient(loss, self.v)
        assert outer.gradient(g, self.v) is not None
        self.v.assign_sub(0.5 * g)


class Forward(Step):
    def run(self):
        columns = []
        for i in range(3):
            with tf.autodiff.ForwardAccumulator(self.v, tf.one_hot(i, 3)) as accumulator:
                loss = self.loss()
            columns.append(accumulator.jvp(loss))
        self.v.assign_sub(0.5 * tf.stack(columns))


STEPS = {"eager": Step, "function": InFunction, "function under a tape": FunctionUnderTape, "nested": Nested,
         "forward": Forward}  # fmt: skip


def assert_nobody_is_left():
    thread = dispatch.thread
    assert thread.recorders == ()
    assert thread.recorder is dispatch.thread.base  # of a live traced tape elsewhere
    assert thread.trace is None
    assert not thread.exited


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_the_step_after_an_interrupt_is_right(step):
    step = step()
    for _ in range(3):
        step.run()
    step.restart()
    with Interrupter() as counted:
        step.run()
    after = step.v.numpy()
    lines = range(counted.lines)
    if not os.environ.get("GRADTAPE_ALL_INTERRUPTS"):
        lines = sorted(random.Random(7).sample(lines, min(TRIED, len(lines))))
    for at in lines:
        step.restart()
        before = step.v.numpy()
        with Interrupter(at) as interrupter:
            try:
                step.run()
            except KeyboardInterrupt:
                pass
        try:
            assert_nobody_is_left()
            found = step.v.numpy()
            assert any(np.array_equal(found, value) for value in (before, after)), "a variable is half updated"
            step.run()
            np.testing.assert_allclose(step.v, found - 0.5 * step.slope(found), rtol=1e-5, atol=1e-6)
            assert_nobody_is_left()
        except AssertionError as error:
            raise AssertionError(f"after an interrupt at {interrupter.where}: {error}") from error


@pytest.mark.parametrize("jit_compile", [False, True])
def test_an_interrupt_leaves_no_variable_behind_the_others(jit_compile):
    """Either all variables that a function updates have changed, or none."""
    variables = [tf.Variable(float(i)) for i in range(5)]

    @tf.function(jit_compile=jit_compile)
    def step(by):
        for v in variables:
            v.assign_add(by)

    step(tf.constant(0.0))
    step(tf.constant(0.0))
    at = 0
    while at is not None:
        for i, v in enumerate(variables):
            v.assign(float(i))
        step(tf.constant(1.0))  # XLA's variables are on the device from now on
        with Interrupter(at) as interrupter:
            try:
                step(tf.constant(1.0))
            except KeyboardInterrupt:
                pass
        moved = {float(v) - i for i, v in enumerate(variables)}
        assert moved in ({1.0}, {2.0}), f"after an interrupt at {interrupter.where}"
        at = None if interrupter.where is None else at + 1


def interrupted_at_lines(work, stride=1):
    """Runs `work` repeatedly, interrupted `stride` lines later each time; yields the position."""
    at = 0
    while at is not None:
        with Interrupter(at) as interrupter:
            try:
                work()
            except KeyboardInterrupt:
                pass
        yield interrupter.where
        at = None if interrupter.where is None else at + stride


def threads_of_prefetching():
    return [thread for thread in threading.enumerate() if thread.name == "gradtape-prefetch"]


PIPELINES = {
    "prefetch": lambda data: data.prefetch(2),
    "two prefetches": lambda data: data.prefetch(1).map(lambda x: x + 1).prefetch(1),
    "map": lambda data: data.map(lambda x: x + 1, num_parallel_calls=2).prefetch(1),
    "interleave": lambda data: data.interleave(lambda x: tf.data.Dataset.range(x).prefetch(1), num_parallel_calls=2),
}


@pytest.mark.parametrize("pipeline", PIPELINES.values(), ids=PIPELINES)
def test_an_interrupt_leaves_no_thread_of_a_dataset_behind(pipeline):
    data = pipeline(tf.data.Dataset.range(4))
    expected = [int(x) for x in data]
    for where in interrupted_at_lines(lambda: [int(x) for x in data], STRIDE):
        for thread in threads_of_prefetching():
            thread.join(10)
        assert not threads_of_prefetching(), f"after an interrupt at {where}"
        assert randomness._thread.streams is None, f"after an interrupt at {where}"
    assert [int(x) for x in data] == expected


def test_an_iterator_goes_on_after_an_interrupt():
    data = tf.data.Dataset.range(6).prefetch(1)
    at = 0
    while at is not None:
        iterator, found = iter(data), []
        with Interrupter(at) as interrupter:
            try:
                found.append(int(next(iterator)))
                found.append(int(next(iterator)))
            except KeyboardInterrupt:
                pass
        found += [int(x) for x in iterator]
        assert len(found) >= 5 and found == sorted(set(found)), f"after an interrupt at {interrupter.where}"
        at = None if interrupter.where is None else at + 1


def test_an_interrupt_leaves_no_spill_folder_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(spilling, "_BYTES_A_SECOND", 1e15)
    monkeypatch.setattr(spilling, "_AN_ACCESS", 0.0)
    monkeypatch.setattr(Store, "least_limit", 0)
    v = tf.Variable(tf.ones(5000))

    def step():
        with tf.GradientTape(memory_budget=0.3, spill=tmp_path) as tape:
            x = v * 2.0
            for _ in range(4):
                x = tf.tanh(x) * x
        tape.gradient(x, v)

    step()
    with Interrupter() as counted:
        step()
    lines = range(counted.lines)
    if not os.environ.get("GRADTAPE_ALL_INTERRUPTS"):
        lines = sorted(random.Random(7).sample(lines, min(TRIED // 8, len(lines))))
    for at in lines:
        with Interrupter(at) as interrupter:
            try:
                step()
            except KeyboardInterrupt:
                pass
        if list(tmp_path.iterdir()):
            gc.collect()
        assert not list(tmp_path.iterdir()), f"after an interrupt at {interrupter.where}"


def test_an_interrupt_while_a_spill_folder_is_made_leaves_none(tmp_path):
    for where in interrupted_at_lines(lambda: spilling.SpillFolder(tmp_path)):
        if list(tmp_path.iterdir()):
            gc.collect()
        assert not list(tmp_path.iterdir()), f"after an interrupt at {where}"


WORK = """
import os, signal, sys, numpy as np, gradtape as tf
if sys.argv[1] == "interrupted":
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
draw = np.random.default_rng(7).standard_normal
def f32(*shape):
    return tf.constant(draw(shape), tf.float32)
a, b, image, kernel = f32(300, 400), f32(400, 350), f32(4, 32, 32, 8), f32(3, 3, 8, 16)
large, square = f32(500_000), f32(60, 60)
step = tf.function(lambda x, y: tf.reduce_sum(tf.tanh(x @ y) ** 2, axis=1))
def product():
    return a @ b
def convolution():
    return tf.nn.conv2d(image, kernel, 1, "SAME")
def elementwise():
    return tf.exp(-large * large) + tf.tanh(large)
def algebra():
    return tf.linalg.inv(square @ tf.transpose(square) + 60.0 * tf.eye(60))
def function():
    return step(a, b)
def gradient():
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        loss = tf.reduce_sum(tf.sigmoid(a @ b))
    return tape.gradient(loss, b)
result = [work() for _ in range(6) for work in (product, convolution, elementwise, algebra, function, gradient)]
signal.setitimer(signal.ITIMER_REAL, 0)
sys.stdout.buffer.write(b"".join(y.numpy().tobytes() for y in result))
"""


@pytest.mark.skipif(not hasattr(__import__("signal"), "setitimer"), reason="needs timers that send signals")
def test_signals_change_no_bit():
    """For example, a profiler's timer whose handler does nothing fires thousands of times a second."""
    quiet, interrupted = (
        subprocess.run([sys.executable, "-c", WORK, how], capture_output=True, timeout=120)
        for how in ("quiet", "interrupted")
    )
    assert (quiet.returncode, interrupted.returncode) == (0, 0), interrupted.stderr.decode()[-2000:]
    assert quiet.stdout == interrupted.stdout


def products():
    """Returns products and their gradients, small and large, of matrices and batches of matrices."""
    draw = np.random.default_rng(3).standard_normal
    made = []
    for shapes in (((64, 784), (784, 512)), ((512, 512), (512, 512)), ((8, 40, 30), (8, 30, 20)), ((3, 5), (5, 2))):
        a, w = (tf.constant(draw(shape), tf.float32) for shape in shapes)
        made.append((a, tf.Variable(w)))

    def bits():
        found = []
        for a, w in made:
            with tf.GradientTape() as tape:
                tape.watch(a)
                y = tf.matmul(a, w)
                loss = tf.reduce_sum(y * y)
            found += [y, *tape.gradient(loss, [a, w])]
        return [x.numpy().tobytes() for x in found]

    def steps_of_zeros():
        for a, w in made:
            nothing = tf.zeros_like(a)
            for _ in range(3):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(tf.matmul(nothing, w))
                w.assign_sub(0.5 * tape.gradient(loss, w))

    return bits, steps_of_zeros


def test_the_same_product_has_the_same_bits_after_steps_and_in_other_threads():
    bits, steps_of_zeros = products()
    expected = bits()
    assert bits() == expected
    steps_of_zeros()
    assert bits() == expected
    found = []
    others = [threading.Thread(target=lambda: found.append(bits())) for _ in range(3)]
    for other in others:
        other.start()
    for other in others:
        other.join(60)
    assert len(found) == 3
    assert all(one == expected for one in found)


def test_a_signal_loses_no_variable_of_a_compiled_function():
    """Runs that donate their variables' memory delay signals, including those of handlers that raise."""
    pytest.importorskip("jax")
    code = """
import signal
import numpy as np
import gradtape as tf

class Alarm(Exception):
    pass

def ring(number, frame):
    raise Alarm

signal.signal(signal.SIGALRM, ring)
short, long = tf.Variable(tf.zeros(200_000)), tf.Variable(tf.zeros(20_000))

@tf.function(jit_compile=True)
def few(x):
    return short.assign_add(x)[0]

@tf.function(jit_compile=True)
def many(x):
    for i in range(300):
        x = tf.sin(x) + float(i)
    return long.assign_add(0.0 * x + 1.0)[0]

for step, variable, x in ((few, short, tf.ones(200_000)), (many, long, tf.ones(20_000))):
    step(x)
    for i in range(60):
        before = variable.numpy()[0]
        try:
            signal.setitimer(signal.ITIMER_REAL, 1e-4 * (1 + i % 12))
            step(x)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except Alarm:
            pass
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert variable.numpy()[0] - before in (0.0, 1.0)
        assert np.ptp(variable.numpy()) == 0
print("kept")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout == "kept\n", done.stderr[-2000:]
