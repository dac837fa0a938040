"""Batches of arrays: gathered rows are not copied again, and compiled steps find them in memory of XLA."""

import itertools
import threading

import numpy as np
import pytest

import gradtape as tf
from keras_gradtape.src import feeding
from keras_gradtape.src.batches import Batches
from keras_gradtape.src.trainer import _as_tensors

keras = tf.keras
tree = keras.tree


@pytest.fixture
def ahead(monkeypatch):
    """Feeds even the smallest batches ahead, as with an accelerator, and checks that no thread is left."""
    pytest.importorskip("jax")
    monkeypatch.setattr(feeding, "PREFETCH_MIN_BYTES", 0)
    monkeypatch.setattr(feeding, "has_accelerator", lambda: True)
    yield
    assert not reading_threads()


def reading_threads():
    return [thread for thread in threading.enumerate() if thread.name == "gradtape-prefetch"]


def data_of(count=11):
    rng = np.random.default_rng(5)
    return rng.normal(size=(count, 3)).astype("float32"), rng.normal(size=(count, 2)).astype("float32")


def read(**options):
    """Returns the batches of a pass, on the host."""
    found = []
    batches = Batches(for_xla=True, **options)
    with batches:
        for _, _, iterator in batches:
            found.append(tree.map_structure(np.asarray, _as_tensors(next(iterator))))
    return found


# On the host.


