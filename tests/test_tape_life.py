"""The life cycle of a tape: entering, computing gradients, pausing, resetting, failing, as in TensorFlow 2.21."""

import copy
import logging
import pickle

import pytest

import gradtape as tf
from gradtape.api.tape_derivatives import DerivativeMethods
from gradtape.engine.run import dispatch

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
    DerivativeMethods._warned_inside = False
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
    DerivativeMethods._warned_inside = False
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


# What TensorFlow's class has: a subclass that overrides one of these means it.
TENSORFLOW = "batch_jacobian gradient jacobian reset stop_recording watch watched_variables".split()
OURS = sorted(name for name in dir(tf.GradientTape) if not name.startswith("_") and name not in TENSORFLOW)


def use_tapes(kind):
    """Computes derivatives with tapes of a subclass, in each way that TensorFlow has, and some more."""
    v, x = tf.Variable([1.0, 2.0]), tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with kind(persistent=True) as tape:
        y = v**3
        with tape.stop_recording():
            v * 2
    assert tape.gradient(y, v).numpy().tolist() == [3, 12]
    for with_pfor in (True, False):
        assert tape.jacobian(y, v, experimental_use_pfor=with_pfor).numpy().tolist() == [[3, 0], [0, 12]]
    with kind() as tape:
        tape.watch(x)
        y = x**2
    assert tape.batch_jacobian(y, x).shape == (2, 2, 2)
    with kind() as outer:
        with kind() as inner:
            y = v**3
        first = inner.gradient(y, v)
    assert outer.gradient(first, v).numpy().tolist() == [6, 12]
    with kind() as tape:
        v * 2
        tape.reset()
        y = v * v
    assert len(tape.watched_variables()) == 1 and tape.gradient(y, tf.Variable(1.0)) is None

    @tf.function
    def gradient(x):
        with kind() as tape:
            tape.watch(x)
            y = x * x
        return tape.gradient(y, x)

    assert gradient(x).numpy().tolist() == [[2, 4], [6, 8]]
    for setting, options in [({}, {"per": "example"}), ({}, {"nan_safe": True}), ({"check": "nan"}, {})]:
        with kind(**setting) as tape:
            y = tf.reduce_sum(x * v, 1)
        tape.gradient(y, v, **options)


@pytest.mark.parametrize("name", OURS)
def test_a_subclass_may_define_every_name_that_tensorflow_does_not_have(name):
    def method_of_the_user(*args, **kwargs):
        raise AssertionError(f"an internal call goes through {name}")

    use_tapes(type("Mine", (tf.GradientTape,), {name: method_of_the_user}))
    if name != "hessian":
        kind = type("Mine", (tf.GradientTape,), {name: method_of_the_user})
        v = tf.Variable([1.0, 2.0])
        with kind() as tape:
            y = tf.reduce_sum(v**3)
        assert tape.hessian(y, v).numpy().tolist() == [[6, 0], [0, 12]]
