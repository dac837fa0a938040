"""Shapes by their laws; the recorded comparison covers their members."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradtape as tf
from gradtape.core.shapes import broadcast

shapes = st.none() | st.lists(st.none() | st.integers(0, 3), max_size=3)


@given(shapes, shapes)
def test_merging_is_symmetric_and_refines_both(a, b):
    a, b = tf.TensorShape(a), tf.TensorShape(b)
    assert a.is_compatible_with(b) == b.is_compatible_with(a)
    if a.is_compatible_with(b):
        merged = a.merge_with(b)
        assert merged == b.merge_with(a)
        assert merged.is_subtype_of(a)
        assert merged.is_subtype_of(b)
    else:
        with pytest.raises(ValueError, match="not compatible"):
            a.merge_with(b)


@given(shapes, shapes)
def test_the_common_supertype_contains_both(a, b):
    a, b = tf.TensorShape(a), tf.TensorShape(b)
    common = a.most_specific_common_supertype([b])
    assert common == b.most_specific_common_supertype([a])
    assert a.is_subtype_of(common)
    assert b.is_subtype_of(common)


@given(shapes)
def test_copies_are_equal(a):
    a = tf.TensorShape(a)
    for other in (copy.deepcopy(a), pickle.loads(pickle.dumps(a)), tf.TensorShape(a)):
        assert other == a
        assert hash(other) == hash(a)
        assert repr(other) == repr(a)


@given(shapes, shapes)
def test_concatenation_adds_the_ranks(a, b):
    whole = tf.TensorShape(a) + b
    known = a is not None and b is not None
    assert whole.rank == (len(a) + len(b) if known else None)
    if known:
        assert whole[: len(a)] == a
        assert whole[len(a) :] == b


def test_the_unknown_rank_equals_only_itself():
    assert tf.TensorShape(None) != tf.TensorShape([])
    assert tf.TensorShape([]) != tf.TensorShape(None)


def test_broadcast():
    assert broadcast((3, 1), (4,), ()) == (3, 4)
    assert broadcast((0, 1), (1, 5)) == (0, 5)
    with pytest.raises(ValueError, match="cannot be broadcast"):
        broadcast((2,), (3,))


def test_a_shape_is_shown_whole_and_is_otherwise_as_a_tuple():
    shape = tf.TensorShape([2, 3])
    assert "%s" % shape == f"{shape}" == "(2, 3)"  # noqa: UP031
    assert not isinstance(shape, tuple)
    assert {shape: 1}[(2, 3)] == 1
    assert (1,) + shape == [1] + shape == (1, 2, 3)  # noqa: RUF005
    assert np.zeros(shape).shape == (2, 3)


def test_a_shape_differs_from_a_tuple_that_is_none():
    assert tf.TensorShape([2, 3]) != (np.array([1, 2]), 3)
    assert tf.TensorShape([2, 3]) != ("2", 3)


def test_dims_are_objects_that_stand_for_sizes():
    shape = tf.TensorShape([2, None])
    assert [size.value for size in shape.dims] == [2, None] and str(shape.dims) == "[Dimension(2), Dimension(None)]"
    assert shape.dims[0] == 2 and tf.TensorShape(shape.dims) == shape and tf.TensorShape(None).dims is None
    assert tf.zeros([shape.dims[0], 3]).shape == (2, 3)
    assert tf.constant([shape.dims[0], 1]).numpy().tolist() == [2, 1]
    assert int(tf.convert_to_tensor(shape.dims[0])) == 2
