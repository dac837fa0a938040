"""tf-keras-vis: saliency, Grad-CAM and its variants, ScoreCAM, activation maximization."""

import numpy as np
import tensorflow as tf
from tf_keras_vis.activation_maximization import ActivationMaximization
from tf_keras_vis.gradcam import Gradcam
from tf_keras_vis.gradcam_plus_plus import GradcamPlusPlus
from tf_keras_vis.layercam import Layercam
from tf_keras_vis.saliency import Saliency
from tf_keras_vis.scorecam import Scorecam
from tf_keras_vis.utils.model_modifiers import ReplaceToLinear
from tf_keras_vis.utils.regularizers import Norm
from tf_keras_vis.utils.scores import CategoricalScore
from weights import set_weights


def numbers():
    random = np.random.RandomState(0)
    inputs = tf.keras.Input((8, 8, 3))
    hidden = tf.keras.layers.Conv2D(4, 3, activation="relu", name="convolution")(inputs)
    pooled = tf.keras.layers.GlobalAveragePooling2D()(hidden)
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(3, activation="softmax")(pooled))
    set_weights(model, scale=0.6)
    images = random.uniform(0, 1, (2, 8, 8, 3)).astype("float32")
    score, linear = CategoricalScore([1, 2]), ReplaceToLinear()
    found = {"saliency": Saliency(model, linear)(score, images, normalize_map=True)}
    for kind in (Gradcam, GradcamPlusPlus, Layercam, Scorecam):
        found[kind.__name__] = kind(model, linear)(score, images, penultimate_layer="convolution")
    visualized = ActivationMaximization(model, linear)(
        CategoricalScore([1]), seed_input=images[:1] * 255, steps=4, regularizers=[Norm(weight=0.5)], input_modifiers=[]
    )
    return found | {"maximized": visualized}
