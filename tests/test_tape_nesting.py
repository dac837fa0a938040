"""Tapes inside tapes, in threads, in generators; long tapes; memory."""

import gc
import threading
import tracemalloc

import numpy as np
import pytest

import gradtape as tf
from gradtape.engine.run import dispatch


def nth_derivative(f, x, order):
    if order == 0:
        return f(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = nth_derivative(f, x, order - 1)
    return tape.gradient(y, x)


def test_fourth_order():
    assert float(nth_derivative(lambda x: x**5, tf.constant(2.0), 4)) == 240


def test_an_inner_gradient_taken_too_late_is_not_seen():
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
    g = inner.gradient(y, x)
    assert outer.gradient(g, x) is None


def test_an_outer_tape_that_does_not_watch():
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x
        g = inner.gradient(y, x)
    assert outer.gradient(g, x) is None


def test_a_tape_opened_later_sees_the_gradient_of_an_earlier_one():
    x = tf.constant(3.0)
    with tf.GradientTape() as first:
        first.watch(x)
        y = x * x
    with tf.GradientTape() as second:
        second.watch(x)
        g = first.gradient(y, x)
    assert float(second.gradient(g, x)) == 2


def test_a_variable_is_watched_by_every_active_tape():
    v = tf.Variable(3.0)
    with tf.GradientTape() as a, tf.GradientTape() as b, tf.GradientTape() as c:
        y = v * v
    assert [float(t.gradient(y, v)) for t in (a, b, c)] == [6, 6, 6]


@pytest.mark.parametrize(
    ("f", "expected"),
    [(tf.nn.relu, 0.0), (tf.abs, 0.0), (lambda x: tf.maximum(x, 0.0), None)],
    ids=["relu", "abs", "maximum"],
)
def test_second_derivatives_at_smooth_points_of_kinked_functions(f, expected):
    x = tf.constant(2.0)
    found = nth_derivative(f, x, 2)
    assert found is None if expected is None else float(found) == expected


def test_sign_is_flat_and_then_unconnected():
    x = tf.constant(2.0)
    assert float(nth_derivative(tf.sign, x, 1)) == 0
    assert nth_derivative(tf.sign, x, 2) is None


def in_thread(work):
    failures = []

    def run():
        try:
            work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


def test_another_threads_ops_are_recorded_only_when_it_attaches():
    x = tf.constant(3.0)
    results = []
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        in_thread(lambda: results.append(x * x))

        def attached():
            with tape.attach():
                results.append(x * x)
            assert dispatch.thread.recorders == ()

        in_thread(attached)
    assert tape.gradient(results[0], x) is None
    assert float(tape.gradient(results[1], x)) == 6


def test_a_tape_that_is_attached_where_it_records_stops_altogether():
    v = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape, tape.attach():
        with tape.stop_recording():
            unseen = v * v
        seen = v * v
    assert tape.gradient(unseen, v) is None
    assert float(tape.gradient(seen, v)) == 6


def test_a_tape_for_each_thread_over_shared_variables():
    v = tf.Variable([1.0, 2.0])
    wrong = []
    start = threading.Barrier(4)

    def train(scale):
        start.wait()
        for _ in range(300):
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(v * v * scale)
            g = tape.gradient(y, v)
            if g is None or g.numpy().tolist() != [2 * scale, 4 * scale]:
                wrong.append(g)

    threads = [threading.Thread(target=train, args=(float(i),)) for i in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_asking_from_another_thread():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    found = []
    in_thread(lambda: found.append(tape.gradient(y, x)))
    assert float(found[0]) == 6


def test_a_tape_in_a_generator_interleaved_with_another():
    x = tf.constant(3.0)

    def generator():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            yield None
            z = y * x
        yield tape.gradient(z, x)

    steps = generator()
    next(steps)
    with tf.GradientTape() as tape:
        tape.watch(x)
        w = x * 5.0
        inner = next(steps)
        w = w * x
    assert float(inner) == 27
    assert float(tape.gradient(w, x)) == 30
    assert dispatch.thread.recorders == ()


def test_a_million_ops():
    x = tf.constant(1.0, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(500_000):
            y = y * 1.000001
            y = y + 0.0
    assert float(tape.gradient(y, x)) == pytest.approx(1.000001**500_000)


def test_thousands_of_steps_do_not_grow():
    w, b = tf.Variable(np.full((3, 2), 0.1, np.float32)), tf.Variable([0.0, 0.0])
    x = tf.ones((4, 3))

    def steps(count):
        for _ in range(count):
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.reduce_mean((tf.matmul(x, w) + b) ** 2)
            for v, g in zip((w, b), tape.gradient(loss, [w, b]), strict=True):
                v.assign_sub(0.01 * g)

    tracemalloc.start()
    try:
        steps(500)  # fills the free lists of Python and NumPy
        grown = []
        for _ in range(3):  # what only one of them adds belongs to something else in this process
            gc.collect()
            before = tracemalloc.get_traced_memory()[0]
            steps(2_000)
            gc.collect()
            grown.append(tracemalloc.get_traced_memory()[0] - before)
    finally:
        tracemalloc.stop()
    assert min(grown) < 20_000, f"{grown} bytes more after 2,000 steps each"


def test_a_deleted_persistent_tape_gives_its_memory_back_while_the_result_lives():
    x = tf.ones((1000, 100))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x
            for _ in range(10):
                y = tf.tanh(y)
            loss = tf.reduce_sum(y)
        del y
        held = tracemalloc.get_traced_memory()[0] - before
        tape.gradient(loss, x)
        del tape
        left = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert held > 10 * 400_000
    assert left < 100_000


def test_peak_memory_falls_during_the_backward_pass():
    """A non-persistent tape releases each record as it is passed, so gradients replace activations."""
    x = tf.ones((1000, 100))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(20):
            y = tf.tanh(y)
        loss = tf.reduce_sum(y)
    del y
    tracemalloc.start()
    try:
        tape.gradient(loss, x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5 * 400_000


def test_an_add_keeps_no_operands():
    x = tf.ones((1000, 100))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(20):
                y = y + 1.0
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert held < 2 * 400_000
    assert tape.gradient(y, x).shape == (1000, 100)
