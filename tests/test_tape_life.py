"""The life of a tape: entering, asking, asking again, pausing, resetting, failing. TensorFlow 2.21 is the reference."""

import _thread
import copy
import gc
import logging
import pickle
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


def square_at_3(persistent=False):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent) as tape:
        tape.watch(x)
        y = x * x
    return tape, x, y


@pytest.mark.parametrize("again", ["gradient", "jacobian"])
def test_a_second_question_is_refused(again):
    tape, x, y = square_at_3()
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match=USED_UP):
        getattr(tape, again)(y, x)


def test_batch_jacobian_after_gradient_is_refused():
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match=USED_UP):
        tape.batch_jacobian(y, x)


def test_a_tape_never_entered_says_so():
    x = tf.constant(1.0)
    with pytest.raises(RuntimeError, match="never entered"):
        tf.GradientTape().gradient(x, x)
    with pytest.raises(AttributeError, match="not entered yet"):
        tf.GradientTape().watch(x)


def test_watch_on_a_used_up_tape_says_so():
    tape, x, y = square_at_3()
    tape.gradient(y, x)
    with pytest.raises(AttributeError, match="used up"):
        tape.watch(x)


def test_asking_inside_the_block_ends_the_recording():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        assert float(tape.gradient(y, x)) == 6
        z = x * x
        with pytest.raises(RuntimeError, match=USED_UP):
            tape.gradient(z, x)


def test_a_persistent_tape_records_its_own_gradient_inside_the_block_and_warns_once(caplog):
    tf.GradientTape._warned_inside = False
    x = tf.constant(3.0)
    with caplog.at_level(logging.WARNING, "gradtape"), tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * x
        first = tape.gradient(y, x)
        second = tape.gradient(first, x)
    assert (float(first), float(second)) == (27, 18)
    assert caplog.text.count("persistent tape inside its context is significantly less efficient") == 1


def test_a_gradient_taken_after_the_block_is_not_recorded():
    tape, x, y = square_at_3(persistent=True)
    assert tape.gradient(tape.gradient(y, x), x) is None


def test_entering_twice_at_once():
    with tf.GradientTape() as tape, pytest.raises(ValueError, match="Tape is still recording"):
        tape.__enter__()


def test_entering_again_goes_on_with_the_same_recording():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with tape:
        z = y * x
    assert float(tape.gradient(z, x)) == 27


def test_what_happens_between_two_blocks_is_not_recorded():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    unseen = y * 1.0
    with tape:
        z = unseen * x
    assert float(tape.gradient(z, x)) == 9


def test_a_used_up_tape_starts_afresh_when_entered():
    tape, x, y = square_at_3()
    tape.gradient(y, x)
    with tape:
        z = x * x
    assert tape.gradient(z, x) is None
    with tape:
        tape.watch(x)
        z = x * x
    assert float(tape.gradient(z, x)) == 6


def test_leaving_twice_is_fine():
    tape, x, y = square_at_3()
    tape.__exit__(None, None, None)
    assert float(tape.gradient(y, x)) == 6


def test_tapes_left_in_the_wrong_order_keep_what_they_saw():
    x = tf.constant(3.0)
    first, second = tf.GradientTape(), tf.GradientTape()
    first.__enter__()
    second.__enter__()
    first.watch(x)
    second.watch(x)
    y = x * x
    first.__exit__(None, None, None)
    z = y * x
    second.__exit__(None, None, None)
    assert first.gradient(z, x) is None
    assert float(second.gradient(z, x)) == 27


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


