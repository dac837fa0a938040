"""tf-explain: Grad-CAM, integrated and plain gradients, occlusion, activations."""

import numpy as np
import tensorflow as tf
from tf_explain.core.activations import ExtractActivations
from tf_explain.core.grad_cam import GradCAM
from tf_explain.core.gradients_inputs import GradientsInputs
from tf_explain.core.integrated_gradients import IntegratedGradients
from tf_explain.core.occlusion_sensitivity import OcclusionSensitivity
from tf_explain.core.vanilla_gradients import VanillaGradients


def numbers():
    random = np.random.RandomState(0)
    inputs = tf.keras.Input((8, 8, 3))
    hidden = tf.keras.layers.Conv2D(4, 3, activation="relu", name="convolution")(inputs)
    pooled = tf.keras.layers.GlobalAveragePooling2D()(hidden)
    outputs = tf.keras.layers.Dense(3, activation="linear")(pooled)
    model = tf.keras.Model(inputs, tf.keras.layers.Activation("softmax")(outputs))
    model.set_weights([random.randn(*w.shape) * 0.5 for w in model.get_weights()])
    images = random.uniform(size=(2, 8, 8, 3)).astype("float32")
    data = (images, None)
    found = {"prediction": model.predict(images, verbose=0)}
    found["occlusion"] = OcclusionSensitivity().explain(data, model, 1, 4) / 255.0
    found["activations"] = ExtractActivations().explain(data, model, ["convolution"]) / 255.0
    found["Grad-CAM"] = GradCAM().explain(data, model, 1, "convolution") / 255.0
    found["integrated"] = IntegratedGradients().explain(data, model, 1, n_steps=5) / 255.0
    found["inputs"] = GradientsInputs().explain(data, model, 1) / 255.0
    found["vanilla"] = VanillaGradients().explain(data, model, 1) / 255.0
    return {name: np.round(value, 1) if name != "prediction" else value for name, value in found.items()}