@pytest.mark.parametrize("seed", range(20))
def test_gathered_rows_are_those_of_numpy(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(feeding, "GATHER_MIN_BYTES", int(rng.choice([1, 64, 1 << 30])))
    shape = rng.integers(1, 9, rng.integers(1, 4))
    array = rng.integers(0, 99, shape).astype(rng.choice(["float32", "int64", "uint8", "bool"]))
    array = np.asfortranarray(array) if rng.integers(2) else np.repeat(array, 2, axis=0)[::2]
    indices = rng.integers(0, len(array), rng.integers(0, 20))
    found = feeding.gather_rows(array, indices, int(rng.integers(1, 6)))
    np.testing.assert_array_equal(found, array[indices])
    assert found.dtype == array.dtype and found.flags.c_contiguous and found.flags.owndata


class Seeing(keras.Model):
    """Notes the arrays of its batches."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def train_step(self, data):
        self.seen.append([part.array for part in data])
        return {}


def test_gathered_rows_become_the_tensors_of_the_step(monkeypatch):
    gathered, gather_rows = [], feeding.gather_rows
    monkeypatch.setattr(feeding, "gather_rows", lambda *given: gathered.append(gather_rows(*given)) or gathered[-1])
    model = Seeing()
    model.compile("sgd", "mse", run_eagerly=True)
    model.fit(np.arange(10.0)[:, None], np.arange(10), batch_size=4, verbose=0)
    seen = [array for batch in model.seen for array in batch]
    assert len(gathered) == len(seen) == 6
    assert all(a is b for a, b in zip(gathered, seen, strict=True))
    np.testing.assert_array_equal(np.sort(np.concatenate(seen[1::2])), np.arange(10))


def test_slices_of_the_callers_array_are_copied():
    x = np.arange(10, dtype="float32")[:, None]
    model = Seeing()
    model.compile("sgd", "mse", run_eagerly=True)
    model.fit(x, x, batch_size=4, shuffle=False, verbose=0)
    assert not any(np.shares_memory(x, part) for batch in model.seen for part in batch)
    np.testing.assert_array_equal(np.concatenate([batch[0] for batch in model.seen]), x)


def test_the_next_epoch_draws_its_order_when_it_begins():
    between = []

    class Drawing(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            between.append(np.random.randint(10**9))  # noqa: NPY002

    tf.random.set_seed(None)
    np.random.seed(0)  # noqa: NPY002
    model = Seeing()
    model.compile("sgd", "mse", run_eagerly=True)
    model.fit(np.arange(10.0)[:, None], np.arange(10), batch_size=4, epochs=2, verbose=0, callbacks=[Drawing()])
    np.random.seed(0)  # noqa: NPY002
    expected = []
    for drawn in between:
        expected.append(np.random.permutation(10))  # noqa: NPY002
        assert np.random.randint(10**9) == drawn  # noqa: NPY002
    np.testing.assert_array_equal(np.concatenate([batch[1] for batch in model.seen]), np.concatenate(expected))


# Ahead of their step.


def random_structure(rng, count):
    """Returns random inputs of `count` rows: arrays of several dtypes, layouts and structures."""

    def array():
        shape = (count, *rng.integers(1, 4, rng.integers(0, 3)))
        dtype = rng.choice(["float32", "float64", "float16", "int32", "int64", "uint8", "bool", "complex64", ">i4"])
        with np.errstate(invalid="ignore"):  # negative numbers as unsigned ones, of which ARM processors tell
            values = (rng.normal(size=shape) * 50).astype(dtype)
        kind = rng.integers(3)
        return np.asfortranarray(values) if kind == 0 else np.repeat(values, 2, axis=0)[::2] if kind == 1 else values

    kind = rng.integers(3)
    return array() if kind == 0 else {"a": array(), "b": array()} if kind == 1 else [array(), array()]


@pytest.mark.parametrize("is_ahead", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_random_batches_are_those_of_one_row_after_the_other(ahead, monkeypatch, seed, is_ahead):
    monkeypatch.setattr(feeding, "has_accelerator", lambda: is_ahead)
    rng = np.random.default_rng(seed)
    count, size = int(rng.integers(1, 30)), int(rng.integers(1, 9))
    x, y = random_structure(rng, count), random_structure(rng, count)
    weight = rng.uniform(size=count).astype("float32") if rng.integers(2) and not isinstance(y, dict | list) else None
    shuffle = [False, True, "batch"][rng.integers(3)]
    tf.random.set_seed(None)
    np.random.seed(seed)  # noqa: NPY002  # what Keras draws with
    found = read(x=x, y=y, sample_weight=weight, batch_size=size, shuffle=shuffle)

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
def test_with_a_seed_the_order_is_that_of_the_host(ahead, monkeypatch, shuffle):
    x, y = data_of()
    found = []
    for is_ahead in (True, False):
        monkeypatch.setattr(feeding, "has_accelerator", lambda is_ahead=is_ahead: is_ahead)
        keras.utils.set_random_seed(7)
        found.append(tree.flatten(read(x=x, y=y, batch_size=4, shuffle=shuffle)))
    for mine, other in zip(*found, strict=True):
        np.testing.assert_array_equal(mine, other)


X, Y = data_of()
FITS = {
    "shuffled": lambda m: m.fit(X, Y, batch_size=4, epochs=3, sample_weight=np.arange(11.0), verbose=0),
    "in order": lambda m: m.fit(X.astype("float64"), Y, batch_size=4, epochs=2, shuffle=False, verbose=0),
    "class_weight": lambda m: m.fit(X, Y[:, :1] > 0, batch_size=4, class_weight={0: 1.0, 1: 3.0}, verbose=0),
    "validation": lambda m: m.fit(X, Y, batch_size=4, epochs=2, validation_split=0.4, validation_steps=1, verbose=0),
    "steps_per_epoch": lambda m: m.fit(X, Y, batch_size=2, epochs=3, steps_per_epoch=2, verbose=0),
    "early stop": lambda m: m.fit(
        X, Y, batch_size=4, epochs=9, callbacks=[keras.callbacks.EarlyStopping("loss", 10.0, patience=1)], verbose=0
    ),
}


@pytest.mark.parametrize("name", FITS)
def test_training_is_bit_equal_to_reading_batches_at_their_step(ahead, monkeypatch, name):
    import jax

    transferred, to_xla, found = [], feeding.to_xla, []

    def noting(batch):
        batch = to_xla(batch)
        transferred.extend(x.array for x in tree.flatten(batch))
        return batch

    monkeypatch.setattr(feeding, "to_xla", noting)
    for is_ahead in (True, False):
        monkeypatch.setattr(feeding, "has_accelerator", lambda is_ahead=is_ahead: is_ahead)
        keras.utils.set_random_seed(3)
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, "tanh"), keras.layers.Dense(2)])
        model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"], jit_compile=True)
        history = FITS[name](model).history
        found.append((history, [w.numpy().tolist() for w in model.trainable_variables], len(transferred)))
    assert transferred and all(isinstance(x, jax.Array) for x in transferred)
    assert found[0] == found[1]  # with the same number of transfers: none at their step


def test_inputs_by_name_evaluate_and_predict(ahead):
    keras.utils.set_random_seed(1)
    a, b = keras.Input((2,), name="a"), keras.Input((3,), name="b")
    model = keras.Model({"a": a, "b": b}, keras.layers.Dense(2)(keras.layers.concatenate([a, b])))
    model.compile("sgd", "mse", jit_compile=True)
    inputs = {"a": X[:, :2], "b": X}
    model.fit(inputs, Y, batch_size=4, verbose=0)
    expected = np.concatenate([X[:, :2], X], 1) @ model.layers[-1].kernel.numpy() + model.layers[-1].bias.numpy()
    np.testing.assert_allclose(model.predict(inputs, batch_size=4, verbose=0), expected, atol=1e-5)
    loss = model.evaluate(inputs, Y, batch_size=4, verbose=0)
    np.testing.assert_allclose(loss, ((expected - Y) ** 2).mean(), rtol=1e-4)


# Limits and failures.


class Summing(keras.Model):
    """Sums its batches."""

    def train_step(self, data):
        return {"loss": tf.reduce_sum(data[0])}


def summing():
    model = Summing()
    model.compile("sgd", "mse", jit_compile=True)
    return model


class Watching(keras.callbacks.Callback):
    """Notes the batches, and calls a function at the end of one of them."""

    def __init__(self, at=-1, then=None):
        super().__init__()
        self.at, self.then, self.ended = at, then, []

    def on_train_batch_end(self, batch, logs=None):
        self.ended.append(batch)
        if batch == self.at:
            self.then(self)


def test_at_most_two_batches_are_read_ahead(ahead, monkeypatch):
    gathered, counts = [], []
    gather_rows = feeding.gather_rows
    monkeypatch.setattr(feeding, "gather_rows", lambda *given: gathered.append(1) or gather_rows(*given))

    class Slow(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            threading.Event().wait(0.02)
            counts.append(len(gathered) - (batch + 1))

    summing().fit(data_of(60)[0], batch_size=4, verbose=0, callbacks=[Slow()])
    assert len(counts) == len(gathered) == 15
    # One is ready, one waits to be copied, and the thread that copies holds the next request of the one that gathers.
    assert 1 <= max(counts) <= 3 and counts[-1] == 0


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_in_a_callback_ends_the_threads(ahead, error):
    def fail(callback):
        assert reading_threads()
        raise error("in batch 1")

    watching = Watching(1, fail)
    with pytest.raises(error, match="in batch 1") as caught:
        summing().fit(*data_of(60), batch_size=4, verbose=0, callbacks=[watching])
    assert caught.tb is not None and watching.ended == [0, 1]
    assert not reading_threads()  # although the traceback holds the frames of `fit`


def test_an_error_while_gathering_is_raised_at_its_step(ahead, monkeypatch):
    calls, watching = itertools.count(), Watching()
    gather_rows = feeding.gather_rows

    def failing(*given):
        if next(calls) == 6:  # of x, in the fourth batch
            raise MemoryError("no rows left")
        return gather_rows(*given)

    monkeypatch.setattr(feeding, "gather_rows", failing)
    with pytest.raises(MemoryError, match="no rows left"):
        summing().fit(*data_of(60), batch_size=4, verbose=0, callbacks=[watching])
    assert watching.ended == [0, 1, 2]
    assert not reading_threads()


def test_a_device_without_memory_for_a_batch_raises_the_error_of_tensorflow(ahead, monkeypatch):
    import jax

    def full(array):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory")

    monkeypatch.setattr(jax, "device_put", full)
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"a batch of shapes \[\[4, 3\], \[4, 2\]\]"):
        summing().fit(X, Y, batch_size=4, verbose=0)
    assert not reading_threads()


def test_training_can_stop_within_an_epoch(ahead):
    watching = Watching(1, lambda callback: setattr(callback.model, "stop_training", True))
    summing().fit(*data_of(60), batch_size=4, epochs=3, verbose=0, callbacks=[watching])
    assert watching.ended == [0, 1]
    assert not reading_threads()


def test_data_that_runs_out_warns_and_ends(ahead):
    with pytest.warns(UserWarning, match="ran out of data"):
        summing().fit(X, Y, batch_size=4, steps_per_epoch=9, verbose=0)


def test_generators_are_read_at_their_step_and_may_fail(ahead):
    produced, watching = [], Watching()

    def batches():
        for _ in range(3):
            produced.append(len(watching.ended))
            assert threading.current_thread() is threading.main_thread()
            yield X, Y
        raise OSError("the file has ended")

    with pytest.raises(OSError, match="the file has ended"):
        summing().fit(batches(), epochs=1, shuffle=False, verbose=0, callbacks=[watching])
    assert watching.ended == [0, 1, 2]
    assert produced[-1] == 2  # after the end of the second step; Keras itself reads the first two for their shapes


@pytest.mark.parametrize("why", ["small", "eager", "not compiled"])
def test_other_batches_are_read_at_their_step(ahead, monkeypatch, why):
    monkeypatch.setattr(feeding, "PREFETCH_MIN_BYTES", 1 << 20 if why == "small" else 0)
    monkeypatch.setattr(feeding, "to_xla", None)
    model = Summing()
    options = {"small": {"jit_compile": True}, "eager": {"run_eagerly": True}, "not compiled": {"jit_compile": False}}
    model.compile("sgd", "mse", **options[why])
    model.fit(X, Y, batch_size=4, verbose=0)
