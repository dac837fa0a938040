"""Optimizers as used on TensorFlow."""

import logging

import numpy as np
import pytest

import gradtape as tf
from gradtape.graph.function import function

keras = tf.keras


@pytest.mark.parametrize("make", [tf.Variable, keras.Variable])
def test_apply_gradients_returns_the_count(make):
    v = make([1.0, 2.0])
    optimizer = keras.optimizers.SGD(0.5)
    assert int(optimizer.apply_gradients([(tf.constant([2.0, 2.0]), v)])) == 1
    np.testing.assert_allclose(v.numpy(), [0.0, 1.0])


def test_minimize():
    v = tf.Variable(3.0)
    optimizer = keras.optimizers.SGD(0.25)
    optimizer.minimize(lambda: v * v, [v])
    assert float(v) == 1.5
    with tf.GradientTape() as tape:
        loss = v * v
    optimizer.minimize(loss, [v], tape=tape)
    assert float(v) == 0.75
    with pytest.raises(ValueError, match="tape"):
        optimizer.minimize(loss, [v])


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad", "Ftrl", "Nadam", "Adamax", "Lion", "AdamW"])
def test_sparse_gradients_are_as_good_as_dense(name):
    values, indices = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([2, 0])
    sparse = tf.IndexedSlices(values, indices, tf.constant([3, 2]))
    results = []
    for g in (sparse, tf.convert_to_tensor(sparse)):
        v = keras.Variable(np.ones((3, 2), "float32"))
        optimizer = getattr(keras.optimizers, name)(0.1)
        for _ in range(2):
            optimizer.apply_gradients([(g, v)])
        results.append(v.numpy())
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)


def updated_by_slices(optimizer, eagerly):
    """Returns a table after three updates by slices with duplicates, the last one by fewer."""
    rng = np.random.default_rng(0)
    v = keras.Variable(rng.standard_normal((7, 3)).astype("float32"))
    update = tf.function(lambda g, i: optimizer.apply_gradients([(tf.IndexedSlices(g, i, (7, 3)), v)]))
    update = update.python_function if eagerly else update
    for count in (5, 5, 2):
        values = rng.standard_normal((count, 3)).astype("float32")
        update(tf.constant(values), tf.constant(rng.integers(0, 7, count)))
    return v.numpy()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {}) for name in ("SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Adafactor", "Ftrl", "Lion")),
        *(("Adam", {name: 0.1}) for name in ("clipnorm", "global_clipnorm", "clipvalue")),
        ("SGD", {"momentum": 0.9}),
        ("SGD", {"use_ema": True}),
    ],
)
def test_slices_update_in_a_trace_as_they_do_eagerly(name, options):
    make = getattr(keras.optimizers, name)
    eager, traced = (updated_by_slices(make(0.1, **options), eagerly) for eagerly in (True, False))
    np.testing.assert_allclose(traced, eager, rtol=1e-6, atol=1e-7)


def test_own_optimizers_are_given_slices_in_a_trace():
    class Rows(keras.optimizers.Adam):
        def update_step(self, gradient, variable, learning_rate):
            assert isinstance(gradient, tf.IndexedSlices)
            self.assign_sub(variable, gradient)

    np.testing.assert_allclose(updated_by_slices(Rows(), False), updated_by_slices(Rows(), True), rtol=1e-6)


def test_plain_descent_touches_only_the_rows_it_has_gradients_for():
    table = keras.layers.Embedding(5, 2)
    table.build()
    before = table.embeddings.numpy()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(table(tf.constant([1, 1, 3])))
    g = tape.gradient(loss, table.embeddings)
    keras.optimizers.SGD(0.5).apply_gradients([(g, table.embeddings)])
    expected = before - 0.5 * np.array([[0.0], [2.0], [0.0], [1.0], [0.0]], "float32")
    np.testing.assert_allclose(table.embeddings.numpy(), expected, rtol=1e-6)


def test_schedules_and_clipping():
    v = keras.Variable([3.0, 4.0])
    schedule = keras.optimizers.schedules.ExponentialDecay(1.0, 1, 0.5)
    optimizer = keras.optimizers.SGD(schedule, clipnorm=1.0)
    for _ in range(2):
        optimizer.apply_gradients([(tf.constant([3.0, 4.0]), v)])
    np.testing.assert_allclose(v.numpy(), np.array([3.0, 4.0]) - 1.5 * np.array([0.6, 0.8]), rtol=1e-5)


def test_update_follows_changed_hyperparameters():
    v = keras.Variable(1.0)
    optimizer = keras.optimizers.SGD(0.5)
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    optimizer.learning_rate = 0.25
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    assert float(v.value) == 0.25


