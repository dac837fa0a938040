"""tensorflow-model-optimization: pruning with its callback, clustering, quantization-aware training."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tensorflow_model_optimization as tfmot
from weights import set_weights


def network():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(4, 3, activation="relu", input_shape=(6, 6, 1)),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(8, activation="relu"),
            tf.keras.layers.Dense(3),
        ]
    )
    set_weights(model)
    return model


def numbers():
    random = np.random.RandomState(0)
    images, labels = random.randn(24, 6, 6, 1).astype("float32"), random.randint(0, 3, 24)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def train(model, callbacks=()):
        model.compile(tf.keras.optimizers.Adam(0.01), loss)
        options = {"batch_size": 8, "epochs": 3, "shuffle": False, "verbose": 0, "callbacks": list(callbacks)}
        return model.fit(images, labels, **options).history["loss"]

    schedule = tfmot.sparsity.keras.PolynomialDecay(0.2, 0.75, begin_step=0, end_step=6, frequency=1)
    pruned = tfmot.sparsity.keras.prune_low_magnitude(network(), pruning_schedule=schedule)
    found = {"pruning losses": train(pruned, [tfmot.sparsity.keras.UpdatePruningStep()])}
    stripped = tfmot.sparsity.keras.strip_pruning(pruned)
    found["sparsity"] = [float(np.mean(w == 0)) for w in stripped.get_weights()]
    found["pruned"] = stripped.predict(images[:4], verbose=0)
    clustered = tfmot.clustering.keras.cluster_weights(
        network(), number_of_clusters=4,
        cluster_centroids_init=tfmot.clustering.keras.CentroidInitialization.LINEAR,
    )  # fmt: skip
    found["clustering losses"] = train(clustered)
    stripped = tfmot.clustering.keras.strip_clustering(clustered)
    found["clusters"] = [len(np.unique(w)) for w in stripped.get_weights() if w.ndim > 1]
    quantized = tfmot.quantization.keras.quantize_model(network())
    found["quantization losses"] = train(quantized)
    found["quantized"] = quantized.predict(images[:4], verbose=0)
    return found
