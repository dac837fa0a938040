"""xplique: saliency, gradient variants, guided backpropagation, Grad-CAM, occlusion; deletion and insertion scores."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from weights import set_weights
from xplique import attributions, metrics

random = np.random.RandomState(0)
images = random.rand(4, 8, 8, 3).astype("float32")
labels = np.eye(4, dtype="float32")[[0, 2, 1, 3]]


def numbers():
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            tf.keras.Input((8, 8, 3)),
            layers.Conv2D(6, 3, activation="relu", name="features"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(4),
        ]
    )
    set_weights(model, 1)
    found = {}
    for method, arguments in {
        "Saliency": {},
        "GradientInput": {},
        "IntegratedGradients": {"steps": 10},
        "GuidedBackprop": {},
        "DeconvNet": {},
        "GradCAM": {"conv_layer": "features"},
        "GradCAMPP": {"conv_layer": "features"},
        "Occlusion": {"patch_size": 3, "patch_stride": 2},
    }.items():
        explainer = getattr(attributions, method)(model, batch_size=4, **arguments)
        found[method] = tf.reshape(explainer(images, labels)[:2], [2, -1])[:, ::7]
    maps = attributions.Saliency(model)(images, labels)
    for metric in (metrics.Deletion, metrics.Insertion):
        found[metric.__name__] = metric(model, images, labels, steps=5)(maps)
    return found