# The initial weights [1.5, -0.25] after 20 steps on (x² - 1)² / 4, in float64, under Keras on TensorFlow 2.21.
AFTER_20_STEPS = [
    ("Adadelta", {}, [1.4970449770861454, -0.2529762788824753]),
    ("Adafactor", {}, [1.0000309861195427, -0.9999999999906276]),
    ("Adagrad", {}, [1.070355399684766, -0.911261592984848]),
    ("Adam", {}, [0.8532635506448771, -0.899995219665935]),
    ("Adamax", {}, [0.8844070311966999, -0.9897311670978475]),
    ("AdamW", {}, [0.8516421306824745, -0.8997776097843126]),
    ("Ftrl", {}, [1.017075754742635, -0.7697467382794423]),
    ("Lamb", {}, [1.0776292998748749, -0.9975636357251916]),
    ("Lion", {}, [0.8999999910593033, -1.050000011920929]),
    ("Nadam", {}, [0.9097190711467169, -1.0191278088470732]),
    ("RMSprop", {"momentum": 0.9, "centered": True}, [0.6399339319886742, -0.8676109253518787]),
    ("SGD", {"momentum": 0.9}, [1.073632022539745, -0.8889179952481949]),
]


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize(("name", "options", "expected"), AFTER_20_STEPS)
def test_steps_in_float64_are_those_of_keras_on_tensorflow(name, options, expected, graph):
    optimizer = getattr(keras.optimizers, name)(learning_rate=0.1, **options)
    v = keras.Variable([1.5, -0.25], dtype="float64")
    optimizer.build([v])

    def step():
        optimizer.apply([v * v * v - v], [v])

    run = tf.function(step) if graph else step
    for _ in range(20):
        run()
    np.testing.assert_allclose(v.numpy(), expected, rtol=1e-13)


@pytest.mark.parametrize("x", [0.999, [0.999], (0.999, 2), [[0.999]]])
def test_a_cast_of_a_python_number_goes_by_way_of_tensorflows_dtype(x):
    rounded = np.array(x, "float32").astype("float64")
    np.testing.assert_array_equal(keras.ops.cast(x, "float64"), rounded)
    np.testing.assert_array_equal(keras.ops.convert_to_tensor(x, "float64"), np.array(x))
    np.testing.assert_array_equal(keras.ops.cast(np.array(x), "float64"), np.array(x))


def make_clipped(optimizer, **options):
    return getattr(keras.optimizers, optimizer)(learning_rate=0.1, **options)


@pytest.fixture
def repeated_row_sums():
    tf.config.enable_repeated_row_sums()
    yield
    tf.config.enable_repeated_row_sums(False)


def embedding_losses(optimizer, options, run_eagerly):
    keras.utils.set_random_seed(2)
    x = np.array([[1, 2, 2, 5], [2, 2, 3, 1], [7, 7, 7, 7], [0, 1, 2, 3]])  # duplicate rows
    y = np.array([[1.0], [2.0], [-1.0], [0.5]], "float32")
    model = keras.Sequential([keras.layers.Embedding(9, 3), keras.layers.Flatten(), keras.layers.Dense(1)])
    model.compile(make_clipped(optimizer, **options), "mse", run_eagerly=run_eagerly)
    return model.fit(x, y, batch_size=2, epochs=3, shuffle=False, verbose=0).history["loss"]


@pytest.mark.parametrize("run_eagerly", [False, True])
@pytest.mark.parametrize(
    ("optimizer", "options", "losses"),  # as on TensorFlow 2.21
    [
        ("Adam", {}, [1.47664, 0.32015, 0.30945]),
        ("Adamax", {}, [1.47862, 0.60998, 0.20909]),
        ("RMSprop", {}, [1.60187, 0.89034, 1.20252]),
        ("Ftrl", {}, [1.53753, 1.42428, 1.14539]),
        ("Adam", {"clipnorm": 0.1}, [1.47664, 0.33197, 0.32803]),
        ("Adam", {"global_clipnorm": 0.1}, [1.47324, 0.53638, 0.21645]),
        ("SGD", {"clipvalue": 0.1}, [1.47341, 1.34253, 1.20614]),
    ],
)
def test_embeddings_train_to_tensorflows_numbers(optimizer, options, losses, run_eagerly):
    np.testing.assert_allclose(embedding_losses(optimizer, options, run_eagerly), losses, rtol=1e-4)


