"""Iterators of NumPy arrays in checkpoints, their elements, and errors in the functions of datasets."""

import os
import tempfile

from recorded_programs import error_of, says

_BEGAN = "Error in user-defined function passed to "


def _elements(dataset):
    return list(dataset.as_numpy_iterator())


def _positions(tf):
    """A checkpoint of an iterator, restored to it and to a new one."""
    data = tf.data.Dataset.range(10)
    iterator = data.as_numpy_iterator()
    next(iterator)
    prefix = os.path.join(tempfile.mkdtemp(), "c")
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    path = checkpoint.save(prefix)
    taken = [next(iterator), iterator.next()]
    checkpoint.restore(path)
    again = data.as_numpy_iterator()
    tf.train.Checkpoint(iterator=again).restore(path)
    return taken, next(iterator), next(again), next(again)


def _refused(make):
    def program(tf):
        return error_of(lambda: type(next(make(tf).as_numpy_iterator())).__name__)

    return program


def _failing(make, began=_BEGAN):
    """The class of an error in a function, and whether its message names the dataset."""

    def program(tf):
        def small(x):
            tf.debugging.assert_less(x, tf.constant(2, tf.int64))
            return x

        return says(began, lambda: _elements(make(tf, tf.data.Dataset.range(4), small)))

    return program


def _of(tf):
    return tf.data.Dataset.from_tensors


CASES = [
    ("positions", _positions),
    ("windows", _refused(lambda tf: tf.data.Dataset.range(4).window(2))),
    ("datasets", _refused(lambda tf: _of(tf)({"a": 1, "d": tf.data.Dataset.range(2)}))),
    ("optionals", _refused(lambda tf: _of(tf)(tf.experimental.Optional.from_value(1)))),
    ("arrays", _refused(lambda tf: tf.data.Dataset.range(2).map(lambda x: tf.TensorArray(tf.int64, 1).write(0, x)))),
    ("slices", _refused(lambda tf: _of(tf)(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))))),
    ("ragged", _refused(lambda tf: _of(tf)(tf.ragged.constant([[1], [2, 3]])))),
    ("none", lambda tf: _elements(_of(tf)((None, 1)))),
    ("sparse", lambda tf: _elements(_of(tf)(tf.SparseTensor([[0, 1]], [1], [2, 3])))),
    ("writable", lambda tf: next(_of(tf)([1]).as_numpy_iterator()).flags.writeable),
    ("traced", lambda tf: error_of(tf.function(lambda: tf.data.Dataset.range(2).as_numpy_iterator() and 1))),
    ("map", _failing(lambda tf, data, small: data.map(small), _BEGAN + "MapDataset")),
    ("flat_map", _failing(lambda tf, data, small: data.flat_map(lambda x: _of(tf)(small(x))), "FlatMapDataset")),
    ("interleave", _failing(lambda tf, data, small: data.interleave(lambda x: _of(tf)(small(x))), "InterleaveDataset")),
    ("filter", _failing(lambda tf, data, small: data.filter(lambda x: small(x) > 0), _BEGAN + "FilterDataset")),
    ("take_while", _failing(lambda tf, data, small: data.take_while(lambda x: small(x) < 10))),
    ("scan", _failing(lambda tf, data, small: data.scan(tf.constant(0, tf.int64), lambda s, x: (s + small(x), x)))),
    ("inner", _failing(lambda tf, data, small: data.flat_map(lambda x: data.map(small)), _BEGAN + "MapDataset")),
    ("gather", _failing(lambda tf, data, small: data.flat_map(lambda x: _of(tf)(tf.gather([1, 2], x))))),
    ("batch", _failing(lambda tf, data, small: data.flat_map(lambda x: data.batch(x - 1)))),
    ("no_file", _failing(lambda tf, data, small: _of(tf)(["/nosuch"]).flat_map(tf.data.TextLineDataset))),
]
