"""`fit` on a device: batches of arrays are copied there ahead of their step, and nothing else changes."""

import itertools
import threading

import numpy as np
import pytest
from stand_in import MODULE

import gradtape as tf
from gradtape.engine.registry.devices import DeviceTensor
from keras_gradtape.src import feeding
from keras_gradtape.src.batches import Batches
from keras_gradtape.src.trainer import _as_tensors

keras = tf.keras
tree = keras.tree


@pytest.fixture(autouse=True)
def feeds_ahead(gpu, monkeypatch):
    """Feeds even the smallest batches ahead, and checks that no thread is left."""
    monkeypatch.setattr(feeding, "PREFETCH_MIN_BYTES", 0)
    yield
    assert not reading_threads()


def reading_threads():
    return [thread for thread in threading.enumerate() if thread.name == "gradtape-prefetch"]


def model_of(width=3, jit_compile=False, **options):
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.Input((width,)), keras.layers.Dense(4, "tanh"), keras.layers.Dense(2)])
    model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"], jit_compile=jit_compile, **options)
    return model


def data_of(count=11, width=3):
    rng = np.random.default_rng(5)
    return rng.normal(size=(count, width)).astype("float32"), rng.normal(size=(count, 2)).astype("float32")


def read(batches):
    """Returns the batches of a pass, on the host."""
    found = []
    with batches:
        for _, _, iterator in batches:
            found.append(tree.map_structure(np.asarray, _as_tensors(next(iterator))))
    return found


def first(**options):
    """Returns the first batch."""
    batches = Batches(**options)
    with batches:
        return next(next(iter(batches))[2])


# Batches.


def random_structure(rng, count):
    """Returns random inputs of `count` rows: arrays of several dtypes, layouts and structures."""

    def array():
        shape = (count, *rng.integers(1, 4, rng.integers(0, 3)))
        dtype = rng.choice(["float32", "float64", "float16", "int32", "int64", "uint8", "bool", "complex64", ">i4"])
        values = (rng.normal(size=shape) * 50).astype(dtype)
        kind = rng.integers(3)
        return np.asfortranarray(values) if kind == 0 else np.repeat(values, 2, axis=0)[::2] if kind == 1 else values

    kind = rng.integers(3)
    return array() if kind == 0 else {"a": array(), "b": array()} if kind == 1 else [array(), array()]


@pytest.mark.parametrize("seed", range(40))
def test_random_batches_are_those_of_one_row_after_the_other(seed):
    rng = np.random.default_rng(seed)
    count, size = int(rng.integers(1, 30)), int(rng.integers(1, 9))
    x, y = random_structure(rng, count), random_structure(rng, count)
    weight = rng.uniform(size=count).astype("float32") if rng.integers(2) and not isinstance(y, dict | list) else None
    shuffle = [False, True, "batch"][rng.integers(3)]
    tf.random.set_seed(None)
    np.random.seed(seed)  # noqa: NPY002  # what Keras draws with
    found = read(Batches(x=x, y=y, sample_weight=weight, batch_size=size, shuffle=shuffle))

    np.random.seed(seed)  # noqa: NPY002
    order = np.random.permutation(count) if shuffle is True else np.arange(count)  # noqa: NPY002
    parts = (x, y) if weight is None else (x, y, weight)
    floatx = tree.map_structure(lambda a: a.astype("float32") if a.dtype.kind == "f" else a, parts)
    for batch, start in itertools.zip_longest(found, range(0, count, size)):
        indices = order[start : start + size]
        if shuffle == "batch":
            indices = np.random.permutation(len(indices)) + start  # noqa: NPY002
        expected = tree.map_structure(lambda a, of=indices: np.stack([a[i] for i in of]), floatx)
        tree.assert_same_structure(batch, expected)
        for mine, other in zip(tree.flatten(batch), tree.flatten(expected), strict=True):
            assert mine.dtype == other.dtype.newbyteorder("=")
            np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("shuffle", [False, True, "batch"])
