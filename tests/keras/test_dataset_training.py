"""`tf.data.Dataset` as the data of Keras models."""

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
    assert taken == in_order[:48]  # no batch is read ahead to build the model


def test_a_dataset_of_unknown_length_is_counted_in_the_first_epoch():
    seen = Steps()
    data = Dataset.from_tensor_slices((X, Y)).filter(lambda x, y: y[0] > 0).batch(8)
    count = sum(1 for _ in data)
    # Keras 3.15 cannot know that this is the end.
    with pytest.warns(UserWarning, match=r"ran out of data|already be shuffled"):
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


# The orders in which TensorFlow 2.21 iterates over these six numbers, pass by pass, with these seeds.
PASSES = ["450213", "241035", "401253", "251430", "432510", "140235", "135042"]


class Noted:
    """A dataset of six numbers, `(x, y)` in batches of two, that records each number as it is read."""

    def __init__(self, change=lambda dataset: dataset):
        self.read = ""

        def note(x):
            self.read += str(int(x))
            return x

        tf.random.set_seed(5)
        numbers = change(Dataset.range(6).map(lambda x: tf.cast(x, tf.float32)).shuffle(6, seed=3))
        noted = numbers.map(lambda x: tf.py_function(note, [x], tf.float32))
        self.dataset = noted.batch(2).map(lambda x: (x[:, None], x[:, None]))


def one_weight(built=True, **options):
    keras.utils.set_random_seed(1)
    made = keras.Sequential([keras.Input((1,))] * built + [keras.layers.Dense(1)])
    made.compile(keras.optimizers.SGD(0.01), "mse", **options)
    return made


@pytest.mark.parametrize("built", [True, False])
@pytest.mark.parametrize("options", [{}, {"run_eagerly": True}, {"steps_per_execution": 2}])
def test_fit_reads_the_passes_that_tensorflow_reads(built, options):
    noted = Noted()
    losses = one_weight(built, **options).fit(noted.dataset, epochs=3, verbose=0).history["loss"]
    assert noted.read == PASSES[0] + PASSES[2] + PASSES[4]  # Keras starts an extra pass at the end of each epoch
    np.testing.assert_allclose(losses, [25.24451, 5.30409, 1.37147], rtol=1e-5)


def test_evaluate_and_predict_read_the_passes_that_tensorflow_reads():
    noted = Noted()
    model = one_weight(built=False)
    model.evaluate(noted.dataset, verbose=0)
    assert noted.read == PASSES[0]
    model.evaluate(noted.dataset, verbose=0)
    assert noted.read == PASSES[0] + PASSES[2]
    found = model.predict(noted.dataset, verbose=0).ravel()
    assert noted.read == PASSES[0] + PASSES[2] + PASSES[4]
    np.testing.assert_allclose(found, [-3.3394, -2.5045, -1.6697, -4.1742, -0.8348, 0.0], rtol=1e-4)


def test_validation_reads_the_passes_that_tensorflow_reads():
    train, validation = Noted(), Noted()
    one_weight().fit(train.dataset, epochs=4, validation_data=validation.dataset, validation_freq=2, verbose=0)
    assert train.read == PASSES[0] + PASSES[2] + PASSES[4] + PASSES[6]
    assert validation.read == PASSES[0] + PASSES[2]


@pytest.mark.filterwarnings("ignore:Your input ran out of data")
@pytest.mark.parametrize(
    ("change", "options", "read", "losses"),
    [
        (lambda d: d, {"steps_per_epoch": 2}, "4502132410", [35.51518, 4.70316, 3.94757]),
        (lambda d: d, {"steps_per_epoch": 3}, "450213241035401253", [25.24451, 5.40903, 1.33774]),
        (lambda d: d.repeat(), {"steps_per_epoch": 3}, "450213241035401253", [25.24451, 5.40903, 1.33774]),
        (lambda d: d.filter(lambda x: x > 0), {}, "452132413541253", [30.26382, 4.82465, 0.52671]),
        (lambda d: d.filter(lambda x: x > 0), {"steps_per_epoch": 3}, "4521324135", [30.26382, 0.0, 4.82465]),
    ],
)
def test_steps_per_epoch_and_unknown_lengths_read_what_tensorflow_reads(change, options, read, losses):
    noted = Noted(change)
    found = one_weight(built=False).fit(noted.dataset, epochs=3, verbose=0, **options).history["loss"]
    assert noted.read == read
    np.testing.assert_allclose(found, losses, rtol=1e-5)


@pytest.mark.filterwarnings("ignore:Your input ran out of data")
def test_an_execution_of_several_steps_that_data_of_unknown_length_does_not_fill():
    noted = Noted(lambda dataset: dataset.filter(lambda x: x > 0))
    losses = one_weight(steps_per_execution=2).fit(noted.dataset, epochs=3, verbose=0).history["loss"]
    assert noted.read == "452132413541253"
    np.testing.assert_allclose(losses, [30.26382, 4.82465, 0.52671], rtol=1e-5)


def test_class_weights_read_the_passes_that_tensorflow_reads():
    noted = Noted()
    weights = {i: 1.0 + i for i in range(6)}
    losses = one_weight().fit(noted.dataset, epochs=2, class_weight=weights, verbose=0).history["loss"]
    assert noted.read == PASSES[0] + PASSES[2]
    np.testing.assert_allclose(losses, [179.41368, 22.20151], rtol=1e-5)


def test_a_model_whose_call_takes_more_than_x_is_built_by_its_first_step():
    class Siamese(keras.Model):
        def __init__(self):
            super().__init__()
            self.embedding = keras.layers.Dense(4)
            self.tracker = keras.metrics.Mean(name="loss")

        def call(self, inputs):
            anchor, positive, negative = (self.embedding(x) for x in inputs)
            return tf.reduce_sum((anchor - positive) ** 2, -1) - tf.reduce_sum((anchor - negative) ** 2, -1)

        def train_step(self, data):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.maximum(self(data) + 0.5, 0.0))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            return self.noted(loss)

        def test_step(self, data):
            return self.noted(tf.reduce_mean(tf.maximum(self(data) + 0.5, 0.0)))

        def noted(self, loss):
            self.tracker.update_state(loss)
            return {"loss": self.tracker.result()}

        @property
        def metrics(self):
            return [self.tracker]

    data = Dataset.from_tensor_slices((X, X + 0.1 * X[::-1], 0.9 * X)).batch(10)
    for options in ({}, {"run_eagerly": True}, {"jit_compile": True}):
        siamese = Siamese()
        siamese.compile(keras.optimizers.Adam(0.01), **options)
        history = siamese.fit(data, epochs=2, validation_data=data, verbose=0).history
        assert history.keys() == {"loss", "val_loss"}
