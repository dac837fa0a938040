"""foolbox, eagerpy: gradients of a model; FGSM, PGD, basic iterative, Carlini-Wagner and DeepFool attacks."""

import eagerpy as ep
import foolbox
import numpy as np
import tensorflow as tf

random = np.random.RandomState(0)
weights = random.randn(12, 3).astype("float32")
images = tf.constant(random.uniform(size=(8, 2, 2, 3)).astype("float32"))


def logits(x):
    return tf.matmul(tf.reshape(x, (-1, 12)), weights)


def cross_entropy(x, labels):
    return ep.crossentropy(ep.astensor(logits(x)), ep.astensor(labels)).sum()


def numbers():
    model = foolbox.TensorFlowModel(logits, bounds=(0, 1), device="/CPU:0")
    labels = tf.argmax(logits(images), axis=-1)
    found = {"accuracy": foolbox.utils.accuracy(model, images, labels)}
    x = ep.astensor(images)
    loss, gradient = ep.value_and_grad(lambda t: cross_entropy(t.raw, labels), x)
    found |= {"loss": loss.raw, "gradient": gradient.raw[0, 0]}
    for attack in (
        foolbox.attacks.LinfFastGradientAttack(),
        foolbox.attacks.LinfPGD(random_start=False, steps=10),
        foolbox.attacks.L2BasicIterativeAttack(random_start=False),
        foolbox.attacks.L2CarliniWagnerAttack(steps=20, binary_search_steps=2),
        foolbox.attacks.L2DeepFoolAttack(steps=10),
    ):
        _, clipped, success = attack(model, images, labels, epsilons=[0.05, 0.3])
        name = type(attack).__name__
        found[f"{name} success"] = tf.cast(success, tf.float32)
        found[f"{name} moved"] = [float(tf.reduce_sum(tf.abs(c - images))) for c in clipped]
    return found
