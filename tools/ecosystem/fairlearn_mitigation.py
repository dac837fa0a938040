"""fairlearn: adversarial mitigation of a classifier with Keras models, its predictions and disparities."""

import numpy as np
import tensorflow as tf
from fairlearn.adversarial import AdversarialFairnessClassifier
from fairlearn.metrics import demographic_parity_difference
from weights import set_weights

random = np.random.RandomState(0)
group = random.randint(0, 2, 80)
features = (random.randn(80, 3) + group[:, None] * [0.8, 0.0, -0.3]).astype("float32")
labels = (features @ [1.0, 0.5, -0.5] + 0.3 * random.randn(80) > 0.3).astype(int)


def network(inputs, seed):
    layers = [tf.keras.Input((inputs,)), tf.keras.layers.Dense(6, "relu"), tf.keras.layers.Dense(1, "sigmoid")]
    model = tf.keras.Sequential(layers)
    set_weights(model, seed)
    return model


def numbers():
    tf.random.set_seed(1)
    classifier = AdversarialFairnessClassifier(
        backend="tensorflow",
        predictor_model=network(3, 1),
        adversary_model=network(1, 2),
        predictor_optimizer=tf.keras.optimizers.Adam(0.02),
        adversary_optimizer=tf.keras.optimizers.Adam(0.02),
        batch_size=20,
        epochs=3,
        shuffle=False,
        random_state=0,
    )
    classifier.fit(features, labels, sensitive_features=group)
    predicted = classifier.predict(features)
    return {
        "scores": classifier._raw_predict(features)[::5],
        "accuracy": np.mean(predicted == labels),
        "difference": demographic_parity_difference(labels, predicted, sensitive_features=group),
    }
