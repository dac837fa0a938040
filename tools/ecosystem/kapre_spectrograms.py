"""kapre: spectrograms, mel scales, decibels, deltas and their gradients as layers; a model trained with fit."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import kapre
import numpy as np
import tensorflow as tf
from kapre.composed import get_log_frequency_spectrogram_layer, get_melspectrogram_layer, get_stft_magnitude_layer
from weights import norms, set_weights

random = np.random.RandomState(0)
waves = random.uniform(-1, 1, (6, 800, 1)).astype("float32")
labels = random.randint(0, 2, 6)


def numbers():
    found = {}
    transform = kapre.STFT(n_fft=64, hop_length=32)(waves)
    spectrum = kapre.Magnitude()(transform)
    for name, value in {
        "magnitude": spectrum,
        "phase": tf.cos(kapre.Phase()(transform)),
        "decibel": kapre.MagnitudeToDecibel()(spectrum),
        "filters": kapre.ApplyFilterbank("mel", {"sample_rate": 8000, "n_freq": 33, "n_mels": 8})(spectrum),
        "delta": kapre.Delta(win_length=5)(spectrum),
        "frames": kapre.Frame(64, 32)(waves),
        "energy": kapre.Energy(sample_rate=8000, frame_length=64, hop_length=32)(waves),
        "inverse": kapre.InverseSTFT(n_fft=64, hop_length=32)(transform),
        "logarithmic": get_log_frequency_spectrogram_layer((800, 1), n_fft=256)(waves),
    }.items():
        found[name] = tf.reshape(value, [6, -1])[:2, 5::97]
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            get_melspectrogram_layer(
                (800, 1), n_fft=64, hop_length=32, sample_rate=8000, n_mels=8, return_decibel=True
            ),
            layers.Conv2D(3, 3, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(2),
        ]
    )
    set_weights(model, 1, 0.1)
    inputs = tf.constant(waves)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        loss = tf.reduce_mean(model(inputs) ** 2)
    found |= {"loss": loss, "gradient": norms(tape.gradient(loss, [inputs, *model.trainable_variables]))}
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    found["losses"] = model.fit(waves, labels, batch_size=3, epochs=2, shuffle=False, verbose=0).history["loss"]
    return found | {"stft shape": get_stft_magnitude_layer((800, 1), n_fft=64)(waves).shape}
