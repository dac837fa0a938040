"""cosmopower: an emulator of spectra, trained with its own steps, saved and restored."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import tempfile

import numpy as np
import tensorflow as tf
from cosmopower import cosmopower_NN

random = np.random.RandomState(0)
parameters = {"a": random.rand(64), "b": random.rand(64)}
modes = np.linspace(0.1, 1, 10)
spectra = np.sin(3 * parameters["a"][:, None] * modes) + parameters["b"][:, None]


def numbers():
    tf.random.set_seed(1)
    emulator = cosmopower_NN(
        parameters=["a", "b"], modes=modes, n_hidden=[12, 12], optimizer=tf.keras.optimizers.Adam()
    )
    for i, variable in enumerate(emulator.trainable_variables):
        variable.assign(np.random.RandomState(i).randn(*variable.shape).astype("float32") * 0.3)
    inputs = tf.constant(np.stack([parameters["a"], parameters["b"]], 1).astype("float32"))
    targets = tf.constant(spectra.astype("float32"))
    loss, gradients = emulator.compute_loss_and_gradients(inputs, targets)
    found = {"loss": loss, "gradients": [float(tf.norm(g)) for g in gradients]}
    emulator.optimizer.learning_rate = 0.01
    found["steps"] = [float(emulator.training_step(inputs, targets)) for _ in range(5)]
    found["accumulated"] = emulator.training_step_with_accumulated_gradients(inputs, targets, accumulation_steps=4)
    emulator.update_emulator_parameters()
    found["predictions"] = emulator.predictions_np({"a": [0.2, 0.7], "b": [0.5, 0.1]})
    with tempfile.TemporaryDirectory() as folder:
        emulator.save(f"{folder}/emulator")
        restored = cosmopower_NN(restore=True, restore_filename=f"{folder}/emulator")
        found["restored"] = restored.ten_to_predictions_np({"a": [0.2], "b": [0.5]})
    return found
