"""qkeras: layers with quantized weights and activations, their straight-through gradients, trained with fit."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from qkeras import QActivation, QConv2D, QDense, QDepthwiseConv2D, quantizers
from qkeras.utils import model_save_quantized_weights
from weights import norms, set_weights

random = np.random.RandomState(0)
images = random.rand(32, 6, 6, 2).astype("float32")
labels = random.randint(0, 3, 32)


def network():
    return tf.keras.Sequential(
        [
            tf.keras.Input((6, 6, 2)),
            QConv2D(4, 3, kernel_quantizer="quantized_bits(4, 0, 1)", bias_quantizer="quantized_bits(4)"),
            QActivation("quantized_relu(4, 2)"),
            QDepthwiseConv2D(2, depthwise_quantizer=quantizers.quantized_bits(6, 2, alpha=1.0)),
            tf.keras.layers.Flatten(),
            QDense(8, kernel_quantizer=quantizers.ternary(alpha=1.0), bias_quantizer="quantized_po2(4)"),
            QActivation("quantized_tanh(5)"),
            QDense(3, kernel_quantizer=quantizers.binary(alpha=1.0)),
        ]
    )


def numbers():
    x = tf.constant(np.linspace(-2.5, 2.5, 21, dtype="float32"))
    found = {}
    for quantizer in (
        quantizers.quantized_bits(4, 1, alpha=1.0),
        quantizers.quantized_relu(3, 1),
        quantizers.quantized_ulaw(6),
        quantizers.quantized_po2(4),
        quantizers.quantized_relu_po2(4),
        quantizers.ternary(),
        quantizers.binary(alpha="auto"),
        quantizers.quantized_sigmoid(4),
    ):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = quantizer(x)
        name = type(quantizer).__name__
        found |= {name: y, f"{name} gradient": tape.gradient(y, x)}
    model = network()
    set_weights(model, 1)
    with tf.GradientTape() as tape:
        outputs = model(images)
        loss = tf.reduce_mean(outputs**2)
    found |= {"outputs": outputs[:3], "gradients": norms(tape.gradient(loss, model.trainable_variables))}
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.SGD(0.02), loss, metrics=["accuracy"])
    found["losses"] = model.fit(images, labels, batch_size=8, epochs=3, shuffle=False, verbose=0).history["loss"]
    found["saved"] = [
        float(np.sum(np.abs(w))) for layer in model_save_quantized_weights(model).values() for w in layer["weights"]
    ]
    return found
