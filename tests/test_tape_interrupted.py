"""Tapes that fail or are interrupted halfway: no recorder stays active, and no result is wrong."""

import _thread
import gc
import signal
import subprocess
import sys
import weakref

import pytest

import gradtape as tf
from gradtape.engine.run import dispatch
from gradtape.engine.tape import collector, tape
from gradtape.ops.elementwise import transcendental

USED_UP = "A non-persistent GradientTape can only be used to compute one set of gradients"


@pytest.fixture(autouse=True)
def no_tape_is_left_behind():
    yield
    assert dispatch.thread.recorders == ()


def test_an_exception_in_the_block_keeps_what_was_recorded():
    x = tf.constant(3.0)
    with pytest.raises(KeyError), tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        raise KeyError
    assert float(tape.gradient(y, x)) == 6


def test_an_exception_in_the_backward_pass_leaves_the_tape_usable():
    failing = [True]

    @tf.custom_gradient
    def f(x):
        def grad(g):
            if failing:
                raise KeyError("not now")
            return 2 * g

        return x * 1.0, grad

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x * x)
    with pytest.raises(KeyError, match="not now"):
        tape.gradient(y, x)
    failing.clear()
    assert float(tape.gradient(y, x)) == 12


def test_a_tape_that_failed_half_way_gives_no_wrong_answers(monkeypatch):
    """Whatever stops the backward pass, such as an interrupt, after records were released."""
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.tanh(x) * x

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(transcendental.tanh.first, "vjp_raw", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tape.gradient(y, x)
    with pytest.raises(RuntimeError, match=USED_UP):
        tape.gradient(y, x)


def test_an_interrupt_during_a_collection_is_not_lost(interruptible):
    class Cycle:
        def __init__(self):
            self.itself = self

    class Reference(weakref.ref):
        def __index__(self):
            return int(signal.SIGINT)

    gc.collect()  # garbage of other tests may have callbacks in Python, in which the interrupt would be raised
    others = gc.callbacks[:]  # the same holds for those of Hypothesis
    gc.callbacks.clear()
    try:
        with pytest.raises(KeyboardInterrupt), tf.GradientTape():
            reference = Reference(Cycle(), _thread.interrupt_main)  # called by the collector, no Python code after it
            gc.collect()
        assert reference() is None
    finally:
        gc.callbacks.extend(others)


def test_a_tape_that_was_interrupted_at_its_end_may_be_asked(monkeypatch):
    def interrupted(*given, stops=tape.recording_stops):
        stops(*given)
        raise KeyboardInterrupt

    x = tf.constant(3.0)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt), tf.GradientTape() as recorded:
        recorded.watch(x)
        y = x * x
        patched.setattr(tape, "recording_stops", interrupted)
    assert float(recorded.gradient(y, x)) == 6


@pytest.mark.parametrize("name", ["set_recorders", "leave"])
@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize(
    "context", [tf.GradientTape, lambda: tf.autodiff.ForwardAccumulator(tf.constant(1.0), tf.constant(1.0))]
)
def test_an_interrupt_while_a_recorder_enters_or_leaves_does_not_keep_it(monkeypatch, name, after, context):
    do, came = getattr(dispatch, name), []

    def interrupted(*given):
        if came:
            return do(*given)
        came.append(True)
        if after:
            do(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(dispatch, name, interrupted)
        with context():
            pass
    assert came and not dispatch.thread.recorders and not collector._collector._recording
    x = tf.Variable(3.0)
    with tf.GradientTape() as recorded:
        y = x * x
    assert float(recorded.gradient(y, x)) == 6


def test_an_interrupt_when_recording_begins_leaves_no_recorder_behind(monkeypatch):
    def interrupted(key):
        collector.recording_starts(key)
        raise KeyboardInterrupt

    monkeypatch.setattr(tape, "recording_starts", interrupted)
    with pytest.raises(KeyboardInterrupt), tf.GradientTape():
        raise AssertionError("it was not entered")
    assert not dispatch.thread.recorders and not collector._collector._recording


def test_an_error_in_a_tape_is_the_last_thing_a_program_says():
    """Recorders, including traced ones, that live until the interpreter ends print nothing then."""
    program = """
import gradtape as tf
v = tf.Variable(3.0)
kept = [tf.GradientTape(persistent=True), tf.GradientTape(trace=True), tf.autodiff.ForwardAccumulator(v, 1.0)]
for tape in kept:
    tape.__enter__()
with tf.GradientTape() as tape:
    loop = [tape, v * v]
    loop.append(loop)
    raise SystemError("the user's own")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.stderr.splitlines()[-1] == "SystemError: the user's own"
    assert "ignored" not in ended.stderr