def test_with_a_seed_the_order_is_that_of_the_host(shuffle):
    x, y = data_of()
    keras.utils.set_random_seed(7)
    ahead = read(Batches(x=x, y=y, batch_size=4, shuffle=shuffle))
    with tf.device("/CPU:0"):
        keras.utils.set_random_seed(7)
        host = read(Batches(x=x, y=y, batch_size=4, shuffle=shuffle))
    for mine, other in zip(tree.flatten(ahead), tree.flatten(host), strict=True):
        np.testing.assert_array_equal(mine, other)


def test_batches_are_on_the_device_and_integers_of_32_bits_on_the_host():
    x = {"floats": np.ones((4, 2), "float32"), "tokens": np.ones((4, 2), "int32"), "long": np.ones(4, "int64")}
    batch = first(x=x, batch_size=2)
    assert type(batch["floats"]) is type(batch["long"]) is DeviceTensor
    assert type(batch["tokens"]) is tf.Tensor


def test_tensors_on_the_device_stay_there(monkeypatch):
    x, y = (tf.constant(a) for a in data_of(width=5))
    assert type(x) is type(y) is DeviceTensor
    fetched = []
    to_host = MODULE.to_host
    model = model_of(5)
    history = model.fit(x, y, batch_size=6, verbose=0).history["loss"]  # tracing reads a batch of each shape
    monkeypatch.setattr(MODULE, "to_host", lambda array: fetched.append(array.shape) or to_host(array))
    history += model.fit(x, y, batch_size=6, epochs=2, verbose=0).history["loss"]
    assert not [shape for shape in fetched if shape in ((11, 5), (6, 5), (5, 5), (11, 2), (6, 2), (5, 2))]
    x, y, model = x.numpy(), y.numpy(), model_of(5)
    host = [loss for n in (1, 2) for loss in model.fit(x, y, batch_size=6, epochs=n, verbose=0).history["loss"]]
    np.testing.assert_array_equal(history, host)


def test_tensors_on_the_device_get_the_default_dtype():
    x = tf.constant(np.arange(6.0).reshape(3, 2))
    assert x.dtype is tf.float64
    batch = first(x=x, batch_size=2)
    assert batch.dtype is tf.float32 and batch.numpy().tolist() == [[0, 1], [2, 3]]


# Training.


def trained(monkeypatch, ahead, fit, **options):
    """Returns the history and the weights after `fit(model)`, with or without reading ahead."""
    monkeypatch.setattr(feeding, "PREFETCH_MIN_BYTES", 0 if ahead else 1 << 60)
    model = model_of(**options)
    history = fit(model).history
    return [*history.items()], [w.numpy() for w in model.trainable_variables]


X, Y = data_of()
FITS = {
    "plain": lambda m: m.fit(X, Y, batch_size=4, epochs=3, verbose=0),
    "in order": lambda m: m.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0),
    "sample_weight": lambda m: m.fit(X, Y, batch_size=4, sample_weight=np.arange(11.0), verbose=0),
    "class_weight": lambda m: m.fit(X, Y[:, :1] > 0, batch_size=4, class_weight={0: 1.0, 1: 3.0}, verbose=0),
    "validation": lambda m: m.fit(X, Y, batch_size=4, epochs=2, validation_split=0.3, verbose=0),
    "steps_per_epoch": lambda m: m.fit(X, Y, batch_size=2, epochs=3, steps_per_epoch=2, verbose=0),
    "early stop": lambda m: m.fit(
        X, Y, batch_size=4, epochs=9, callbacks=[keras.callbacks.EarlyStopping("loss", 10.0, patience=1)], verbose=0
    ),
    "float64": lambda m: m.fit(X.astype("float64"), Y.astype("float64"), batch_size=4, verbose=0),
}


