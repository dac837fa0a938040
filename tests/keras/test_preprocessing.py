"""Preprocessing layers: the same results inside `Dataset.map`, inside a model and by hand."""

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras
layers = keras.layers
RNG = np.random.default_rng(0)
X = RNG.normal(3.0, 2.0, (32, 4)).astype("float32")
TOKENS = RNG.integers(0, 6, (32, 4))
IMAGES = RNG.uniform(0, 255, (32, 6, 4, 3)).astype("float32")
BOUNDARIES = [1.0, 3.0, 5.0]


def adapted(layer, data):
    layer.adapt(data)
    return layer


def bins(x):
    return np.searchsorted(BOUNDARIES, x, side="right")


def present(tokens, count):
    return (tokens[:, :, None] == np.arange(count)).any(1).astype("float32")


CASES = {
    "normalization": (lambda: adapted(layers.Normalization(), X), X, (X - X.mean(0)) / X.std(0)),
    "discretization": (lambda: layers.Discretization(BOUNDARIES), X, bins(X)),
    "discretization to multi-hot": (
        lambda: layers.Discretization(BOUNDARIES, output_mode="multi_hot"), X, present(bins(X), 4),
    ),
    "category encoding": (lambda: layers.CategoryEncoding(6, "multi_hot"), TOKENS, present(TOKENS, 6)),
    "rescaling": (lambda: layers.Rescaling(1 / 255, offset=-1.0), IMAGES, IMAGES / 255 - 1),
    "center crop": (lambda: layers.CenterCrop(2, 2), IMAGES, IMAGES[:, 2:4, 1:3]),
    "resizing": (lambda: layers.Resizing(3, 2), IMAGES, IMAGES.reshape(32, 3, 2, 2, 2, 3).mean((2, 4))),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_in_a_dataset_and_in_a_model(name):
    make, given, expected = CASES[name]
    layer = make()
    mapped = tf.data.Dataset.from_tensor_slices(given).batch(8).map(layer)
    np.testing.assert_allclose(np.concatenate([batch.numpy() for batch in mapped]), expected, rtol=1e-4, atol=1e-4)
    inputs = keras.Input(given.shape[1:], dtype=given.dtype.name)
    model = keras.Model(inputs, layer(inputs))
    np.testing.assert_allclose(model.predict(given, verbose=0), expected, rtol=1e-4, atol=1e-4)


def test_bins_adapt_to_data():
    layer = adapted(layers.Discretization(num_bins=4), X)
    counts = np.bincount(np.asarray(layer(X)).ravel(), minlength=4)
    assert np.all(np.abs(counts - X.size / 4) <= 0.15 * X.size)


@pytest.mark.filterwarnings("ignore:.*shuffle=True")  # Keras says so whenever `fit` is given a dataset
@pytest.mark.parametrize("where", ["dataset", "model"])
def test_training_on_augmented_images(where):
    keras.utils.set_random_seed(0)
    augment = keras.Sequential([layers.RandomFlip("horizontal"), layers.RandomRotation(0.1), layers.Rescaling(1 / 255)])
    target = IMAGES.mean((1, 2, 3), keepdims=True)[:, 0, 0] / 255
    data = tf.data.Dataset.from_tensor_slices((IMAGES, target)).batch(8)
    head = [layers.Flatten(), layers.Dense(1)]
    if where == "dataset":
        data = data.map(lambda x, y: (augment(x, training=True), y))
    model = keras.Sequential(head if where == "dataset" else [augment, *head])
    model.compile("adam", "mse")
    losses = model.fit(data, epochs=4, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


WORDS = [["b", "a", "b"], ["c", "b", "a"]]
LETTERS = [["A"], ["B"], ["C"], ["D"]]
PAIR = (np.array(["A", "B", "A", "B", "A"]), np.array([101, 101, 101, 102, 102]))
TEXT = {  # Keras' result on TensorFlow
    "strings": (
        lambda: adapted(layers.StringLookup(num_oov_indices=3), WORDS), [["a", "x"], ["y", "zz"]], [[4, 2], [2, 1]],
    ),
    "strings to multi-hot": (
        lambda: layers.StringLookup(vocabulary=["a", "b"], output_mode="multi_hot"),
        [["a", "q"], ["b", "b"]], [[1, 1, 0], [0, 0, 1]],
    ),
    "strings to tf-idf": (
        lambda: adapted(layers.StringLookup(output_mode="tf_idf"), WORDS), [["a", "x"], ["b", "b"]],
        [[0.57159948, 0, 0.51082563, 0], [0, 1.02165127, 0, 0]],
    ),
    "integers": (lambda: adapted(layers.IntegerLookup(num_oov_indices=2), [5, 5, 7]), [7, 5, 8, 9], [3, 2, 0, 1]),
    "hashing": (lambda: layers.Hashing(7), LETTERS, [[3], [6], [1], [4]]),
    "hashing with salt": (lambda: layers.Hashing(7, salt=133), LETTERS, [[4], [5], [4], [0]]),
    "hashing numbers": (lambda: layers.Hashing(7), [[1], [2], [3]], [[5], [5], [2]]),
    "crossing": (lambda: layers.HashedCrossing(5), PAIR, [1, 4, 1, 1, 3]),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXT)
def test_layers_of_words_need_no_tensorflow(name):
    make, given, expected = TEXT[name]
    layer = make()
    np.testing.assert_allclose(np.asarray(layer(given)), expected, rtol=1e-6)
    whole = tf.data.Dataset.from_tensors(given).map(lambda *x: layer(x if len(x) > 1 else x[0]))
    np.testing.assert_allclose(next(iter(whole)).numpy(), expected, rtol=1e-6)


DOCUMENTS = ["the cat sat on the mat", "the dog sat", "a Dog, and the cat!"]


def test_text_to_numbers_as_on_tensorflow():
    layer = adapted(layers.TextVectorization(output_sequence_length=6), DOCUMENTS)
    assert layer.get_vocabulary() == ["", "[UNK]", "the", "sat", "dog", "cat", "on", "mat", "and", "a"]
    expected = [[2, 5, 3, 6, 2, 7], [2, 4, 3, 0, 0, 0], [9, 4, 8, 2, 5, 0], [1, 4, 0, 0, 0, 0]]
    assert layer([*DOCUMENTS, "zebra dog"]).numpy().tolist() == expected
    mapped = tf.data.Dataset.from_tensor_slices([*DOCUMENTS, "zebra dog"]).batch(2).map(layer)
    assert [row for batch in mapped for row in batch.numpy().tolist()] == expected


def test_pairs_of_words_by_their_frequencies():
    layer = adapted(layers.TextVectorization(output_mode="tf_idf", ngrams=2, max_tokens=8), DOCUMENTS)
    assert layer.get_vocabulary() == ["[UNK]", "the", "the cat", "sat", "dog", "cat", "the mat", "the dog"]
    expected = [0.73782653, 0.55961579, 0, 0.69314718, 0.69314718, 0, 0, 0.91629076]
    np.testing.assert_allclose(layer(DOCUMENTS).numpy()[1], expected, rtol=1e-6)


def test_a_feature_space():
    space = keras.utils.FeatureSpace(
        {
            "word": "string_categorical",
            "number": "float_normalized",
            "part": keras.utils.FeatureSpace.float_discretized(num_bins=3),
        },
        output_mode="concat",
    )
    rows = {"word": ["a", "b", "a"], "number": [1.0, 2.0, 6.0], "part": [0.1, 0.5, 0.9]}
    space.adapt(tf.data.Dataset.from_tensor_slices(rows))
    found = space({"word": np.array(["a", "z"]), "number": np.array([2.0, 3.0]), "part": np.array([0.2, 0.8])})
    expected = [[-0.4629, 0, 1, 0, 0, 1, 0], [0, 0, 0, 1, 1, 0, 0]]
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-4)


def test_numbers_back_to_words():
    layer = layers.StringLookup(vocabulary=["a", "b"], invert=True)
    assert layer([[1, 2], [0, 1]]).numpy().tolist() == [[b"a", b"b"], [b"[UNK]", b"a"]]


def test_a_vocabulary_is_saved_with_the_model(tmp_path):
    model = keras.Sequential([keras.Input((1,), dtype="string"), adapted(layers.StringLookup(), WORDS)])
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    assert again.layers[0].get_vocabulary() == ["[UNK]", "b", "a", "c"]
    assert np.asarray(again(tf.constant([["c"], ["q"]]))).tolist() == [[3], [0]]


def test_layers_take_ragged_tensors():
    words = tf.ragged.constant([["a", "c"], ["b"]])
    numbers = layers.StringLookup(vocabulary=["a", "b"])(words)
    assert numbers.to_list() == [[1, 0], [2]]
    table = layers.Embedding(3, 2, weights=[np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])])
    assert table(numbers).to_list() == [[[2.0, 3.0], [0.0, 1.0]], [[4.0, 5.0]]]
