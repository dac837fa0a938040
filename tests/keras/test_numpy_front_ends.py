"""`tf.experimental.numpy` and `keras.ops`: one implementation with two promotion policies."""

import copy
import importlib
import inspect
import pickle

import numpy as np
import pytest

import gradtape as tf
import gradtape.keras
from gradtape.api.catalogue import rows
from gradtape.api.names import NAMES

keras_numpy = importlib.import_module("keras_gradtape.src.ops.numpy")
tnp = tf.experimental.numpy
FUNCTIONS = sorted(path.rpartition(".")[2] for path in NAMES if path.startswith("experimental.numpy."))
FUNCTIONS = [name for name in FUNCTIONS if inspect.isroutine(getattr(tnp, name, None))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_signatures_and_names(name):
    function = getattr(tnp, name)
    signature = inspect.signature(function)
    assert function.__name__ == name and function.__doc__
    assert "p" not in signature.parameters or name == "polyval"
    if function.__module__.startswith("gradtape."):
        assert signature.return_annotation is not inspect.Signature.empty


@pytest.mark.parametrize("name", ["sin", "add", "moveaxis", "isclose", "sum"])
def test_functions_are_pickled_and_copied(name):
    for function in (getattr(tnp, name), getattr(keras_numpy, name)):
        arguments = [[1.0, 2.0], *{"add": [3.0], "moveaxis": [0, 0], "isclose": [1.0]}.get(name, [])]
        again = [pickle.loads(pickle.dumps(function)), copy.deepcopy(function)]
        for other in again:
            np.testing.assert_array_equal(other(*arguments), function(*arguments))


def test_policies_differ_in_dtypes():
    ones = np.ones(2, np.int8)
    for name, arguments in {"divide": (ones, 2), "sin": (ones,), "hypot": (1, 2), "vander": ([1, 2],)}.items():
        wide, narrow = getattr(tnp, name)(*arguments).dtype, getattr(keras_numpy, name)(*arguments).dtype
        assert (wide, narrow) in [(tf.float64, tf.float32), (tf.int64, tf.int32)], name
    assert tnp.eye(2).dtype is tf.float64 and keras_numpy.eye(2).dtype is tf.float32


def test_policies_differ_in_errors_and_parameters():
    with pytest.raises(np.exceptions.AxisError, match="out of bounds"):
        tnp.flip([1, 2], 3)
    with pytest.raises(ValueError, match="out of bounds"):
        keras_numpy.flip([1, 2], 3)
    assert list(inspect.signature(tnp.rot90).parameters) == ["m", "k", "axes"]
    assert list(inspect.signature(keras_numpy.rot90).parameters) == ["array", "k", "axes"]
    assert keras_numpy.tile(x=[1, 2], repeats=2).numpy().tolist() == tnp.tile(a=[1, 2], reps=2).numpy().tolist()


def test_rows_of_the_catalogue_are_functions_of_both():
    shared = [row for row in rows() if row.numpy]
    assert len(shared) > 20
    for row in shared:
        count = 2 if row.elementwise == "binary" else 1
        x = [tf.constant([1.25, 2.5])] * count
        if row.numpy in ("arcsin", "arccos", "arctanh"):
            x = [tf.constant([0.25, 0.5])]
        expected = row.call(*x).numpy()
        np.testing.assert_array_equal(getattr(tnp, row.numpy)(*x), expected)
        np.testing.assert_array_equal(getattr(keras_numpy, row.keras)(*x), expected)


def test_shared_functions_are_traced_and_differentiated():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    function = tf.function(lambda x: tnp.vdot(tnp.rot90(x), tnp.moveaxis(x, 0, 1)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    assert float(y) == float(np.vdot(np.rot90(x), np.moveaxis(x.numpy(), 0, 1)))
    assert tape.gradient(y, x).numpy().tolist() == [[4.0, 2.0], [8.0, 6.0]]
