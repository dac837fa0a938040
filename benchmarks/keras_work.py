"""Works of Keras 3, on the backend that the environment names, and of Keras 2: the same models and data for all.

A step of `fit` is one epoch. The first ones, which compile what there is to compile, are not measured.
"""

import functools
import importlib
import itertools
import os

import numpy as np

TITLES = {
    "keras_cnn": "`fit`, CNN on 28x28 images, batch 64",
    "keras_mlp": "`fit`, MLP 784-256-256-10, batch 64",
    "keras_lstm": "`fit`, LSTM with 64 units over 64 words, batch 32",
    "keras_gpt": "`fit`, GPT with four blocks, 128 channels, 128 characters, batch 8",
    "keras_loop": "custom eager loop, MLP with three layers, Adam",
}
WARM = 40  # steps, after which every backend has compiled what it is going to compile
BATCHES = {"keras_cnn": 48, "keras_mlp": 200, "keras_lstm": 32, "keras_gpt": 12}


def cnn(keras):
    """The CNN of Keras' first example, on images of MNIST's size, in batches of 64."""
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dropout(0.5),
            layers.Dense(10, activation="softmax"),
        ]
    )
    return model, lambda rng, count: rng.normal(size=(count, 28, 28, 1)).astype("float32"), 10, 64


def mlp(keras):
    """784-256-256-10, in batches of 64."""
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((784,)),
            layers.Dense(256, activation="relu"),
            layers.Dense(256, activation="relu"),
            layers.Dense(10, activation="softmax"),
        ]
    )
    return model, lambda rng, count: rng.normal(size=(count, 784)).astype("float32"), 10, 64


def lstm(keras):
    """An embedding and an LSTM of 64 units over 64 words, in batches of 32."""
    layers = keras.layers
    model = keras.Sequential(
        [layers.Input((64,), dtype="int32"), layers.Embedding(1000, 32), layers.LSTM(64), layers.Dense(2, "softmax")]
    )
    return model, lambda rng, count: rng.integers(0, 1000, (count, 64)).astype("int32"), 2, 32


def gpt(keras, width=128, length=128, vocabulary=64, blocks=4, heads=4, batch=8):
    """Four blocks of 128 channels and four heads over 128 characters, in batches of 8."""
    layers = keras.layers

    class Places(layers.Layer):
        def build(self, shape):
            self.table = self.add_weight((length, width), "uniform")

        def call(self, x):
            return x + self.table

    characters = layers.Input((length,), dtype="int32")
    x = Places()(layers.Embedding(vocabulary, width)(characters))
    for _ in range(blocks):
        y = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(heads, width // heads)(y, y, use_causal_mask=True)
        y = layers.Dense(4 * width, activation="gelu")(layers.LayerNormalization()(x))
        x = x + layers.Dense(width)(y)
    outputs = layers.Dense(vocabulary, activation="softmax")(layers.LayerNormalization()(x))
    model = keras.Model(characters, outputs)
    return model, lambda rng, count: rng.integers(0, vocabulary, (count, length)).astype("int32"), vocabulary, batch


KERAS2 = (cnn, mlp, lstm)


def fit(keras, work, jit_compile):
    """An epoch of `fit` with Adam and accuracy, as a user writes it."""
    keras.utils.set_random_seed(0)
    name = f"keras_{work.__name__}"
    model, inputs, classes, batch = work(keras)
    rng = np.random.default_rng(0)
    count = batch * BATCHES[name]
    x = inputs(rng, count)
    y = rng.integers(0, classes, (count, *model.output_shape[1:-1]))
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"], jit_compile=jit_compile)
    model.fit(x, y, batch_size=batch, epochs=1 + WARM // BATCHES[name], verbose=0)
    return lambda: model.fit(x, y, batch_size=batch, epochs=1, verbose=0)


def loop(keras, tf):
    """A step of a hand-written eager loop: an MLP of three layers and Adam, in batches of 32."""
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential(
        [layers.Input((64,)), layers.Dense(64, "relu"), layers.Dense(64, "relu"), layers.Dense(10)]
    )
    optimizer = keras.optimizers.Adam()
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    rng = np.random.default_rng(0)
    inputs, labels = rng.normal(size=(4, 32, 64)).astype("float32"), rng.integers(0, 10, (4, 32))
    batches = itertools.cycle([(tf.constant(x), tf.constant(y)) for x, y in zip(inputs, labels, strict=True)])

    def step():
        x, y = next(batches)
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return float(loss)

    return step


def keras2(library):
    """Keras 2, the package tf-keras, on TensorFlow, or on gradtape as `gradtape run` serves it."""
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    if library == "gradtape":
        from gradtape_tensorflow import stand_in

        stand_in.serve()
    import tensorflow as tf

    return tf.keras


def works(library, way):
    """The works, by name; `way` is `keras` for the backend's own choice of a compiler, `keras_plain` for no XLA.

    `keras_gpu` and `keras_smoke` are the works of `gpu.py`, at their sizes and at tiny ones; `keras2` are those of
    Keras 2, as it compiles them by default.
    """
    if way == "keras2":
        return {f"keras_{work.__name__}": functools.partial(fit, keras2(library), work, None) for work in KERAS2}
    os.environ["KERAS_BACKEND"] = library
    import keras

    if way in ("keras_gpu", "keras_smoke"):
        import keras_gpu_work

        return keras_gpu_work.works(keras, tiny=way == "keras_smoke")
    jit_compile = {"keras": "auto", "keras_plain": False}[way]
    found = {
        f"keras_{work.__name__}": functools.partial(fit, keras, work, jit_compile) for work in (cnn, mlp, lstm, gpt)
    }
    if library in ("gradtape", "tensorflow"):
        found["keras_loop"] = lambda: loop(keras, importlib.import_module(library))
    return found
