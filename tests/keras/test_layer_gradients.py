"""The gradients of every Keras layer against finite differences in float64, eagerly and in a traced function."""

import importlib
import inspect

import numpy as np
import pytest

import gradtape as tf

tf.keras  # noqa: B018  Keras with gradtape's backend; `tf.keras.layers` has TensorFlow's legacy layers too
keras = importlib.import_module("keras")
layers = keras.layers

VECTOR, LINE, IMAGE, VOLUME = (2, 4), (2, 6, 4), (2, 6, 6, 2), (1, 4, 4, 4, 2)
COLOURS = (2, 6, 6, 3)
TWO = ((2, 4), (2, 4))
QUERY = ((2, 3, 4), (2, 5, 4))
SPACE = {"1D": LINE, "2D": IMAGE, "3D": VOLUME}


def cell(kind, **options):
    return getattr(layers, kind)(3, dtype="float64", **options)


def each(name, dims="123", **options):
    return {f"{name}{n}D": (options, SPACE[f"{n}D"]) for n in dims}


# The arguments of each layer and the shape of its inputs.
CASES = {
    **{name: ({}, VECTOR) for name in (
        "ELU", "Flatten", "Identity", "LayerNormalization", "LeakyReLU", "Masking", "PReLU", "RMSNormalization", "ReLU",
        "Softmax", "UnitNormalization",
    )},
    **{name: ({}, TWO) for name in ("Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract")},
    **{name: ({"rate": 0.4, "seed": 3}, VECTOR) for name in ("AlphaDropout", "Dropout", "GaussianDropout")},
    **each("SpatialDropout", rate=0.4, seed=3),
    **each("AveragePooling", pool_size=2), **each("MaxPooling"),
    **each("GlobalAveragePooling"), **each("GlobalMaxPooling"),
    **each("AdaptiveAveragePooling", output_size=3), **each("AdaptiveMaxPooling", output_size=3),
    **each("Conv", filters=3, kernel_size=2), **each("Cropping", cropping=1), **each("UpSampling", size=2),
    **each("ZeroPadding", padding=1), **each("DepthwiseConv", "12", kernel_size=2, depth_multiplier=2),
    **each("SeparableConv", "12", filters=3, kernel_size=2),
    **{f"Conv{n}DTranspose": ({"filters": 2, "kernel_size": 2, "strides": 2}, SPACE[f"{n}D"]) for n in (1, 2, 3)},
    "ConvLSTM1D": ({"filters": 2, "kernel_size": 2}, (1, 3, 5, 2)),
    "ConvLSTM2D": ({"filters": 2, "kernel_size": 2}, (1, 3, 4, 4, 1)),
    "ConvLSTM3D": ({"filters": 1, "kernel_size": 2}, (1, 2, 3, 3, 3, 1)),
    "Activation": ({"activation": "gelu"}, VECTOR),
    "ActivityRegularization": ({"l2": 0.1}, VECTOR),
    "AdditiveAttention": ({}, QUERY),
    "Attention": ({"use_scale": True, "score_mode": "concat"}, QUERY),
    "BatchNormalization": ({}, IMAGE),
    "Bidirectional": ({"layer": lambda: cell("GRU", return_sequences=True)}, LINE),
    "CenterCrop": ({"height": 4, "width": 4}, IMAGE),
    "Dense": ({"units": 3, "activation": "tanh"}, VECTOR),
    "Dot": ({"axes": 1, "normalize": True}, TWO),
    "EinsumDense": ({"equation": "abc,cd->abd", "output_shape": (None, 3), "bias_axes": "d"}, LINE),
    "Embedding": ({"input_dim": 5, "output_dim": 3}, np.array([[0, 3], [4, 3]])),
    "GRU": ({"units": 3}, LINE),
    "GRUCell": ({"units": 3, "reset_after": False}, ((2, 4), (2, 3))),
    "GaussianNoise": ({"stddev": 0.3, "seed": 3}, VECTOR),
    "GroupNormalization": ({"groups": 2}, LINE),
    "GroupQueryAttention": ({"head_dim": 2, "num_query_heads": 4, "num_key_value_heads": 2}, QUERY),
    "LSTM": ({"units": 3, "return_sequences": True}, LINE),
    "LSTMCell": ({"units": 3}, VECTOR),
    "Lambda": ({"function": lambda: lambda x: x * x}, VECTOR),
    "MultiHeadAttention": ({"num_heads": 2, "key_dim": 3}, QUERY),
    "Normalization": ({"mean": 0.3, "variance": 2.0}, VECTOR),
    "Permute": ({"dims": (2, 1)}, LINE),
    "Pipeline": ({"layers": lambda: [layers.Dense(3, dtype="float64")]}, VECTOR),
    "RNN": ({"cell": lambda: layers.StackedRNNCells([cell("LSTMCell"), cell("SimpleRNNCell")], dtype="float64")}, LINE),
    "RepeatVector": ({"n": 3}, VECTOR),
    "Rescaling": ({"scale": 0.5, "offset": 1.0}, VECTOR),
    "Reshape": ({"target_shape": (2, 2)}, VECTOR),
    "STFTSpectrogram": ({"frame_length": 8, "frame_step": 4, "fft_length": 8, "mode": "psd"}, (1, 20, 1)),
    "ReversibleEmbedding": ({"input_dim": 5, "output_dim": 3}, np.array([[0, 3], [4, 3]])),
    "SimpleRNN": ({"units": 3, "go_backwards": True}, LINE),
    "SimpleRNNCell": ({"units": 3}, VECTOR),
    "StackedRNNCells": ({"cells": lambda: [cell("GRUCell"), cell("GRUCell")]}, VECTOR),
    "TimeDistributed": ({"layer": lambda: layers.Dense(3, dtype="float64")}, LINE),
    "AutoContrast": ({"value_range": (0, 1)}, COLOURS),
    **{name: ({"factor": 0.5, "value_range": (0, 1), "seed": 3}, COLOURS) for name in (
        "RandomColorDegeneration", "RandomHue", "RandomInvert", "RandomSaturation", "RandomSharpness",
    )},
    **{f"Random{name}": ({"factor": 0.2, "seed": 3}, COLOURS) for name in ("Contrast", "Perspective", "Rotation")},
    "RandomBrightness": ({"factor": 0.2, "value_range": (0, 1), "seed": 3}, COLOURS),
    "RandomColorJitter": ({
        "value_range": (0, 1), "brightness_factor": 0.2, "contrast_factor": 0.2, "saturation_factor": 0.3, "seed": 3,
    }, COLOURS),
    "RandomCrop": ({"height": 4, "width": 4, "seed": 3}, COLOURS),
    "RandomErasing": ({"factor": 1.0, "value_range": (0, 1), "fill_value": 0.5, "seed": 3}, COLOURS),
    "RandomFlip": ({"seed": 3}, COLOURS),
    "RandomGrayscale": ({"factor": 1.0, "seed": 3}, COLOURS),
    "RandomShear": ({"x_factor": 0.3, "y_factor": 0.3, "seed": 3}, COLOURS),
    "RandomTranslation": ({"height_factor": 0.2, "width_factor": 0.2, "seed": 3}, COLOURS),
    "RandomZoom": ({"height_factor": 0.2, "seed": 3}, COLOURS),
    "RandomElasticTransform": ({"factor": 1.0, "seed": 3}, COLOURS),
    "RandomGaussianBlur": ({"factor": 1.0, "seed": 3, "value_range": (0, 1)}, COLOURS),
    "Solarization": ({"value_range": (0, 1)}, COLOURS),
}  # fmt: skip
STATEFUL = {"GRUCell", "LSTMCell", "SimpleRNNCell", "StackedRNNCells"}
WITHOUT = {
    "computes nothing": ("InputLayer", "Layer", "Wrapper"),
    "gives integers, or counts of them": (
        "CategoryEncoding", "Discretization", "HashedCrossing", "Hashing", "IntegerLookup", "StringLookup",
        "TextVectorization",
    ),
    "wraps another library": ("FlaxLayer", "JaxLayer", "TFSMLayer", "TorchModuleWrapper"),
    "takes labels or boxes beside the images": ("CutMix", "MaxNumBoundingBoxes", "MixUp", "Mosaic"),
    "rounds its weights": ("TernaryDense",),
    "its values are steps, of bits or of a histogram": (
        "ContrastLimitedAdaptiveHistogramEqualization", "Equalization", "RandomPosterization",
    ),
    "draws among others, with steps among them": ("AugMix", "RandAugment"),
    "is float32 inside": ("MelSpectrogram", "Resizing"),
    "changes its own kernel at every call": ("SpectralNormalization",),
}  # fmt: skip


