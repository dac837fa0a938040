"""Keras layers trained by `fit` on a device: losses and weights equal those of the host."""

import numpy as np
import pytest
from stand_in import ON_GPU, on_host

import gradtape as tf

keras = tf.keras
LINE, IMAGE, VOLUME = (6, 4), (6, 7, 3), (4, 4, 5, 2)
LAYERS = {
    **{f"Conv{n}D": (shape, {"filters": 3, "kernel_size": 2, "strides": 2, "padding": "same"})
       for n, shape in ((1, LINE), (2, IMAGE), (3, VOLUME))},
    **{f"Conv{n}DTranspose": (shape, {"filters": 2, "kernel_size": 3, "strides": 2, "padding": "same"})
       for n, shape in ((1, LINE), (2, IMAGE), (3, VOLUME))},
    **{f"AveragePooling{n}D": (shape, {"pool_size": 3, "strides": 2, "padding": "same"})
       for n, shape in ((1, LINE), (2, IMAGE), (3, VOLUME))},
    **{f"MaxPooling{n}D": (shape, {"pool_size": 3, "strides": 2, "padding": "same"})
       for n, shape in ((1, LINE), (2, IMAGE), (3, VOLUME))},
    **{f"GlobalAveragePooling{n}D": (shape, {}) for n, shape in ((1, LINE), (2, IMAGE))},
    **{f"GlobalMaxPooling{n}D": (shape, {}) for n, shape in ((1, LINE), (2, IMAGE))},
    **{f"UpSampling{n}D": (shape, {"size": 2}) for n, shape in ((1, LINE), (2, IMAGE))},
    "DepthwiseConv2D": (IMAGE, {"kernel_size": 3, "depth_multiplier": 2}),
    "SeparableConv2D": (IMAGE, {"filters": 4, "kernel_size": 3, "padding": "same"}),
    "ZeroPadding2D": (IMAGE, {"padding": ((1, 2), (0, 1))}),
    "Cropping2D": (IMAGE, {"cropping": ((1, 2), (0, 1))}),
    "BatchNormalization": (IMAGE, {}),
    "GroupNormalization": ((6, 4), {"groups": 2}),
    "LayerNormalization": (LINE, {}),
    "UnitNormalization": (LINE, {}),
    "RMSNormalization": (LINE, {}),
    "Dropout": (LINE, {"rate": 0.4, "seed": 3}),
    "SpatialDropout2D": (IMAGE, {"rate": 0.4, "seed": 3}),
    "GaussianNoise": (LINE, {"stddev": 0.3, "seed": 3}),
    "LSTM": (LINE, {"units": 3}),
    "GRU": (LINE, {"units": 3, "return_sequences": True}),
    "SimpleRNN": (LINE, {"units": 3, "go_backwards": True}),
    "Bidirectional": (LINE, {"layer": lambda: keras.layers.LSTM(2)}),
    "TimeDistributed": (LINE, {"layer": lambda: keras.layers.Dense(2)}),
    "ConvLSTM1D": ((3, 5, 2), {"filters": 2, "kernel_size": 2}),
    "EinsumDense": (LINE, {"equation": "abc,cd->abd", "output_shape": (6, 3), "bias_axes": "d"}),
    "Embedding": ((5,), {"input_dim": 4, "output_dim": 3}),
    "MultiHeadAttention": (LINE, {"num_heads": 2, "key_dim": 3}),
    "Dense": (LINE, {"units": 3, "activation": "gelu"}),
    "PReLU": (LINE, {}),
    "Softmax": (LINE, {}),
    "Permute": (LINE, {"dims": (2, 1)}),
}  # fmt: skip


def trained(name, **options):
    """Returns the losses and weights of a model with the layer after some steps of `fit`."""
    keras.utils.set_random_seed(7)
    shape, arguments = LAYERS[name]
    arguments = {key: value() if callable(value) else value for key, value in arguments.items()}
    rng = np.random.default_rng(0)
    is_embedding = name == "Embedding"
    x = rng.integers(0, 4, (10, *shape)) if is_embedding else rng.normal(size=(10, *shape)).astype("float32")
    inputs = keras.Input(shape, dtype="int32" if is_embedding else "float32")
    h = inputs if is_embedding else keras.layers.Dense(shape[-1])(inputs)
    layer = getattr(keras.layers, name)(**arguments)
    h = layer(h, h) if name == "MultiHeadAttention" else layer(h)
    model = keras.Model(inputs, keras.layers.Dense(2)(keras.layers.Flatten()(h)))
    model.compile(keras.optimizers.SGD(0.05, momentum=0.9), "mse", **options)
    history = model.fit(x, rng.normal(size=(10, 2)), batch_size=5, epochs=2, shuffle=False, verbose=0)
    return [np.array(history.history["loss"]), *map(np.asarray, model.get_weights())]


@pytest.mark.parametrize("way", ["eager", "function"])
@pytest.mark.parametrize("name", list(LAYERS) if ON_GPU else ["Conv2D", "GRU"])
def test_a_layer_is_trained_as_on_the_host(name, way, gpu, request):
    if not ON_GPU:
        request.getfixturevalue("quick_compilation")
    with on_host(), tf.device("/CPU:0"):
        expected = trained(name, run_eagerly=True)
    options = {"run_eagerly": True} if way == "eager" else {}
    for mine, value in zip(trained(name, **options), expected, strict=True):
        np.testing.assert_allclose(mine, value, rtol=2e-3, atol=2e-4)