def test_a_missing_gradient_leaves_the_tape_usable():
    x = tf.constant([1.0, 1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        values, _ = tf.unique(y)
    with pytest.raises(LookupError, match="no entry for"):
        tape.gradient(values, x)
    assert tape.gradient(y, x).numpy().tolist() == [2, 2]


def test_a_tape_asked_inside_a_custom_gradient_does_not_come_back():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x

        @tf.custom_gradient
        def asks(z):
            assert float(tape.gradient(y, x)) == 6
            return z * 1.0, lambda g: g

        asks(x)
        assert dispatch.thread.recorders == ()


def test_hooks_need_something_with_a_gradient():
    v = tf.Variable(3)
    with tf.GradientTape() as tape:
        v * 1
        with pytest.raises(ValueError, match="not on this tape"):
            tape.on_gradient(v, print)


def test_no_target_is_an_error_that_costs_nothing():
    tape, x, y = square_at_3()
    with pytest.raises(TypeError, match="Argument `target` should be a list or nested structure"):
        tape.gradient(None, x)
    assert float(tape.gradient(y, x)) == 6


@pytest.mark.parametrize("bad", ["bogus", "ZERO", None])
def test_unknown_unconnected_gradients_cost_nothing(bad):
    tape, x, y = square_at_3()
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients"):
        tape.gradient(y, x, unconnected_gradients=bad)
    assert float(tape.gradient(y, x, unconnected_gradients="zero")) == 6


def test_reset_forgets_history_and_watches():
    v = tf.Variable(3.0)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = v * x
        tape.reset()
        assert tape.watched_variables() == ()
        z = v * x
        assert [w is v for w in tape.watched_variables()] == [True]
    assert tape._log.position(y) is None
    dv, dx = tape.gradient(z, [v, x])
    assert float(dv) == 2
    assert dx is None


def test_reset_outside_the_block():
    tape, x, _ = square_at_3()
    with pytest.raises(ValueError, match=r"Tape is not recording\."):
        tape.reset()
    with tf.GradientTape() as tape:
        tape.watch(x)
        tape.gradient(x * x, x)
        with pytest.raises(ValueError, match=r"Tape is not recording\."):
            tape.reset()


def test_stop_recording_where_nothing_is_recorded():
    with pytest.raises(RuntimeError, match="Trying to stop recording a tape which is not recording"):
        with tf.GradientTape().stop_recording():
            pass
    tape, _, _ = square_at_3()
    with pytest.raises(ValueError, match=r"Tape is not recording\."):
        with tape.stop_recording():
            pass
    with tf.GradientTape() as tape, tape.stop_recording():
        with pytest.raises(ValueError, match=r"Tape is not recording\."):
            with tape.stop_recording():
                pass


def test_recording_resumes_after_an_exception_in_stop_recording():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(KeyError), tape.stop_recording():
            unseen = x * x
            raise KeyError
        y = x * x
    assert float(tape.gradient([y, unseen], x)) == 6


def test_stop_recording_pauses_only_its_own_tape():
    x = tf.constant(3.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        outer.watch(x)
        inner.watch(x)
        with inner.stop_recording():
            y = x * x
    assert inner.gradient(y, x) is None
    assert float(outer.gradient(y, x)) == 6


def test_a_persistent_tape_asked_while_paused_does_not_warn(caplog):
    tf.GradientTape._warned_inside = False
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            g = tape.gradient(y, x)
    assert float(g) == 6
    assert caplog.text == ""
    assert tape.gradient(g, x) is None


def test_asking_while_paused_uses_the_tape_up_and_resumes_with_a_new_one():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            assert float(tape.gradient(y, x)) == 6
        tape.watch(x)
        z = x * x * x
    assert float(tape.gradient(z, x)) == 27


@pytest.mark.parametrize("duplicate", [copy.deepcopy, pickle.dumps])
def test_an_entered_tape_cannot_be_copied(duplicate):
    tape, _, _ = square_at_3()
    with pytest.raises(TypeError, match="cannot pickle"):
        duplicate(tape)


def test_arguments_of_the_constructor():
    with pytest.raises(TypeError, match="unexpected keyword"):
        tf.GradientTape(foo=1)
    v = tf.Variable(1.0)
    with tf.GradientTape(True, False) as tape:
        y = v * v
    assert tape.gradient(y, v) is None
    assert tape.gradient(y, v) is None


def test_long_chains_do_not_recurse():
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(5000):
            y = y * 1.0001
    assert float(tape.gradient(y, x)) == pytest.approx(1.0001**5000, rel=1e-3)


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


def test_init_scope_pauses_all_tapes():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.init_scope():
            unseen = x * x
        y = x * x
    assert float(tape.gradient([y, unseen], x)) == 6


def test_records_carry_their_source_line_when_asked():
    x = tf.constant(3.0)
    with tf.GradientTape(trace=True) as tape:
        tape.watch(x)
        y = x * x
    ((file, line, function),) = [tape._log.line(i) for i in tape._log.notes]
    assert file == __file__
    assert line == test_records_carry_their_source_line_when_asked.__code__.co_firstlineno + 4
    assert function == "test_records_carry_their_source_line_when_asked"
    assert float(tape.gradient(y, x)) == 6


def test_a_hook_sees_and_changes_a_gradient_on_its_way():
    seen = []
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        h = v * 3.0
        y = h * h
        tape.on_gradient(h, lambda g: seen.append(g.numpy().tolist()))
        tape.on_gradient(v, lambda g: -g)
    assert tape.gradient(y, v).numpy().tolist() == [-18.0, -36.0]
    assert seen == [[6.0, 12.0]]


def test_a_hook_may_add_another_further_down():
    seen = []
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        z = y * y
        tape.on_gradient(z, lambda g: tape.on_gradient(y, lambda g: seen.append(float(g))))
    assert float(tape.gradient(z, v)) == 108
    assert seen == [18]


def test_a_hook_must_keep_the_shape():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
        tape.on_gradient(y, lambda g: g[0])
    with pytest.raises(ValueError, match="must keep both"):
        tape.gradient(y, v)
    with pytest.raises(ValueError, match="not on this tape"):
        tape.on_gradient(tf.constant(1.0), print)


def test_finished_gradients_pass_through_the_tapes_hook():
    """The seam an all-reducing tape needs."""
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * w
    tape.on_finished(lambda sources, grads: [10 * g for g in grads])
    assert [float(g) for g in tape.gradient(y, [v, w])] == [20, 10]


@pytest.mark.parametrize("finish, message", [(lambda g: g[:1], "Could not pack sequence"), (iter, "incompatible type")])
def test_a_finisher_returns_a_gradient_for_each_source(finish, message):
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * w
    tape.on_finished(lambda sources, grads: finish(grads))
    with pytest.raises((ValueError, TypeError), match=message):
        tape.gradient(y, [v, w])


def test_a_list_of_sources_is_the_callers():
    v = tf.Variable([4.0, 0.0])
    sources = [v]
    with tf.GradientTape(trace=True, persistent=True) as tape:
        y = tf.reduce_sum(tf.sqrt(v))
    tape.gradient(y, sources)
    sources[0] = tf.Variable(1.0)
    assert "sqrt" in str(tape.diagnose())


def test_a_finisher_that_raises_leaves_the_tape_usable():
    v = tf.Variable(3.0)
    answers = iter([KeyError("no network"), None])

    def finish(sources, gradients):
        error = next(answers)
        if error is not None:
            raise error
        return gradients

    with tf.GradientTape() as tape:
        tape.on_finished(finish)
        y = v * v
    with pytest.raises(KeyError, match="no network"):
        tape.gradient(y, v)
    assert float(tape.gradient(y, v)) == 6.0


def test_a_tape_that_failed_half_way_gives_no_wrong_answers(monkeypatch):
    """Whatever stops the backward pass, an interrupt say, after records were let go."""
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
        if not asked:  # nothing runs when a tape is let go: the next one finds that there is no reason to wait
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


def test_an_interrupt_during_a_collection_is_not_lost():
    class Cycle:
        def __init__(self):
            self.itself = self

    class Reference(weakref.ref):
        def __index__(self):
            return int(signal.SIGINT)

    others = gc.callbacks[:]  # those of Hypothesis, in which the interrupt would be raised
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
    assert came and not dispatch.thread.recorders and not collector._recording
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
    assert not dispatch.thread.recorders and not collector._recording


def test_an_error_in_a_tape_is_the_last_thing_a_program_says():
    """Recorders, traced ones too, that live until the interpreter ends have nothing to say then."""
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


def test_no_python_runs_when_a_recorder_is_let_go():
    """An interrupt that came then would be lost."""
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
