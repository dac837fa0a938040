"""`gradtape.keras`: the real Keras, with the names that TensorFlow's `tf.keras` has, on gradtape."""

import sys

from keras_gradtape.loader import load

load()

from keras._tf_keras import keras as _keras  # noqa: E402  only after the backend was chosen

sys.modules[__name__] = _keras
