"""What a tape releases, when, and how that interacts with the garbage collector."""

import gc
import sys
import weakref

import pytest

import gradtape as tf
from gradtape.engine.run import dispatch


@pytest.fixture(autouse=True)
def no_tape_is_left_behind():
    yield
    assert dispatch.thread.recorders == ()


def test_a_one_shot_tape_lets_go_at_once_and_a_persistent_one_when_it_dies():
    for persistent in (False, True):
        x = tf.constant([3.0, 4.0])
        with tf.GradientTape(persistent) as tape:
            tape.watch(x)
            h = tf.tanh(x)
            y = h * h
        activation = weakref.ref(h)
        del h
        gc.collect()
        assert activation() is not None
        tape.gradient(y, x)
        assert (activation() is None) is not persistent
        del tape
        assert activation() is None


@pytest.mark.parametrize("asked", [True, False])
def test_a_long_tape_is_gone_before_the_collector_looks_through_it(asked):
    before = gc.get_threshold()
    looked: list[int] = []

    def look(phase, found):
        looked.append(found["generation"])

    x = tf.constant(0.5)
    try:
        gc.set_threshold(100, 2, 10)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(10_000):
                y = tf.tanh(y)
        gc.callbacks.append(look)
        if asked:
            tape.gradient(y, x)
        else:
            del tape, y
        gc.callbacks.remove(look)
        assert not looked
        if not asked:  # nothing runs when a tape is released: the next one finds no reason to wait
            with tf.GradientTape():
                pass
        assert gc.get_threshold() == (100, 2, 10)
    finally:
        gc.set_threshold(*before)


@pytest.mark.parametrize("thresholds", [(700, 10, 10), (500, 5, 7), (0, 10, 10), (0, 0, 0)])
def test_the_collector_is_as_it_was_after_a_tape(thresholds):
    before = gc.get_threshold()
    v = tf.Variable(3.0)
    try:
        with tf.GradientTape():
            pass
        gc.set_threshold(*thresholds)
        with tf.GradientTape() as tape:
            y = v * v
            with tf.GradientTape():
                assert gc.get_threshold()[0] >= thresholds[0]
            assert bool(gc.get_threshold()[0]) == bool(thresholds[0])
        assert gc.get_threshold() == thresholds
        assert float(tape.gradient(y, v)) == 6
    finally:
        gc.set_threshold(*before)


def test_thresholds_that_are_set_inside_a_tape_stay():
    before = gc.get_threshold()
    try:
        for raised_first in (False, True):
            gc.set_threshold(700, 10, 10)
            with tf.GradientTape():
                if raised_first:
                    gc.collect()
                    assert gc.get_threshold()[0] > 700
                gc.set_threshold(500, 5, 7)
                gc.collect()
            assert gc.get_threshold() == (500, 5, 7)
    finally:
        gc.set_threshold(*before)


def test_no_python_runs_when_a_recorder_is_let_go():
    """An interrupt at that point would be lost."""
    v = tf.Variable(3.0)
    recorders = []
    with tf.GradientTape() as tape:
        v * v
    with tf.autodiff.ForwardAccumulator(v, 1.0) as accumulator:
        v * v
    recorders += [tape, accumulator]
    del tape, accumulator
    lines = []

    def follow(frame, event, argument):
        lines.append(frame.f_code.co_qualname)
        return follow

    sys.settrace(follow)
    try:
        recorders.clear()
    finally:
        sys.settrace(None)
    assert not lines
