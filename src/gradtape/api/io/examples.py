"""`tf.train.Example` and its parts, as messages compatible with TensorFlow."""

from __future__ import annotations

from typing import Any

from .messages import Message

NAMESPACES = ("train",)
__all__ = [
    "BytesList", "Example", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList", "Int64List",
    "SequenceExample",
]  # fmt: skip


class BytesList(Message):
    """A list of bytes, `value`.

    >>> tf.train.BytesList(value=[b"a"]).value
    [b'a']
    """

    __module__ = "gradtape.train"

    value: Any


class FloatList(Message):
    """A list of float32 numbers, `value`.

    >>> tf.train.FloatList(value=[0.5]).value
    [0.5]
    """

    __module__ = "gradtape.train"

    value: Any


class Int64List(Message):
    """A list of integers, `value`.

    >>> tf.train.Int64List(value=[1, 2]).value
    [1, 2]
    """

    __module__ = "gradtape.train"

    value: Any


class Feature(Message):
    """A `bytes_list`, a `float_list` or an `int64_list`.

    >>> feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))
    >>> feature.WhichOneof("kind"), feature.int64_list.value
    ('int64_list', [3])
    """

    __module__ = "gradtape.train"

    bytes_list: Any
    float_list: Any
    int64_list: Any


class Features(Message):
    """Features by name, `feature`.

    >>> features = tf.train.Features()
    >>> features.feature["age"].int64_list.value.append(29)
    >>> list(features.feature)
    ['age']
    """

    __module__ = "gradtape.train"

    feature: Any


class Example(Message):
    """An example of a dataset: its `features`. Its serialized form is TensorFlow's.

    >>> example = tf.train.Example()
    >>> example.features.feature["age"].int64_list.value.extend([29, 30])
    >>> data = example.SerializeToString()
    >>> tf.train.Example.FromString(data).features.feature["age"].int64_list.value
    [29, 30]
    """

    __module__ = "gradtape.train"

    features: Any


class FeatureList(Message):
    """A list of features, `feature`: one per step of a sequence.

    >>> steps = tf.train.FeatureList()
    >>> steps.feature.add().float_list.value.append(0.5)
    >>> len(steps.feature)
    1
    """

    __module__ = "gradtape.train"

    feature: Any


class FeatureLists(Message):
    """Lists of features by name, `feature_list`.

    >>> lists = tf.train.FeatureLists()
    >>> lists.feature_list["words"].feature.add().bytes_list.value.append(b"hello")
    >>> list(lists.feature_list)
    ['words']
    """

    __module__ = "gradtape.train"

    feature_list: Any


class SequenceExample(Message):
    """An example with sequences: features of the whole in `context`, features of its steps in `feature_lists`.

    >>> example = tf.train.SequenceExample()
    >>> example.context.feature["length"].int64_list.value.append(2)
    >>> example.feature_lists.feature_list["words"].feature.add().bytes_list.value.append(b"hello")
    >>> len(example.SerializeToString()) > 0
    True
    """

    __module__ = "gradtape.train"

    context: Any
    feature_lists: Any
