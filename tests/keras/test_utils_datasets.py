"""`keras.utils` creates `tf.data` datasets with TensorFlow on every backend: here with gradtape."""

import numpy as np

import gradtape as tf

keras = tf.keras


def test_windows_of_a_series():
    found = keras.utils.timeseries_dataset_from_array(list(range(6)), None, 3, batch_size=2)
    assert isinstance(found, tf.data.Dataset)
    assert [x.numpy().tolist() for x in found] == [[[0, 1, 2], [1, 2, 3]], [[2, 3, 4], [3, 4, 5]]]


def test_a_dataset_in_two_parts():
    first, second = keras.utils.split_dataset(tf.data.Dataset.range(10), 0.3)
    assert [int(x) for x in first] == [0, 1, 2]
    assert [int(x) for x in second] == [3, 4, 5, 6, 7, 8, 9]


def test_batches_in_two_parts():
    first, second = keras.utils.split_dataset(tf.data.Dataset.range(10).batch(2), 0.3)
    assert [x.numpy().tolist() for x in first] == [[0, 1], [2]]
    assert [x.numpy().tolist() for x in second] == [[3, 4], [5, 6], [7, 8], [9]]


def test_texts_of_a_folder_into_a_model(tmp_path):
    for kind in "ab":
        (tmp_path / kind).mkdir()
        for i in range(2):
            (tmp_path / kind / f"{i}.txt").write_text(f"{kind} number {i}")
    texts = keras.utils.text_dataset_from_directory(tmp_path, batch_size=2, shuffle=False, verbose=False)
    assert texts.class_names == ["a", "b"]
    words, labels = next(iter(texts))
    assert words.numpy().tolist() == [b"a number 0", b"a number 1"]
    assert labels.numpy().tolist() == [0, 0]
    layer = keras.layers.TextVectorization(output_mode="multi_hot")
    layer.adapt(texts.map(lambda x, y: x))
    model = keras.Sequential([keras.layers.Dense(1, activation="sigmoid")])
    model.compile(keras.optimizers.Adam(0.5), "binary_crossentropy", metrics=["accuracy"])
    numbers = texts.map(lambda x, y: (layer(x), y))
    history = model.fit(numbers, epochs=30, shuffle=False, verbose=0).history
    assert history["accuracy"][-1] == 1.0


def test_images_of_a_folder(tmp_path):
    for name, level in (("dark", 10), ("light", 200)):
        (tmp_path / name).mkdir()
        tf.io.write_file(str(tmp_path / name / "one.png"), tf.io.encode_png(tf.fill([4, 4, 3], np.uint8(level))))
    images = keras.utils.image_dataset_from_directory(
        tmp_path, image_size=(2, 2), batch_size=2, shuffle=False, verbose=False
    )
    pixels, labels = next(iter(images))
    assert pixels.shape == (2, 2, 2, 3)
    assert pixels.numpy()[:, 0, 0, 0].tolist() == [10.0, 200.0]
    assert labels.numpy().tolist() == [0, 1]


def test_sounds_of_a_folder(tmp_path):
    for name, samples in (("long", 6), ("short", 3)):
        (tmp_path / name).mkdir()
        wave = tf.audio.encode_wav(tf.fill([samples, 1], 0.5), 8000)
        tf.io.write_file(str(tmp_path / name / "one.wav"), wave)
    sounds = keras.utils.audio_dataset_from_directory(
        tmp_path, batch_size=2, output_sequence_length=4, shuffle=False, verbose=False
    )
    waves, _ = next(iter(sounds))
    assert waves.numpy()[:, :, 0].tolist() == [[0.5] * 4, [0.5, 0.5, 0.5, 0.0]]
    ragged = keras.utils.audio_dataset_from_directory(tmp_path, batch_size=2, ragged=True, shuffle=False, verbose=False)
    assert next(iter(ragged))[0].row_lengths().numpy().tolist() == [6, 3]


def test_class_weights_of_a_dataset():
    x, y = np.ones((4, 1), "float32"), np.array([[0.0], [1.0], [0.0], [1.0]], "float32")
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros")])
    model.compile("sgd", "mse")
    batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(4)
    loss = model.fit(batches, class_weight={0: 1.0, 1: 3.0}, shuffle=False, verbose=0).history["loss"][0]
    np.testing.assert_allclose(loss, 6 / 4, rtol=1e-6)  # zero is predicted: 1 is missed twice, with weight 3
