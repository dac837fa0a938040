import os

import gradtape as tf
from keras import layers
import keras
import numpy as np

keras.utils.set_random_seed(3)


@keras.saving.register_keras_serializable()
class Scale(layers.Layer):
    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def call(self, inputs):
        return inputs * self.factor

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


inputs = keras.Input((4,))
x = layers.Dense(8, activation="relu")(inputs)
x = layers.BatchNormalization()(x)
model = keras.Model(inputs, Scale(0.5)(layers.Dense(2)(x)))
model.compile("rmsprop", keras.losses.MeanSquaredError())
data = np.arange(40, dtype="float32").reshape(10, 4) / 40
model.fit(data, data[:, :2], epochs=2, verbose=0)
expected = model.predict(data, verbose=0)
print(expected[:2])

for name in ("my_model.keras", "my_model.h5"):
    model.save(name)
    loaded = keras.models.load_model(name)
    print(name, os.path.getsize(name) > 1000, np.abs(loaded.predict(data, verbose=0) - expected).max() < 1e-6)
loaded = keras.models.load_model("my_model.keras")
print(loaded.fit(data, data[:, :2], verbose=0).history["loss"])

model.save_weights("w.weights.h5")
other = keras.models.clone_model(model)
other.load_weights("w.weights.h5")
print(tf.reduce_all(tf.equal(other.layers[1].kernel, model.layers[1].kernel)))
print(keras.models.model_from_json(model.to_json()).count_params())
