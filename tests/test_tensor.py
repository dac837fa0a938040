"""Tensors as Python objects: immutable values that support NumPy, `copy` and `pickle`."""

import copy
import pickle
import weakref

import numpy as np
import pytest

import gradtape as tf


def test_arrays_given_are_copied():
    array = np.ones(2, np.float32)
    t = tf.constant(array)
    array[0] = 5.0
    assert t.numpy().tolist() == [1.0, 1.0]


def test_arrays_taken_do_not_change_the_tensor():
    t = tf.constant([1.0, 2.0])
    t.numpy()[0] = 5.0
    np.array(t)[0] = 5.0
    t.__array__(copy=True)[0] = 5.0
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(t)[0] = 5.0
    assert t.numpy().tolist() == [1.0, 2.0]


def test_items_cannot_be_set():
    t = tf.constant([1.0, 2.0])
    with pytest.raises(TypeError, match="tensor_scatter_nd_update"):
        t[0] = 1.0


@pytest.mark.parametrize("name", ["T", "reshape", "astype", "sum", "clip"])
def test_numpy_methods_are_named_in_the_error(name):
    with pytest.raises(AttributeError, match=f"no attribute '{name}'.*tf\\."):
        getattr(tf.constant([1.0]), name)


def test_unknown_attributes_have_no_hint():
    with pytest.raises(AttributeError, match=r"no attribute 'foo'$"):
        tf.constant([1.0]).foo  # noqa: B018
    assert not hasattr(tf.constant([1.0]), "assign")


def test_tensors_are_no_keys_but_their_references_are():
    t = tf.constant(1.0)
    with pytest.raises(TypeError, match=r"use tensor.ref\(\)"):
        hash(t)
    assert len({t.ref(), t.ref(), tf.constant(1.0).ref()}) == 2
    assert t.ref().deref() is t
    assert sorted([t.ref()]) == [t.ref()]


@pytest.mark.parametrize(
    "value", [1.5, [1.5, 2.0], "text", ["a", "b"], True, 1 + 2j, np.zeros((0, 2)), np.arange(3, dtype=np.int8)]
)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_copies_have_the_value_and_the_dtype(value, copied):
    t = tf.constant(value)
    other = copied(t)
    assert other.dtype is t.dtype
    assert other.shape == t.shape
    assert np.array_equal(other.numpy(), t.numpy())


def test_a_narrow_tensor_is_pickled():
    t = tf.constant([1.5, 2.0], tf.bfloat16)
    assert repr(pickle.loads(pickle.dumps(t))) == repr(t)


def test_a_copy_is_not_on_the_tape():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * copy.deepcopy(x)
    assert float(tape.gradient(y, x)) == 2.0


def test_iteration_is_differentiable():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = sum(row * row for row in x)
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0]


def test_numpy_functions_cut_and_numpy_operators_keep():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        cut = np.square(x)
        kept = np.array([3.0, 4.0]) * x + np.float32(1.0)
    assert isinstance(cut, np.ndarray)
    assert isinstance(kept, tf.Tensor)
    assert tape.gradient(kept, x).numpy().tolist() == [3.0, 4.0]


def test_dlpack_goes_both_ways_without_a_copy():
    t = tf.constant([1.0, 2.0])
    assert np.from_dlpack(t).tolist() == [1.0, 2.0]
    assert t.__dlpack_device__() == (1, 0)


@pytest.mark.parametrize("member", [name for name in dir(tf.Tensor) if not name.startswith("_")])
def test_members_are_documented(member):
    documented = getattr(tf.Tensor, member)
    assert documented.__doc__ or member in ("array", "dtype", "tape_id", "tracer")


class Ruler:
    """A class that implements its operators with tensors."""

    def __radd__(self, other):
        return "sum"

    def __rmatmul__(self, other):
        return "product"

    def __rpow__(self, other):
        raise TypeError("no such power")

    def __rmul__(self, other):
        return NotImplemented


def test_the_right_operand_may_answer():
    assert tf.constant(1.0) + Ruler() == "sum"
    assert tf.Variable(1.0) + Ruler() == "sum"
    assert tf.eye(2) @ Ruler() == "product"


@pytest.mark.parametrize(
    "compute",
    [lambda x, r: x**r, lambda x, r: x * r, lambda x, r: x - r, lambda x, r: r + x, lambda x, r: x + object()],
)
def test_an_operand_that_cannot_answer_is_refused(compute):
    with pytest.raises(ValueError, match="unsupported type"):
        compute(tf.constant(2.0), Ruler())


def test_a_reference_can_be_referred_to_weakly():
    reference = tf.constant(1.0).ref()
    assert weakref.ref(reference)() is reference
    assert list(weakref.WeakKeyDictionary({reference: "x"}).values()) == ["x"]


@pytest.mark.parametrize("other", [tf.constant(1.0, tf.float64), tf.Variable(1.0, dtype=tf.float64)])
def test_tensors_of_different_dtypes_do_not_answer_for_each_other(other):
    with pytest.raises(TypeError, match="must have the same dtype"):
        tf.constant(1.0) / other


def test_a_tensor_takes_attributes_of_its_own():
    t = tf.constant(1.0)
    t.note = "mine"
    assert t.note == "mine"
    assert not hasattr(t + 0.0, "note")
    with pytest.raises(AttributeError):
        t.shape = (1,)


@pytest.mark.parametrize("x", [[True], ["a"], [1]])
def test_numbers_before_tensors_that_take_none(x):
    for wrong in (lambda t: 0.5 * t, lambda t: 1.0 + t):
        with pytest.raises(TypeError):
            wrong(tf.constant(x))


def test_a_number_that_rounds_to_zero_is_not_taken_for_zero():
    x = tf.constant([1.0, -1.0])
    assert (x * -1e-60).numpy().tolist() == [0.0, 0.0]
    assert np.signbit((x * 0.0).numpy()).tolist() == [False, True]
    assert np.signbit((x * -0.0).numpy()).tolist() == [True, False]
