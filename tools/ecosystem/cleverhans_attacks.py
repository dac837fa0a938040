"""cleverhans: fast gradient, basic iterative, PGD, momentum, Carlini-Wagner attacks; adversarial training."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from cleverhans.tf2.attacks.basic_iterative_method import basic_iterative_method
from cleverhans.tf2.attacks.carlini_wagner_l2 import carlini_wagner_l2
from cleverhans.tf2.attacks.fast_gradient_method import fast_gradient_method
from cleverhans.tf2.attacks.madry_et_al import madry_et_al
from cleverhans.tf2.attacks.momentum_iterative_method import momentum_iterative_method
from cleverhans.tf2.attacks.projected_gradient_descent import projected_gradient_descent
from weights import set_weights


def numbers():
    random = np.random.RandomState(0)
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(4, 3, activation="relu", input_shape=(6, 6, 1)),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(3),
        ]
    )
    set_weights(model)
    x = tf.constant(random.uniform(size=(6, 6, 6, 1)).astype("float32"))
    found = {"logits": model(x)}
    for norm in (np.inf, 2):
        found[f"fast {norm}"] = fast_gradient_method(model, x, 0.1, norm)
        iterative = basic_iterative_method(model, x, 0.1, 0.03, 4, norm, rand_init=False) if norm == np.inf else x
        found[f"iterative {norm}"] = iterative
        found[f"PGD {norm}"] = projected_gradient_descent(model, x, 0.2, 0.05, 4, norm, rand_init=False)
        found[f"momentum {norm}"] = momentum_iterative_method(model, x, 0.2, 0.05, 4, norm)
    found["random start"] = [float(tf.reduce_max(tf.abs(madry_et_al(model, x, 0.1, 0.05, 3, np.inf) - x))) <= 0.1001]
    found["Carlini-Wagner"] = carlini_wagner_l2(
        model, x, max_iterations=15, binary_search_steps=2, clip_min=0.0, clip_max=1.0, learning_rate=0.05
    )
    labels, optimizer = tf.constant(random.randint(0, 3, 6)), tf.keras.optimizers.Adam(0.01)
    losses = []
    for _ in range(4):
        attacked = projected_gradient_descent(model, x, 0.1, 0.04, 3, np.inf, rand_init=False)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(attacked)))
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )
        losses.append(float(loss))
    return found | {"losses": losses}
