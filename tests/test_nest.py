"""Nested structures by their laws; the recorded comparison covers individual cases."""

import collections
import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradtape as tf

Point = collections.namedtuple("Point", "x y")
leaves = st.integers() | st.none() | st.text(max_size=2)
nests = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.builds(Point, inner, inner)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
        | st.builds(lambda d: collections.OrderedDict(d), st.dictionaries(st.text(max_size=2), inner, max_size=3))
    ),
    max_leaves=10,
)


@given(nests)
def test_packing_what_was_flattened_gives_it_back(structure):
    again = tf.nest.pack_sequence_as(structure, tf.nest.flatten(structure))
    assert again == structure
    assert type(again) is type(structure)
    tf.nest.assert_same_structure(structure, again)


@given(nests)
def test_mapping_keeps_the_structure(structure):
    seen = []
    mapped = tf.nest.map_structure(lambda leaf: seen.append(leaf) or 1, structure)
    assert seen == tf.nest.flatten(structure)
    tf.nest.assert_same_structure(structure, mapped)


@dataclasses.dataclass
class Pair:
    first: object
    second: object
    note: str = ""

    def __tf_flatten__(self):
        return (self.note,), (self.first, self.second)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(*components, *metadata)


@dataclasses.dataclass
class Plain:
    first: object


def test_classes_take_part_by_protocol():
    pair = Pair(1, [2, 3], "kept")
    assert tf.nest.flatten({"a": pair}) == [1, 2, 3]
    assert tf.nest.map_structure(lambda x: 10 * x, pair) == Pair(10, [20, 30], "kept")
    assert tf.nest.flatten(Plain([1])) == [Plain([1])]


Field = collections.namedtuple("Field", "name")


class Attrs:
    """The part of an attrs class with two fields that nest uses."""

    __attrs_attrs__ = (Field("first"), Field("second"))

    def __init__(self, first, second):
        self.first, self.second = first, second


def test_attrs_classes_take_part():
    mapped = tf.nest.map_structure(lambda x: 10 * x, [Attrs(1, (2, 3))])
    assert (mapped[0].first, mapped[0].second) == (10, (20, 30))


def test_dicts_keep_their_order_and_kind():
    d = collections.defaultdict(list, {"b": 1, "a": 2})
    mapped = tf.nest.map_structure(lambda x: -x, d)
    assert list(mapped.items()) == [("b", -1), ("a", -2)]
    assert mapped.default_factory is list


def test_unsortable_keys_are_an_error():
    with pytest.raises(TypeError, match="sortable"):
        tf.nest.flatten({1: 1, "a": 2})


def test_shapes_and_specs_are_leaves():
    assert tf.nest.flatten([tf.TensorShape([1, 2]), tf.TensorSpec([3])]) == [tf.TensorShape([1, 2]), tf.TensorSpec([3])]


def test_gradients_come_in_the_structure_of_the_sources():
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * w
    g = tape.gradient(y, {"p": Point(v, w), "none": [tf.Variable(1.0)]})
    assert (float(g["p"].x), float(g["p"].y), g["none"]) == (3.0, 2.0, [None])


def test_an_ordered_dict_is_packed_by_sorted_key_in_its_own_order():
    packed = tf.nest.pack_sequence_as(collections.OrderedDict([("b", 1), ("a", 2)]), [4, 5])
    assert type(packed) is collections.OrderedDict
    assert list(packed.items()) == [("b", 5), ("a", 4)]


@pytest.mark.parametrize(
    "a, b, error, text",
    [
        ([0, 1], 0, ValueError, 'Substructure "type=list str=.0, 1." is a sequence, while.*"type=int str=0" is not'),
        ([[1], 2], ["a", "b", "c"], ValueError, "is a sequence"),
        ([1, 2], ["a", "b", "c"], ValueError, "same number of elements: 2 and 3"),
        ({"a": 1}, {"b": 1}, ValueError, "same set of keys"),
        ((1, (2,)), [1, (2,)], TypeError, r"same sequence type: tuple and list\nEntire first.*:\n\(., \(.,\)\)"),
    ],
)
def test_two_structures_that_differ_are_described(a, b, error, text):
    with pytest.raises(error, match=f"don't have the same nested structure(.|\n)*{text}"):
        tf.nest.assert_same_structure(a, b)
    with pytest.raises(error, match=text):
        tf.nest.map_structure(lambda x, y: x, a, b)
