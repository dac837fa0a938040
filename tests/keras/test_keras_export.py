"""`model.export`: a SavedModel with the forward pass, for any batch and any length."""

import numpy as np

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
