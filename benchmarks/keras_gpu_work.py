"""Works of Keras 3 at sizes for a GPU: an epoch of `fit`, on the backend that the environment names."""

import functools
from dataclasses import dataclass

import keras_work
import numpy as np

BATCHES = 16  # of an epoch, which is what a step measures


@dataclass(frozen=True)
class Sizes:
    """The sizes of all works."""

    batch: int = 16
    length: int = 512
    width: int = 768
    heads: int = 12
    blocks: int = 8
    vocabulary: int = 8192
    images: int = 128
    side: int = 64
    channels: int = 64


FULL = Sizes()  # a GPT of 69 million parameters; 16 x 512 x 768 floats are 25 MB
TINY = Sizes(batch=2, length=4, width=8, heads=2, blocks=1, vocabulary=16, images=2, side=8, channels=2)


def gpt(keras, sizes):
    """A GPT on tokens."""
    return keras_work.gpt(
        keras, sizes.width, sizes.length, sizes.vocabulary, sizes.blocks, sizes.heads, sizes.batch
    )  # fmt: skip


def cnn(keras, sizes):
    """Pairs of convolutions with batch normalization, at three resolutions."""
    layers = keras.layers
    parts = [layers.Input((sizes.side, sizes.side, 3))]
    for factor in (1, 2, 4):
        for _ in range(2):
            parts += [layers.Conv2D(factor * sizes.channels, 3, padding="same", use_bias=False)]
            parts += [layers.BatchNormalization(), layers.ReLU()]
        parts.append(layers.MaxPooling2D())
    model = keras.Sequential([*parts, layers.GlobalAveragePooling2D(), layers.Dense(10), _softmax(keras)])

    def inputs(rng, count):
        return rng.standard_normal((count, sizes.side, sizes.side, 3), np.float32)

    return model, inputs, 10, sizes.images


def attention(keras, sizes, causal):
    """Attention layers alone, on embedded tokens."""
    layers = keras.layers
    tokens = layers.Input((sizes.length,), dtype="int32")
    x = layers.Embedding(64, sizes.width)(tokens)
    for _ in range(sizes.blocks):
        x = x + layers.MultiHeadAttention(sizes.heads, sizes.width // sizes.heads)(x, x, use_causal_mask=causal)
    x = layers.Dense(10)(layers.GlobalAveragePooling1D()(x))

    def inputs(rng, count):
        return rng.integers(0, 64, (count, sizes.length)).astype("int32")

    return keras.Model(tokens, _softmax(keras)(x)), inputs, 10, sizes.batch


def float_arrays(keras, sizes, classes):
    """A small model on large floats: with `classes`, its labels are tokens, otherwise floats of the same size."""
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((sizes.length, sizes.width)),
            layers.LayerNormalization(),
            layers.Dense(classes or sizes.width),
            *([_softmax(keras)] if classes else []),
        ]
    )

    def inputs(rng, count):
        return rng.standard_normal((count, sizes.length, sizes.width), np.float32)

    return model, inputs, classes, sizes.batch


def _softmax(keras):
    return keras.layers.Activation("softmax", dtype="float32")


def fit(keras, work, sizes, precision, shuffle):
    """An epoch of `fit` with Adam."""
    keras.config.set_dtype_policy(precision)
    keras.utils.set_random_seed(0)
    model, inputs, classes, batch = work(keras, sizes)
    rng = np.random.default_rng(0)
    count = batch * BATCHES
    x = inputs(rng, count)
    if classes:
        y, loss = rng.integers(0, classes, (count, *model.output_shape[1:-1])), "sparse_categorical_crossentropy"
    else:
        y, loss = inputs(rng, count), "mse"
    model.compile("adam", loss)

    def epoch():
        return model.fit(x, y, batch_size=batch, epochs=1, verbose=0, shuffle=shuffle).history["loss"][-1]

    epoch()
    return epoch


def works(keras, tiny):
    """The works, by name."""
    sizes = TINY if tiny else FULL
    layers_alone, causal = (functools.partial(attention, causal=c) for c in (False, True))
    floats, tokens = (functools.partial(float_arrays, classes=c) for c in (0, 64))
    rows = {
        **{f"gpt {p}": (gpt, p, True) for p in ("float32", "mixed_bfloat16")},
        **{f"cnn {p}": (cnn, p, True) for p in ("float32", "mixed_bfloat16")},
        "attention": (layers_alone, "mixed_bfloat16", True),
        "causal attention": (causal, "mixed_bfloat16", True),
        "attention float32": (layers_alone, "float32", True),
        "causal attention float32": (causal, "float32", True),
        "fit float labels": (floats, "float32", True),
        "fit token labels": (tokens, "float32", True),
        "fit float labels in order": (floats, "float32", False),
        "fit token labels in order": (tokens, "float32", False),
    }
    return {
        name.replace(" ", "_"): functools.partial(fit, keras, work, sizes, precision, shuffle)
        for name, (work, precision, shuffle) in rows.items()
    }
