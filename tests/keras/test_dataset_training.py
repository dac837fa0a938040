"""`tf.data.Dataset` as the data of Keras' models."""

import numpy as np
import pytest

import gradtape as tf

pytestmark = pytest.mark.filterwarnings("ignore:.*shuffle=True")  # Keras says so whenever `fit` is given a dataset

keras = tf.keras
Dataset = tf.data.Dataset
X = np.random.default_rng(0).normal(size=(50, 4)).astype("float32")
Y = (X[:, :1] > 0).astype("float32")


def model():
    keras.utils.set_random_seed(1)
    made = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="tanh"), keras.layers.Dense(1)])
    made.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    return made


def batches():
    return Dataset.from_tensor_slices((X, Y)).batch(8)


class Steps(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.epochs = []

    def on_epoch_begin(self, epoch, logs=None):
        self.epochs.append(0)

    def on_train_batch_end(self, batch, logs=None):
        self.epochs[-1] += 1


def test_fit_is_what_fit_on_arrays_is():
    arrays, dataset = model(), model()
    expected = arrays.fit(X, Y, batch_size=8, shuffle=False, epochs=2, verbose=0, validation_data=(X, Y)).history
    found = dataset.fit(batches(), epochs=2, verbose=0, validation_data=batches().prefetch(2)).history
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        np.testing.assert_allclose(found[key], values, rtol=1e-4)


def test_evaluate_and_predict():
    m = model()
    np.testing.assert_allclose(m.evaluate(batches(), verbose=0), m.evaluate(X, Y, verbose=0), rtol=1e-4)
    np.testing.assert_allclose(m.predict(batches(), verbose=0), m.predict(X, verbose=0), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        m.predict(Dataset.from_tensor_slices(X).batch(7), verbose=0), m.predict(X, verbose=0), rtol=1e-4, atol=1e-6
    )


def test_class_weights():
    weights = {0: 1.0, 1: 3.0}
    arrays, dataset = model(), model()
    expected = arrays.fit(X, Y, batch_size=8, shuffle=False, class_weight=weights, verbose=0).history
    found = dataset.fit(batches(), class_weight=weights, verbose=0).history
    np.testing.assert_allclose(found["loss"], expected["loss"], rtol=1e-4)
    weighted = Dataset.from_tensor_slices((X, Y, np.ones(50, "float32"))).batch(8)
    with pytest.raises(ValueError, match="at the same time"):
        model().fit(weighted, class_weight=weights, verbose=0)


def test_sample_weights():
    weights = np.linspace(0, 1, 50).astype("float32")
    expected = model().fit(X, Y, sample_weight=weights, batch_size=8, shuffle=False, verbose=0).history
    found = model().fit(Dataset.from_tensor_slices((X, Y, weights)).batch(8), verbose=0).history
    np.testing.assert_allclose(found["loss"], expected["loss"], rtol=1e-4)


def test_steps_of_an_epoch():
    seen = Steps()
    model().fit(batches(), epochs=2, verbose=0, callbacks=[seen])
    assert seen.epochs == [7, 7]
    assert seen.params["steps"] == 7


def test_an_infinite_dataset_needs_steps_per_epoch_and_goes_on_where_it_was():
    taken = []

    def note(x, y):
        taken.append(float(x[0]))
        return x, y

    seen = Steps()
    data = Dataset.from_tensor_slices((X, Y)).map(note).batch(8).repeat()
    model().fit(data, epochs=3, steps_per_epoch=2, verbose=0, callbacks=[seen])
    assert seen.epochs == [2, 2, 2]
    in_order = [float(x[0]) for x in X]
    assert taken[:8] == in_order[:8]  # a batch to build the model with
    assert taken[8:56] == in_order[:48]


def test_a_dataset_of_unknown_length_is_counted_in_the_first_epoch():
    seen = Steps()
    data = Dataset.from_tensor_slices((X, Y)).filter(lambda x, y: y[0] > 0).batch(8)
    count = sum(1 for _ in data)
    with pytest.warns(UserWarning, match="ran out of data"):  # Keras cannot know that this is the end
        model().fit(data, epochs=2, verbose=0, callbacks=[seen])
    assert seen.epochs == [count, count]


def test_running_out_of_data_warns():
    seen = Steps()
    with pytest.warns(UserWarning, match="ran out of data"):
        model().fit(batches().take(3), epochs=2, steps_per_epoch=5, verbose=0, callbacks=[seen])
    assert seen.epochs[0] == 3


def test_dicts_of_inputs():
    a, b = keras.Input((2,), name="a"), keras.Input((2,), name="b")
    m = keras.Model({"a": a, "b": b}, keras.layers.Dense(1, name="out")(keras.layers.Concatenate()([a, b])))
    m.compile("adam", "mse")
    data = Dataset.from_tensor_slices(({"a": X[:, :2], "b": X[:, 2:]}, Y)).shuffle(50, seed=1).batch(10)
    history = m.fit(data, epochs=3, verbose=0).history["loss"]
    assert history[-1] < history[0]


def test_targets_beside_a_dataset_are_refused():
    with pytest.raises(ValueError, match="should not be passed"):
        model().fit(batches(), Y, verbose=0)


def test_a_normalization_layer_adapts_to_a_dataset():
    layer = keras.layers.Normalization()
    layer.adapt(Dataset.from_tensor_slices(X).batch(8))
    np.testing.assert_allclose(layer.mean.numpy().ravel(), X.mean(0), atol=1e-5)


def test_layers_inside_map():
    scale = keras.layers.Rescaling(2.0)
    data = Dataset.from_tensor_slices(X).batch(10).map(lambda x: scale(x))
    np.testing.assert_allclose(next(iter(data)), 2 * X[:10], rtol=1e-6)


def test_a_custom_loop():
    m, optimizer, loss_of = model(), keras.optimizers.Adam(0.05), keras.losses.MeanSquaredError()

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, m(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, m.trainable_variables), m.trainable_variables, strict=True))
        return loss

    data = Dataset.from_tensor_slices((X, Y)).shuffle(50, seed=3).batch(10).prefetch(tf.data.AUTOTUNE)
    losses = [float(step(x, y)) for _ in range(5) for x, y in data]
    assert len(losses) == 25
    assert np.mean(losses[-5:]) < np.mean(losses[:5])


@pytest.mark.filterwarnings("ignore:Your input ran out of data")
@pytest.mark.parametrize("built", [True, False])
def test_no_data(built):
    signature = (tf.TensorSpec([2, 4]), tf.TensorSpec([2, 1]))
    for data in (
        tf.data.Dataset.from_tensor_slices((np.zeros((0, 4), "float32"), np.zeros((0, 1), "float32"))).batch(2),
        tf.data.Dataset.from_generator(lambda: iter([]), output_signature=signature),
    ):
        model = keras.Sequential([keras.Input((4,))] * built + [keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        assert model.fit(data, verbose=0).history == {}
        assert model.evaluate(data, verbose=0) == []
        with pytest.raises(ValueError, match="no data"):
            model.predict(data, verbose=0)
