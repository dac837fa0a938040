"""`fit` with tensors that are on a device: they are sliced there."""

import numpy as np
import pytest
from stand_in import MODULE

import gradtape as tf
from gradtape.engine.registry.devices import DeviceTensor
from keras_gradtape.src import feeding
from keras_gradtape.src.batches import Batches

pytestmark = pytest.mark.usefixtures("gpu")
keras = tf.keras


def data_of():
    rng = np.random.default_rng(5)
    return rng.normal(size=(11, 5)).astype("float32"), rng.normal(size=(11, 2)).astype("float32")


def read(**options):
    """Returns the batches of a pass."""
    batches = Batches(**options)
    with batches:
        return [next(iterator) for _, _, iterator in batches]


def test_tensors_on_the_device_stay_there(monkeypatch):
    x, y = (tf.constant(a) for a in data_of())
    assert type(x) is type(y) is DeviceTensor
    fetched, to_host = [], MODULE.to_host
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(4, "tanh"), keras.layers.Dense(2)])
    model.compile("adam", "mse", jit_compile=False)
    model.fit(x, y, batch_size=6, verbose=0)  # tracing reads a batch of each shape
    monkeypatch.setattr(MODULE, "to_host", lambda array: fetched.append(tuple(array.shape)) or to_host(array))
    model.fit(x, y, batch_size=6, epochs=2, verbose=0)
    assert not [shape for shape in fetched if shape in ((11, 5), (6, 5), (5, 5), (11, 2), (6, 2), (5, 2))]


@pytest.mark.parametrize("for_xla", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_their_batches_are_those_of_arrays(monkeypatch, dtype, shuffle, for_xla):
    if for_xla:
        pytest.importorskip("jax")
        monkeypatch.setattr(feeding, "has_accelerator", lambda: True)
    values = (np.arange(22).reshape(11, 2) * 2**33 if dtype == "int64" else data_of()[0]).astype(dtype)
    keras.utils.set_random_seed(2)
    found = read(x=tf.constant(values), batch_size=4, shuffle=shuffle, for_xla=for_xla)
    assert all((type(batch) is tf.Tensor) == for_xla for batch in found)
    keras.utils.set_random_seed(2)
    expected = read(x=values, batch_size=4, shuffle=shuffle)
    for mine, other in zip(found, expected, strict=True):
        assert np.asarray(mine).dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(np.asarray(mine), np.asarray(other))
