"""adversarial-robustness-toolbox: gradients, FGSM, PGD, DeepFool, Carlini-Wagner, saliency; adversarial training."""

import numpy as np
import tensorflow as tf
from art.attacks.evasion import (
    BasicIterativeMethod,
    CarliniL2Method,
    DeepFool,
    FastGradientMethod,
    ProjectedGradientDescentTensorFlowV2,
    SaliencyMapMethod,
)
from art.defences.trainer import AdversarialTrainer
from art.estimators.classification import TensorFlowV2Classifier
from weights import norms, set_weights

random = np.random.RandomState(0)
images = random.rand(12, 5, 5, 1).astype("float32")
labels = np.eye(3, dtype="float32")[random.randint(0, 3, 12)]


def classifier():
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [tf.keras.Input((5, 5, 1)), layers.Conv2D(4, 3, activation="relu"), layers.Flatten(), layers.Dense(3)]
    )
    set_weights(model, 2, 0.5)
    return TensorFlowV2Classifier(
        model,
        nb_classes=3,
        input_shape=(5, 5, 1),
        loss_object=tf.keras.losses.CategoricalCrossentropy(from_logits=True),
        optimizer=tf.keras.optimizers.Adam(0.01),
        clip_values=(0, 1),
    )


def numbers():
    art = classifier()
    found = {
        "predictions": art.predict(images),
        "loss gradient": art.loss_gradient(images, labels)[0],
        "class gradient": norms(art.class_gradient(images, label=1)),
        "loss": art.compute_loss(images, labels),
    }
    for attack in (
        FastGradientMethod(art, eps=0.1),
        BasicIterativeMethod(art, eps=0.1, eps_step=0.03, max_iter=5, verbose=False),
        ProjectedGradientDescentTensorFlowV2(art, eps=0.1, eps_step=0.03, max_iter=5, verbose=False),
        DeepFool(art, max_iter=5, verbose=False),
        CarliniL2Method(art, max_iter=3, binary_search_steps=2, verbose=False),
        SaliencyMapMethod(art, theta=0.3, gamma=0.3, verbose=False),
    ):
        found[type(attack).__name__] = attack.generate(images, labels).sum(axis=(1, 2, 3))
    np.random.seed(3)  # noqa: NPY002  the trainer draws from it
    AdversarialTrainer(art, FastGradientMethod(art, eps=0.1), ratio=0.5).fit(images, labels, batch_size=4, nb_epochs=3)
    found["trained"] = art.predict(images)
    return found
