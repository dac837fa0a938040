"""alibi-detect: outlier detection with an autoencoder, drift detection with kernels and an untrained encoder."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from alibi_detect.cd import KSDrift, MMDDrift
from alibi_detect.cd.tensorflow import HiddenOutput, preprocess_drift
from alibi_detect.od import OutlierAE
from alibi_detect.utils.tensorflow.distance import mmd2, squared_pairwise_distance
from alibi_detect.utils.tensorflow.kernels import GaussianRBF
from weights import set_weights


def numbers():
    random = np.random.RandomState(0)
    reference = random.randn(40, 6).astype("float32")
    drifted = (random.randn(40, 6) + 0.7).astype("float32")
    kernel = GaussianRBF(tf.constant([1.5]))
    found = {"distance": squared_pairwise_distance(reference[:5], drifted[:5])}
    found["kernel"] = kernel(reference[:5], drifted[:5])
    found["MMD"] = mmd2(reference, drifted, kernel)
    encoder = tf.keras.Sequential(
        [tf.keras.layers.Dense(5, activation="tanh", input_shape=(6,)), tf.keras.layers.Dense(3)]
    )
    set_weights(encoder)
    for name, data in {"same": reference[::-1].copy(), "drifted": drifted}.items():
        preprocess = lambda x: preprocess_drift(x, HiddenOutput(encoder, layer=-1), batch_size=16)  # noqa: E731
        detector = KSDrift(reference, p_val=0.05, preprocess_fn=preprocess)
        found[f"KS {name}"] = detector.predict(data)["data"]["p_val"]
        detector = MMDDrift(reference, backend="tensorflow", sigma=np.array([1.5]), n_permutations=50)
        outcome = detector.predict(data)["data"]
        found[f"MMD {name}"] = [outcome["distance"], outcome["is_drift"]]
    layers = [tf.keras.layers.Dense(3, activation="relu", input_shape=(6,))]
    decoder = tf.keras.Sequential([tf.keras.layers.Dense(6, input_shape=(3,))])
    detector = OutlierAE(threshold=2.0, encoder_net=tf.keras.Sequential(layers), decoder_net=decoder)
    set_weights(detector.ae)
    data = tf.data.Dataset.from_tensor_slices((reference, reference)).batch(8)
    optimizer = tf.keras.optimizers.Adam(0.01)
    for x, _ in data.repeat(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(detector.ae(x) - x))
        gradients = tape.gradient(loss, detector.ae.trainable_weights)
        optimizer.apply_gradients(zip(gradients, detector.ae.trainable_weights, strict=True))
    found["outliers"] = detector.predict(drifted * 2, return_instance_score=True)["data"]["instance_score"]
    return found
