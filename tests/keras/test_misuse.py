"""Invalid input to Keras on gradtape: Keras' own errors, nothing half-loaded, nothing executed from a file."""

import os
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras
X, Y = np.ones((8, 4), "float32"), np.zeros((8, 1), "float32")


def network(*layers):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((4,)), *layers, keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


@pytest.mark.parametrize("shape", [(8, 3), (8, 4, 4, 1), (8,)])
@pytest.mark.parametrize("call", ["fit", "evaluate", "train_on_batch", "__call__"])
def test_inputs_of_a_wrong_shape(shape, call):
    model = network()
    weights = model.get_weights()
    given = (np.zeros(shape, "float32"),) if call == "__call__" else (np.zeros(shape, "float32"), Y)
    with pytest.raises(ValueError, match=r"incompatible|expected shape"):
        getattr(model, call)(*given)
    for before, after in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(before, after)
    assert int(model.optimizer.iterations) == 0
    assert np.isfinite(model.fit(X, Y, verbose=0).history["loss"]).all()  # the model is still usable


def test_targets_of_a_wrong_shape():
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="shape"):
        network().fit(X, np.zeros((8, 3, 2, 5), "float32"), verbose=0)


def test_inputs_and_targets_of_different_lengths():
    with pytest.raises(ValueError, match="cardinality"):
        network().fit(X, Y[:5], verbose=0)


def test_no_gradient_for_any_variable():
    v = keras.Variable(1.0, name="scale")
    optimizer = keras.optimizers.SGD()
    with pytest.raises(ValueError, match=r"No gradients provided for any variable.*scale.*tape\.explain"):
        optimizer.apply_gradients([(None, v)])
    assert int(optimizer.iterations) == 0
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    assert int(optimizer.iterations) == 1


def test_a_loss_that_leaves_the_tape():
    class Detached(keras.losses.Loss):
        def call(self, y_true, y_pred):
            return keras.ops.mean(keras.ops.stop_gradient(y_pred) - y_true)

    model = network()
    model.compile("sgd", Detached())
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        model.fit(X, Y, verbose=0)


def test_some_variables_without_a_gradient():
    used, unused = keras.Variable(1.0), keras.Variable(2.0, name="unused")
    optimizer = keras.optimizers.SGD(0.25)
    with pytest.warns(UserWarning, match="Gradients do not exist for variables") as warned:
        warnings.simplefilter("default")
        for _ in range(2):
            optimizer.apply_gradients([(tf.constant(1.0), used), (None, unused)])
    assert (float(used), float(unused)) == (0.5, 2.0)
    assert len(warned) == 1  # one per line, as Python's filters have it


def test_variables_an_optimizer_does_not_know():
    optimizer = keras.optimizers.SGD(0.5)
    optimizer.apply_gradients([(tf.constant(1.0), keras.Variable(1.0))])
    stranger = keras.Variable(1.0)
    with pytest.raises(ValueError, match="Unknown variable"):
        optimizer.apply_gradients([(tf.constant(1.0), stranger)])
    assert float(stranger) == 1.0 and int(optimizer.iterations) == 1


def test_nan_stops():
    y = Y.copy()
    y[0] = np.nan
    history = network().fit(X, y, epochs=5, batch_size=8, verbose=0, callbacks=[keras.callbacks.TerminateOnNaN()])
    assert len(history.history["loss"]) == 1


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Saves a small model to a file."""
    path = tmp_path_factory.mktemp("models") / "model.keras"
    network().save(path)
    return path.read_bytes()


def test_a_file_cut_off_anywhere(saved, tmp_path):
    path = tmp_path / "model.keras"
    for size in range(len(saved)):
        path.write_bytes(saved[:size])
        with pytest.raises((ValueError, OSError, zipfile.BadZipFile)):
            keras.models.load_model(path)


def test_weights_cut_off_anywhere(tmp_path):
    path = tmp_path / "cut.weights.h5"
    model = network()
    model.save_weights(path)
    whole = path.read_bytes()
    model.set_weights([np.full_like(w, 7) for w in model.get_weights()])
    for size in range(0, len(whole), 97):
        path.write_bytes(whole[:size])
        with pytest.raises((ValueError, OSError)):
            model.load_weights(path)
    assert all((w == 7).all() for w in model.get_weights())


def test_a_file_with_a_wrong_byte_is_refused_or_right(saved, tmp_path):
    path = tmp_path / "model.keras"
    right = network()(X)
    for place in np.random.default_rng(0).choice(len(saved), 150, replace=False):
        data = bytearray(saved)
        data[place] ^= 0xFF
        path.write_bytes(data)
        try:
            model = keras.models.load_model(path)
        except Exception as error:  # a wrong byte may be in names, sizes, JSON or compressed data
            assert str(error)
        else:
            np.testing.assert_array_equal(model(X), right)


def test_weights_of_another_model_are_refused(tmp_path):
    path = tmp_path / "other.weights.h5"
    network(keras.layers.Dense(5)).save_weights(path)
    model = network(keras.layers.Dense(3))
    with pytest.raises(ValueError, match="shape"):
        model.load_weights(path)


def test_no_file(tmp_path):
    with pytest.raises(ValueError, match="File not found"):
        keras.models.load_model(tmp_path / "none.keras")


def test_lambda_is_not_run_from_a_file(tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    monkeypatch.setenv("RAN", str(ran))
    layer = keras.layers.Lambda(lambda x: (Path(os.environ["RAN"]).touch(), x * 2)[1])
    model = keras.Sequential([keras.Input((2,)), layer])
    model(X[:, :2])
    ran.unlink()
    model.save(tmp_path / "model.keras")
    with pytest.raises(ValueError, match="Lambda"):
        keras.models.load_model(tmp_path / "model.keras")
    assert not ran.exists()