def test_no_layer_is_forgotten():
    found = {kind for kind in vars(layers).values() if inspect.isclass(kind) and issubclass(kind, keras.Layer)}
    tested = {getattr(layers, name) for name in CASES}  # some layers have two names
    # Keras 3.15 has not all of them.
    without = {getattr(layers, name) for names in WITHOUT.values() for name in names if hasattr(layers, name)}
    assert found == tested | without and not tested & without


def made(name):
    """Returns the layer, its inputs, and a scalar function of the inputs."""
    keras.utils.set_random_seed(1)
    options, shapes = CASES[name]
    options = {key: value() if inspect.isfunction(value) else value for key, value in options.items()}
    dtype = {} if name == "Pipeline" else {"dtype": "float64"}
    layer = getattr(layers, name)(**options, **dtype)
    rng = np.random.default_rng(0)

    def drawn(shape):
        return shape if isinstance(shape, np.ndarray) else rng.uniform(0.05, 0.95, shape)

    several = isinstance(shapes[0], tuple)
    inputs = [tf.constant(drawn(shape)) for shape in shapes] if several else [tf.constant(drawn(shapes))]

    def call(*values):
        values = list(values)
        if name in STATEFUL:
            states = layer.get_initial_state(batch_size=2) if len(values) == 1 else [values[1]]
            return layer(values[0], states)[0]
        given = {"training": True} if layer._call_has_training_arg else {}
        if "Attention" in name and name not in ("Attention", "AdditiveAttention"):
            return layer(*values, **given)
        return layer(values if several else values[0], **given)

    call(*inputs)
    for variable in layer.trainable_variables:  # biases are initially zero, and gammas one
        variable.assign(variable + rng.uniform(-0.2, 0.2, variable.shape))
    seeds = [(g, np.asarray(g.state)) for g in layer._flatten_layers() for g in getattr(g, "_seed_generators", [])]
    kept = [(v, np.asarray(v)) for v in layer.non_trainable_variables]
    weights = rng.normal(size=tuple(keras.ops.shape(call(*inputs))))

    def number(*values):
        for generator, state in seeds:
            generator.state.assign(state)
        for variable, value in kept:
            variable.assign(value)
        return tf.reduce_sum(call(*values) * weights)

    return layer, inputs, number


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    layer, inputs, number = made(name)
    sources = [*(x for x in inputs if x.dtype.is_floating), *layer.trainable_variables]

    def gradients(function):
        with tf.GradientTape() as tape:
            tape.watch([x for x in inputs if x.dtype.is_floating])
            y = function(*inputs)
        found = tape.gradient(y, sources, unconnected_gradients="zero")
        return [np.asarray(tf.convert_to_tensor(g)) for g in found]

    exact = gradients(number)
    for eager, traced in zip(exact, gradients(tf.function(number)), strict=True):
        np.testing.assert_allclose(traced, eager, rtol=1e-8, atol=1e-10)
    rng, step = np.random.default_rng(2), 1e-6
    for i, source in enumerate(sources):
        direction = rng.normal(size=source.shape)
        values = []
        for sign in (1, -1):
            if isinstance(source, keras.Variable):
                before = np.asarray(source)
                source.assign(before + sign * step * direction)
                values.append(float(number(*inputs)))
                source.assign(before)
            else:
                moved = [x + sign * step * direction if x is source else x for x in inputs]
                values.append(float(number(*moved)))
        numeric = (values[0] - values[1]) / (2 * step)
        np.testing.assert_allclose(np.sum(exact[i] * direction), numeric, rtol=1e-5, atol=1e-7)


def test_legacy_layers_of_tensorflow():
    x = tf.constant(np.random.default_rng(0).uniform(size=(2, 6, 6, 3)).astype("float32"))
    dropped = np.asarray(tf.keras.layers.AlphaDropout(0.4)(x, training=True))
    assert dropped.shape == x.shape and not np.array_equal(dropped, x)
    assert tf.keras.layers.RandomHeight(0.5)(x, training=True).shape[2:] == (6, 3)
    assert tf.keras.layers.RandomWidth(0.5)(x, training=True).shape[1] == 6
    np.testing.assert_array_equal(tf.keras.layers.ThresholdedReLU(0.5)(x), np.where(x > 0.5, x, 0))
