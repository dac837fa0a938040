"""Keras' TensorBoard callback: what it writes with `tf.summary`."""

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras
Event = pytest.importorskip("tensorboardX.proto.event_pb2").Event


def tags(folder):
    """Returns the tags and steps in an event file; a record is a length, its checksum, the data, its checksum."""
    (file,) = folder.iterdir()
    data, found = file.read_bytes(), set()
    while data:
        size = int.from_bytes(data[:8], "little")
        event = Event.FromString(data[12 : 12 + size])
        found |= {(value.tag, event.step) for value in event.summary.value}
        data = data[16 + size :]
    return found


def test_scalars_histograms_and_the_model(tmp_path):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, name="dense")], name="net")
    model.compile("sgd", "mse")
    x, y = np.ones((4, 2)), np.ones((4, 1))
    callback = keras.callbacks.TensorBoard(log_dir=str(tmp_path), histogram_freq=1)
    model.fit(x, y, epochs=2, verbose=0, callbacks=[callback], validation_data=(x, y))
    each = ["epoch_learning_rate", "epoch_loss", "net/dense/bias/histogram", "net/dense/kernel/histogram"]
    assert tags(tmp_path / "train") == {("keras", 0), *((tag, step) for tag in each for step in (0, 1))}
    both = {("epoch_loss", 0), ("epoch_loss", 1)}
    assert tags(tmp_path / "validation") == both | {("evaluation_loss_vs_iterations", step) for step in (1, 2)}