@pytest.mark.parametrize("name", FITS)
def test_training_is_bit_equal_to_reading_batches_at_their_step(monkeypatch, name):
    history, weights = trained(monkeypatch, True, FITS[name])
    expected, expected_weights = trained(monkeypatch, False, FITS[name])
    assert history == expected
    for mine, other in zip(weights, expected_weights, strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("name", FITS)
def test_steps_compiled_by_xla_take_batches_from_its_memory(monkeypatch, name):
    jax = pytest.importorskip("jax")
    transferred, to_xla = [], feeding.to_xla

    def noting(batch):
        batch = to_xla(batch)
        transferred.extend(x.array for x in tree.flatten(batch))
        return batch

    monkeypatch.setattr(feeding, "to_xla", noting)
    monkeypatch.setattr(feeding, "has_accelerator", lambda: True)
    history, weights = trained(monkeypatch, True, FITS[name], jit_compile=True)
    assert transferred and all(isinstance(x, jax.Array) for x in transferred)
    count = len(transferred)
    expected, expected_weights = trained(monkeypatch, False, FITS[name], jit_compile=True)
    assert len(transferred) == count
    assert history == expected
    for mine, other in zip(weights, expected_weights, strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_xla_slices_tensors_on_the_device(monkeypatch, dtype, shuffle):
    pytest.importorskip("jax")
    monkeypatch.setattr(feeding, "has_accelerator", lambda: True)
    values = (np.arange(22).reshape(11, 2) * 2**33 if dtype == "int64" else data_of()[0]).astype(dtype)
    keras.utils.set_random_seed(2)
    found = read(Batches(x=tf.constant(values), batch_size=4, shuffle=shuffle, for_xla=True))
    keras.utils.set_random_seed(2)
    expected = read(Batches(x=values, batch_size=4, shuffle=shuffle))
    for mine, other in zip(found, expected, strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)


def test_a_model_that_is_not_compiled_ahead_takes_no_memory_of_xla(monkeypatch):
    monkeypatch.setattr(feeding, "has_accelerator", lambda: True)
    monkeypatch.setattr(feeding, "to_xla", None)
    model_of().fit(X, Y, batch_size=4, verbose=0)
    model_of(run_eagerly=True).fit(X, Y, batch_size=4, verbose=0)


def test_inputs_by_name_evaluate_and_predict():
    keras.utils.set_random_seed(1)
    a, b = keras.Input((2,), name="a"), keras.Input((3,), name="b")
    model = keras.Model({"a": a, "b": b}, keras.layers.Dense(2)(keras.layers.concatenate([a, b])))
    model.compile("sgd", "mse")
    inputs = {"a": X[:, :2], "b": X}
    model.fit(inputs, Y, batch_size=4, verbose=0)
    expected = np.concatenate([X[:, :2], X], 1) @ model.layers[-1].kernel.numpy() + model.layers[-1].bias.numpy()
    np.testing.assert_allclose(model.predict(inputs, batch_size=4, verbose=0), expected, atol=1e-5)
    loss = model.evaluate(inputs, Y, batch_size=4, verbose=0)
    np.testing.assert_allclose(loss, ((expected - Y) ** 2).mean(), rtol=1e-4)


# Limits and failures.


class Watching(keras.callbacks.Callback):
    """Notes the batches, and calls a function at the end of one of them."""

    def __init__(self, at=-1, then=None):
        super().__init__()
        self.at, self.then, self.ended = at, then, []

    def on_train_batch_end(self, batch, logs=None):
        self.ended.append(batch)
        if batch == self.at:
            self.then(self)


def test_at_most_two_batches_are_read_ahead(monkeypatch):
    gathered, ahead = [], []
    gather_rows = feeding.gather_rows
    monkeypatch.setattr(feeding, "gather_rows", lambda *given: gathered.append(1) or gather_rows(*given))
    x = data_of(60)[0]

    class Slow(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            threading.Event().wait(0.01)
            ahead.append(len(gathered) - batch)

    model = model_of()
    model.compile("sgd", lambda y, z: z[:, 0] ** 2)
    model.fit(x, x[:, :2], batch_size=4, epochs=1, verbose=0, callbacks=[Slow()])
    # Two arrays a batch: of x and of y. At its start, the step has not read its own batch yet.
    assert len(ahead) == 15 and len(gathered) == 30
    assert max(count / 2 - batch for batch, count in enumerate(ahead[i] + i for i in range(15))) <= 4


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_in_a_callback_ends_the_threads(error):
    def fail(callback):
        assert reading_threads()
        raise error("in batch 1")

    watching = Watching(1, fail)
    with pytest.raises(error, match="in batch 1") as caught:
        model_of().fit(*data_of(60), batch_size=4, verbose=0, callbacks=[watching])
    assert caught.tb is not None and watching.ended == [0, 1]
    assert not reading_threads()  # although the traceback holds the frames of `fit`


def test_an_error_while_gathering_is_raised_at_its_step(monkeypatch):
    calls, watching = itertools.count(), Watching()
    gather_rows = feeding.gather_rows

    def failing(*given):
        if next(calls) == 6:  # of x, in the fourth batch
            raise MemoryError("no rows left")
        return gather_rows(*given)

    monkeypatch.setattr(feeding, "gather_rows", failing)
    with pytest.raises(MemoryError, match="no rows left"):
        model_of().fit(*data_of(60), batch_size=4, verbose=0, callbacks=[watching])
    assert watching.ended == [0, 1, 2]
    assert not reading_threads()


def test_an_error_while_copying_is_raised_at_its_step(monkeypatch):
    watching, from_host = Watching(), MODULE.from_host

    def failing(array):
        if array.shape == (3, 2):  # the labels of the last batch
            raise MemoryError("the device is full")
        return from_host(array)

    monkeypatch.setattr(MODULE, "from_host", failing)
    with pytest.raises(MemoryError, match="the device is full"):
        model_of().fit(X, Y, batch_size=4, verbose=0, callbacks=[watching])
    assert watching.ended == [0, 1]
    assert not reading_threads()


def test_a_device_without_memory_for_a_batch_raises_the_error_of_tensorflow(monkeypatch):
    jax = pytest.importorskip("jax")
    monkeypatch.setattr(feeding, "has_accelerator", lambda: True)

    def full(array):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory")

    monkeypatch.setattr(jax, "device_put", full)
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"a batch of shapes \[\[4, 3\], \[4, 2\]\]"):
        model_of(jit_compile=True).fit(X, Y, batch_size=4, verbose=0)
    assert not reading_threads()


def test_training_can_stop_within_an_epoch():
    watching = Watching(1, lambda callback: setattr(callback.model, "stop_training", True))
    model_of().fit(*data_of(60), batch_size=4, epochs=3, verbose=0, callbacks=[watching])
    assert watching.ended == [0, 1]


def test_data_that_runs_out_warns_and_ends():
    with pytest.warns(UserWarning, match="ran out of data"):
        model_of().fit(X, Y, batch_size=4, steps_per_epoch=9, verbose=0)


def test_generators_are_read_at_their_step_and_may_fail():
    produced, watching = [], Watching()

    def batches():
        for i in range(3):
            produced.append((i, len(watching.ended), threading.current_thread()))
            yield X, Y
        raise OSError("the file has ended")

    with pytest.raises(OSError, match="the file has ended"):
        model_of().fit(batches(), epochs=1, shuffle=False, verbose=0, callbacks=[watching])
    assert [thread for _, _, thread in produced] == [threading.main_thread()] * 3
    assert watching.ended == [0, 1, 2]


def test_a_device_scope_of_the_caller_holds_in_the_threads():
    with tf.device("/CPU:0"):
        batch = first(x=X, batch_size=4)
    assert not isinstance(batch, DeviceTensor)


def test_small_batches_and_inspected_ones_are_not_read_ahead(monkeypatch):
    monkeypatch.setattr(feeding, "PREFETCH_MIN_BYTES", 1 << 20)
    batches = iter(Batches(x=X, batch_size=4, shuffle=True))
    next(next(batches)[2])
    assert not reading_threads()
