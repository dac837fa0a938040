"""The same Keras models on one device and on several: losses and weights after some steps, and bytes on each device.

    python tools/check_keras_distribution.py                 # 4 virtual CPUs, 50 steps, all models and distributions
    python tools/check_keras_distribution.py --steps 5 mlp   # some

Each model is trained on the same global batches without a distribution, on one device, and then under DataParallel and
ModelParallel on meshes of 1, 2 and 4 devices. A line for each says how far the losses of all steps, and the weights at
the end, are from those of one device (the largest difference, divided by the largest number), what share of the bytes
of all parameters and of the optimizer's state is on the first device, and how long a step takes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 4
)
from gradtape import keras  # noqa: E402

layers, distribution = keras.layers, keras.distribution

BATCH = 16
# How variables are split by `ModelParallel`: Keras' paths, and an axis of the mesh for each axis.
SPLIT = {
    ".*dense.*kernel": (None, "model"), ".*dense.*bias": ("model",), ".*conv2d.*kernel": (None, None, None, "model"),
    ".*conv2d.*bias": ("model",), ".*embedding.*embeddings": (None, "model"),
    ".*attention/(query|key|value)/kernel": (None, "model", None),
    ".*attention/(query|key|value)/bias": ("model", None), ".*attention/attention_output/kernel": ("model", None, None),
}  # fmt: skip


def mlp() -> tuple[Any, Any, Any]:
    """A perceptron with dropout, by Adam, and its data."""
    random = np.random.default_rng(1)
    model = keras.Sequential([keras.Input((20,)), layers.Dense(64, "relu"), layers.Dropout(0.2), layers.Dense(4)])
    model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x = random.normal(size=(8 * BATCH, 20)).astype("float32")
    return model, x, x[:, :4].argmax(1)


def cnn() -> tuple[Any, Any, Any]:
    """Convolutions with batch norm, whose statistics are those of the global batch, by SGD."""
    random = np.random.default_rng(2)
    model = keras.Sequential([
        keras.Input((12, 12, 3)), layers.Conv2D(8, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(),
        layers.MaxPooling2D(), layers.Conv2D(16, 3), layers.BatchNormalization(), layers.ReLU(), layers.Flatten(),
        layers.Dense(4),
    ])  # fmt: skip
    model.compile(keras.optimizers.SGD(0.05), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x = random.normal(size=(4 * BATCH, 12, 12, 3)).astype("float32")
    return model, x, x.mean((1, 2)).argmax(1)


def gpt(width: int = 32, heads: int = 4, length: int = 16, words: int = 64) -> tuple[Any, Any, Any]:
    """A transformer that guesses the next of some words, by SGD with momentum."""
    random = np.random.default_rng(3)
    tokens = keras.Input((length,), dtype="int32")
    x = layers.Embedding(words, width)(tokens) + layers.Embedding(length, width)(keras.ops.arange(length))
    for _ in range(2):
        y = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(heads, width // heads)(y, y, use_causal_mask=True)
        y = layers.Dense(4 * width, "gelu")(layers.LayerNormalization()(x))
        x = x + layers.Dropout(0.1)(layers.Dense(width)(y))
    model = keras.Model(tokens, layers.Dense(words)(layers.LayerNormalization()(x)))
    model.compile(
        keras.optimizers.SGD(0.05, momentum=0.9), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    )
    text = random.integers(0, words, (4 * BATCH, length + 1))
    return model, text[:, :-1].astype("int32"), text[:, 1:]


MODELS: dict[str, Callable[[], tuple[Any, Any, Any]]] = {"mlp": mlp, "cnn": cnn, "gpt": gpt}


def data_parallel(devices: int) -> Any:
    """Copies of the model, parts of the batch."""
    return distribution.DataParallel(devices=[f"cpu:{i}" for i in range(devices)])


def model_parallel(batch: int, model: int) -> Any:
    """Parts of the model; with `batch` above 1, of the batch too."""
    mesh = distribution.DeviceMesh((batch, model), ["batch", "model"], [f"cpu:{i}" for i in range(batch * model)])
    layouts = distribution.LayoutMap(mesh)
    for path, axes in SPLIT.items():
        layouts[path] = axes
    return distribution.ModelParallel(layout_map=layouts, batch_dim_name="batch")


DISTRIBUTIONS: dict[str, Callable[[], Any]] = {
    "one device": lambda: None,
    "DataParallel, 1": lambda: data_parallel(1),
    "DataParallel, 2": lambda: data_parallel(2),
    "DataParallel, 4": lambda: data_parallel(4),
    "ModelParallel, 1 x 2": lambda: model_parallel(1, 2),
    "ModelParallel, 1 x 4": lambda: model_parallel(1, 4),
    "ModelParallel, 2 x 2": lambda: model_parallel(2, 2),
}


def trained(name: str, how: str, steps: int) -> tuple[np.ndarray, list[np.ndarray], float, float]:
    """The losses, the weights, the share of the first device in bytes, and seconds a step."""
    keras.utils.clear_session()
    keras.utils.set_random_seed(7)
    distribution.set_distribution(DISTRIBUTIONS[how]())
    try:
        model, x, y = MODELS[name]()
        model.jit_compile = True
        losses = []
        for step in range(steps):
            if step == 2:
                begin = time.perf_counter()
            rows = slice(step * BATCH % len(x), step * BATCH % len(x) + BATCH)
            losses.append(model.train_on_batch(x[rows], y[rows]))
        seconds = (time.perf_counter() - begin) / max(1, steps - 2)
    finally:
        distribution.set_distribution(None)
    variables = [*model.variables, *model.optimizer.variables]
    return np.array(losses), [v.numpy() for v in model.variables], first_devices_share(variables), seconds


def first_devices_share(variables: Any) -> float:
    """What part of the bytes of some variables the first device holds."""
    whole = sum(v.value.numpy().nbytes for v in variables)
    there = 0
    for v in variables:
        spread = getattr(v.value, "spread", None)
        there += v.value.numpy().nbytes if spread is None else spread.addressable_shards[0].data.nbytes
    return there / whole


def distance(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference, divided by the largest number, or by 0.01 if that is more.

    A bias before a batch norm, or of attention's keys, has a gradient of zero but for rounding, and stays near zero.
    """
    return float(abs(found - expected).max() / max(abs(expected).max(), 0.01))


def main() -> None:
    """Prints a table; ends with an error if something is further than 1e-5 from what it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=list(MODELS))
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--on", nargs="*", default=list(DISTRIBUTIONS)[1:])
    arguments = parser.parse_args()
    worst = 0.0
    print(f"{'':30}{'losses':>10}{'weights':>10}{'bytes':>8}{'ms/step':>9}")
    for name in arguments.models:
        expected, weights, _, seconds = trained(name, "one device", arguments.steps)
        print(f"{name:6}{'one device':24}{'':28}{1e3 * seconds:9.1f}", flush=True)
        for how in arguments.on:
            losses, found, share, seconds = trained(name, how, arguments.steps)
            off = max(map(distance, found, weights))
            worst = max(worst, distance(losses, expected), off)
            off_losses = distance(losses, expected)
            print(f"{name:6}{how:24}{off_losses:10.1e}{off:10.1e}{share:8.1%}{1e3 * seconds:9.1f}", flush=True)
    if worst > 1e-5:
        raise SystemExit(f"{worst:.1e} is more than 1e-5")


if __name__ == "__main__":
    main()
