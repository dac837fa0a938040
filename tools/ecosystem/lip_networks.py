"""deel-lip: Lipschitz-constrained dense and convolutional layers, their losses, trained with fit."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from deel import lip
from weights import norms, set_weights

random = np.random.RandomState(0)
images = random.rand(24, 8, 8, 1).astype("float32")
labels = np.where(images.mean((1, 2, 3)) > 0.5, 1.0, -1.0).astype("float32")[:, None]


def numbers():
    tf.random.set_seed(0)
    model = lip.model.Sequential(
        [
            tf.keras.Input((8, 8, 1)),
            lip.layers.SpectralConv2D(4, 3),
            lip.layers.GroupSort2(),
            lip.layers.ScaledL2NormPooling2D((2, 2)),
            tf.keras.layers.Flatten(),
            lip.layers.SpectralDense(6),
            lip.layers.FullSort(),
            lip.layers.FrobeniusDense(1),
        ]
    )  # with another k_coef_lip, TensorFlow's activations keep the coefficient 1 of the trace for symbolic inputs
    set_weights(model, 1)
    with tf.GradientTape() as tape:
        outputs = model(images, training=True)
        loss = lip.losses.HKR(alpha=10.0, min_margin=0.5)(labels, outputs)
    found = {"outputs": outputs, "loss": loss, "gradients": norms(tape.gradient(loss, model.trainable_variables))}
    for name, layer_loss in {
        "KR": lip.losses.KR(),
        "hinge": lip.losses.HingeMargin(0.3),
        "tau": lip.losses.TauBinaryCrossentropy(2.0),
    }.items():
        found[name] = layer_loss(labels, outputs)
    model.compile(tf.keras.optimizers.Adam(0.01), lip.losses.HKR(10.0, 0.5), metrics=[lip.losses.KR()])
    history = model.fit(images, labels, batch_size=8, epochs=3, shuffle=False, verbose=0).history
    found |= {f"history {name}": values for name, values in history.items()}
    found["exported"] = model.vanilla_export().predict(images, verbose=0)
    return found
