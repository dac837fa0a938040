"""lime: explanations of a Keras model's decisions on tables and images."""

import os

os.environ["KERAS_BACKEND"] = "tensorflow"

import numpy as np
import tensorflow as tf
from lime.lime_image import LimeImageExplainer
from lime.lime_tabular import LimeTabularExplainer
from weights import set_weights


def numbers():
    random = np.random.RandomState(0)
    x = random.randn(60, 4).astype("float32")
    y = (x[:, 0] - x[:, 1] > 0).astype("float32")
    model = tf.keras.Sequential(
        [tf.keras.Input((4,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(2, "softmax")]
    )
    set_weights(model)
    model.compile(tf.keras.optimizers.Adam(0.02), "sparse_categorical_crossentropy")
    history = model.fit(x, y, batch_size=10, epochs=5, shuffle=False, verbose=0).history
    explainer = LimeTabularExplainer(x, discretize_continuous=False, random_state=1)
    predict = lambda data: model.predict(data.astype("float32"), verbose=0)  # noqa: E731
    explained = explainer.explain_instance(x[0], predict, num_samples=200)
    found = {"losses": history["loss"], "table": [weight for _, weight in sorted(explained.as_map()[1])]}
    found["local"] = explained.local_pred
    inputs = tf.keras.Input((12, 12, 3))
    pooled = tf.keras.layers.GlobalAveragePooling2D()(tf.keras.layers.Conv2D(4, 3, activation="relu")(inputs))
    network = tf.keras.Model(inputs, tf.keras.layers.Dense(2, activation="softmax")(pooled))
    set_weights(network, scale=0.8)
    segments = np.add.outer(np.arange(12) // 4 * 3, np.arange(12) // 4)
    image = random.uniform(size=(12, 12, 3))
    predict = lambda data: network.predict(data.astype("float32"), verbose=0)  # noqa: E731
    explained = LimeImageExplainer(random_state=1).explain_instance(
        image, predict, labels=(0, 1), top_labels=None, num_samples=60, segmentation_fn=lambda _: segments,
        random_seed=1,
    )  # fmt: skip
    return found | {"image": [weight for _, weight in sorted(explained.local_exp[1])]}
