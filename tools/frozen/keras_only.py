"""A program on Keras that does not import gradtape."""

import os

os.environ["KERAS_BACKEND"] = "gradtape"

import keras
import numpy as np

model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
print(keras.backend.backend(), model.predict(np.ones((1, 2)), verbose=0).shape)
