"""Helpers of the tests of `tf.data`."""

import gradtape as tf

Dataset = tf.data.Dataset


def values(dataset):
    """Returns the elements of a pass as Python numbers and lists."""
    return [tf.nest.map_structure(lambda x: x.tolist() if hasattr(x, "tolist") else x, e)
            for e in dataset.as_numpy_iterator()]  # fmt: skip


def numbers(n=5):
    """Returns a dataset of the first numbers."""
    return Dataset.range(n)
