"""larq: binary and ternary layers with their straight-through gradients, trained with fit and Bop."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import larq as lq
import numpy as np
import tensorflow as tf
from weights import set_weights


def numbers():
    random = np.random.RandomState(0)
    x = tf.constant(random.uniform(-2, 2, 12).astype("float32"))
    found = {}
    for name in ("SteSign", "ApproxSign", "SwishSign", "MagnitudeAwareSign", "SteTern", "SteHeaviside", "DoReFa"):
        quantizer = getattr(lq.quantizers, name)()
        with tf.GradientTape() as tape:
            tape.watch(x)
            out = quantizer(tf.reshape(x, (3, 4)))
        found[name] = out
        found[f"{name} gradient"] = tape.gradient(out, x)
    binary = {"input_quantizer": "ste_sign", "kernel_quantizer": "ste_sign", "kernel_constraint": "weight_clip"}
    model = tf.keras.Sequential(
        [
            lq.layers.QuantConv2D(4, 3, kernel_quantizer="ste_sign", kernel_constraint="weight_clip", use_bias=False),
            tf.keras.layers.BatchNormalization(scale=False),
            lq.layers.QuantSeparableConv2D(
                6,
                3,
                input_quantizer="ste_sign",
                depthwise_quantizer="ste_tern",
                pointwise_quantizer="ste_sign",
                use_bias=False,
            ),
            tf.keras.layers.BatchNormalization(scale=False),
            tf.keras.layers.Flatten(),
            lq.layers.QuantDense(3, **binary, use_bias=False),
            tf.keras.layers.Activation("softmax"),
        ]
    )
    model.build((None, 8, 8, 1))
    set_weights(model)
    images = random.randn(16, 8, 8, 1).astype("float32")
    labels = random.randint(0, 3, 16)
    optimizer = lq.optimizers.CaseOptimizer(
        (lq.optimizers.Bop.is_binary_variable, lq.optimizers.Bop(threshold=1e-6, gamma=1e-2)),
        default_optimizer=tf.keras.optimizers.legacy.Adam(0.01),
    )
    model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(images, labels, batch_size=8, epochs=3, shuffle=False, verbose=0).history
    found |= {"losses": history["loss"], "prediction": model.predict(images, verbose=0)}
    with lq.context.quantized_scope(True):
        found["quantized"] = model.layers[0].get_weights()[0]
    return found
