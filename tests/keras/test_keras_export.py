"""`model.export`: a SavedModel of the forward pass, for any batch size and any length."""

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras


def test_an_exported_model_gives_the_same(tmp_path):
    inputs = keras.Input((None,), dtype="int32")
    embedded = keras.layers.Embedding(9, 4)(inputs)
    attended = keras.layers.MultiHeadAttention(2, 2)(embedded, embedded, use_causal_mask=True)
    last = keras.layers.LSTM(3)(keras.layers.LayerNormalization()(attended))
    model = keras.Model(inputs, keras.layers.Dense(2, activation="softmax")(keras.layers.Dropout(0.5)(last)))
    model.export(tmp_path / "model", verbose=False)
    loaded = tf.saved_model.load(tmp_path / "model")
    for shape in ((2, 5), (3, 1)):
        x = np.arange(np.prod(shape), dtype="i").reshape(shape) % 9
        np.testing.assert_allclose(loaded.serve(tf.constant(x)), model(x), rtol=1e-5, atol=1e-6)
    assert len(loaded.trainable_variables) == len(model.trainable_variables)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(loaded.serve(tf.constant(x))[:, 0])
    assert all(slope is not None for slope in tape.gradient(loss, loaded.trainable_variables))


def test_endpoints_of_an_archive(tmp_path):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    archive = keras.export.ExportArchive()
    archive.track(model)
    spec = tf.TensorSpec([None, 3], tf.float32)
    archive.add_endpoint("twice", lambda x: 2 * model(x), input_signature=[spec])
    archive.add_variable_collection("kernels", [model.layers[0].kernel])
    archive.write_out(tmp_path / "model", verbose=False)
    loaded = tf.saved_model.load(tmp_path / "model")
    x = np.ones((4, 3), "f")
    np.testing.assert_allclose(loaded.twice(x), 2 * model(x), rtol=1e-6)
    np.testing.assert_allclose(loaded.kernels[0], model.layers[0].kernel)
    assert sorted(loaded.signatures) == ["serving_default", "twice"]


def served(model, folder):
    tf.saved_model.save(model, str(folder))
    return tf.saved_model.load(str(folder)).signatures


def test_a_saved_model_serves_its_outputs(tmp_path):
    """`tf.saved_model.save` of a model with known inputs gives it `serving_default`, as on TensorFlow."""
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), keras.layers.BatchNormalization()])
    x = np.arange(8.0, dtype=np.float32).reshape(2, 4)
    serve = served(model, tmp_path / "sequential")["serving_default"]
    assert serve.structured_input_signature == ((), {"inputs": tf.TensorSpec([None, 4], tf.float32, "inputs")})
    np.testing.assert_allclose(serve(tf.constant(x))["output_0"], model(x), rtol=1e-6)
    assert serve(inputs=tf.ones([5, 4]))["output_0"].shape == (5, 3)

    a, b = keras.Input((4,), name="a"), keras.Input((2,), dtype="int32", name="b")
    outputs = {"u": keras.layers.Dense(1)(a), "v": b * 2}
    serve = served(keras.Model({"a": a, "b": b}, outputs), tmp_path / "functional")["serving_default"]
    assert sorted(serve.structured_input_signature[1]) == ["inputs", "inputs_1"]
    found = serve(inputs=tf.ones([3, 4]), inputs_1=tf.ones([3, 2], tf.int32))
    assert found["u"].shape == (3, 1) and found["v"].numpy().tolist() == [[2, 2]] * 3


def test_a_model_whose_inputs_are_unknown_serves_nothing(tmp_path):
    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(2)

        def call(self, x):
            return self.dense(x)

    model = Model()
    assert not served(model, tmp_path / "unbuilt")
    model(np.ones((2, 4), np.float32))
    assert served(model, tmp_path / "built")["serving_default"](tf.ones([2, 4]))["output_0"].shape == (2, 2)
    assert not served(model.dense, tmp_path / "layer")


def test_layers_with_a_table_and_with_frames_of_a_signal(tmp_path):
    ids, signal = np.array([[1, 5, 7]]), np.sin(np.arange(40, dtype="f"))[None]
    mel = keras.layers.MelSpectrogram(8, 4, num_mel_bins=4, sampling_rate=100, max_freq=50)
    for layer, x in ((keras.layers.IntegerLookup(vocabulary=[1, 3, 5]), ids), (mel, signal)):
        inputs = keras.Input(x.shape[1:], dtype=x.dtype.name)
        model = keras.Model(inputs, layer(inputs))
        model.export(tmp_path / layer.name, verbose=False)
        loaded = tf.saved_model.load(tmp_path / layer.name)
        for rows in (1, 2):
            many = np.repeat(x, rows, 0)
            np.testing.assert_allclose(loaded.serve(tf.constant(many)), model(many), rtol=1e-4, atol=1e-4)


def test_a_layer_that_resizes_small_images_alone_is_refused(tmp_path):
    inputs = keras.Input((None, None, 3))
    model = keras.Model(inputs, keras.layers.CenterCrop(4, 4)(inputs))
    with pytest.raises(tf.errors.UnimplementedError, match=r"depends on a size .* for inputs of shape \(1, 1, 1, 3\)"):
        model.export(tmp_path / "model", verbose=False)
    assert not (tmp_path / "model" / "saved_model.pb").exists()