@pytest.mark.parametrize("traces", [False, True])
@pytest.mark.parametrize(
    ("optimizer", "options", "rows"),  # as on TensorFlow 2.21
    [
        ("Adam", {}, [1.0, 0.73167, 1.2, 0.75423]),
        ("AdamW", {}, [0.9992, 0.73093, 1.19916, 0.75348]),
        ("Nadam", {}, [1.0, 0.75362, 1.18364, 0.77434]),
        ("Adagrad", {}, [1.0, 0.77276, 1.16435, 0.79111]),
        ("Adagrad", {"clipnorm": 0.5}, [1.0, 0.83535, 1.07255, 0.82918]),
        ("Adadelta", {}, [1.0, 0.99962, 1.00028, 0.99965]),
        ("RMSprop", {}, [1.0, 0.26794, 1.54564, 0.32949]),
        ("Ftrl", {}, [0.0, 0.63273, 0.86284, 0.68804]),
        ("Ftrl", {"clipnorm": 0.5}, [0.0, 0.09335, 0.14537, 0.19929]),
        ("Lamb", {}, [1.0, 0.74582, 1.18946, 0.76719]),
    ],
)
def test_repeated_rows_have_tensorflows_steps(optimizer, options, rows, traces):
    variable = keras.Variable(np.ones((4, 1), "float32"))
    made = make_clipped(optimizer, **options)
    made.build([variable])

    def step(values, indices):
        made.apply([tf.IndexedSlices(values, indices, tf.constant([4, 1]))], [variable])

    step = tf.function(step) if traces else step
    for _ in range(2):
        step(tf.constant([[1.0], [2.0], [-1.0], [0.5], [0.25], [3.0]]), tf.constant([1, 1, 2, 3, 3, 3]))
    np.testing.assert_allclose(np.asarray(variable)[:, 0], rows, atol=1e-5)


@pytest.mark.usefixtures("repeated_row_sums")
def test_embeddings_train_as_with_dense_gradients_if_asked():
    assert tf.config.repeated_row_sums_enabled()
    np.testing.assert_allclose(embedding_losses("Adam", {}, False), [1.47317, 0.53611, 0.26677], rtol=1e-4)


def test_a_warning_of_retracing_names_what_the_program_calls(caplog, monkeypatch):
    monkeypatch.setattr(function, "_MOST_WARNINGS", 10**6)  # other tests may have used all of them

    def train(optimizer):
        v = tf.Variable([1.0, 2.0])
        for _ in range(4):
            optimizer.apply_gradients([(2.0 * v, v)])

    with caplog.at_level(logging.WARNING, "gradtape"):
        for _ in range(12):
            train(keras.optimizers.Nadam(0.1))
    texts = [record.getMessage() for record in caplog.records if "retracing" in record.getMessage()]
    assert all("Nadam.apply_gradients in train (test_optimizers.py:" in text for text in texts)
    assert texts


@pytest.mark.parametrize("jit_compile", [None, True])
def test_a_second_optimizer_in_one_function_is_refused(jit_compile):
    v = tf.Variable(1.0)
    optimizers = [keras.optimizers.Adam(0.1) for _ in range(2)]

    @tf.function(jit_compile=jit_compile)
    def step(i):
        with tf.GradientTape() as tape:
            y = v * v
        optimizers[i].apply_gradients([(tape.gradient(y, v), v)])

    step(0)
    with pytest.raises(ValueError, match=r"only supports singleton tf\.Variables created on the first call"):
        step(1)


def losses_under_a_scale_that_grows(run_eagerly, by_fit):
    keras.utils.set_random_seed(3)
    x = np.random.default_rng(1).normal(size=(16, 6)).astype("float32")
    model = keras.Sequential([keras.layers.Dense(4, dtype="mixed_float16"), keras.layers.Dense(1)])
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1), 1024.0, dynamic_growth_steps=1)
    if by_fit:
        model.compile(optimizer, "mse", run_eagerly=run_eagerly)
        return model.fit(x, x[:, :1], epochs=5, verbose=0).history["loss"]

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - x[:, :1]) ** 2)
            scaled = optimizer.scale_loss(loss)
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(scaled, weights), weights, strict=True))
        return loss

    run = step if run_eagerly else tf.function(step)
    return [float(run(tf.constant(x))) for _ in range(5)]


@pytest.mark.parametrize("by_fit", [False, True])
def test_a_scale_of_the_loss_that_grows_is_read_by_a_step_that_built_the_optimizer(by_fit):
    """`scale_loss` uses the initial scale until the optimizer is built: the step must be retraced after that."""
    eager = losses_under_a_scale_that_grows(run_eagerly=True, by_fit=by_fit)
    np.testing.assert_allclose(losses_under_a_scale_that_grows(run_eagerly=False, by_fit=by_fit), eager, rtol=1e-3)


def test_the_first_step_of_a_built_model_is_traced_once():
    traces = []

    class Model(keras.Model):
        def train_step(self, data):
            traces.append(1)
            return super().train_step(data)

    x = keras.Input([4])
    model = Model(x, keras.layers.Dense(1)(x))
    model.compile(loss="mse", optimizer="adam")
    model.fit(np.ones((6, 4)), np.ones((6, 1)), batch_size=2, verbose=0)
    assert len(traces) == 1 and model.optimizer.built
    untrained = Model(x, keras.layers.Dense(1)(x))
    untrained.compile(loss="mse", optimizer="adam")
    untrained.evaluate(np.ones((6, 4)), np.ones((6, 1)), verbose=0)
    assert not untrained.optimizer.built  # which takes memory
