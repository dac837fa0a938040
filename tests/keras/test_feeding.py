"""Batches of arrays on the host: gathered rows are not copied again."""

import numpy as np
import pytest

import gradtape as tf
from keras_gradtape.src import feeding

keras = tf.keras


@pytest.mark.parametrize("seed", range(20))
def test_gathered_rows_are_those_of_numpy(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(feeding, "GATHER_MIN_BYTES", int(rng.choice([1, 64, 1 << 30])))
    monkeypatch.setattr(feeding, "CORES", int(rng.integers(1, 6)))
    shape = rng.integers(1, 9, rng.integers(1, 4))
    array = rng.integers(0, 99, shape).astype(rng.choice(["float32", "int64", "uint8", "bool"]))
    array = np.asfortranarray(array) if rng.integers(2) else np.repeat(array, 2, axis=0)[::2]
    indices = rng.integers(0, len(array), rng.integers(0, 20))
    found = feeding.gather_rows(array, indices)
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
