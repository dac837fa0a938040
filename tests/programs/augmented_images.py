"""An image classifier with augmentation inside the model, batch normalization and a shuffled dataset."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(5)
rng = np.random.default_rng(2)
labels = rng.integers(0, 3, 96)
images = rng.uniform(0, 80, (96, 12, 12, 3)).astype("float32")
for image, label in zip(images, labels):
    image[2 : 4 + 2 * label, 3:9, label] += 150.0

data = tf.data.Dataset.from_tensor_slices((images, labels))
train = data.take(72).shuffle(72, seed=9).batch(12).prefetch(1)
held = data.skip(72).batch(12).cache()

augment = keras.Sequential([
    keras.layers.RandomFlip("horizontal", seed=1),
    keras.layers.RandomTranslation(0.1, 0.1, seed=2),
    keras.layers.RandomContrast(0.2, seed=3),
])
inputs = keras.Input((12, 12, 3))
x = keras.layers.Rescaling(1 / 255)(augment(inputs))
x = keras.layers.Conv2D(6, 3, use_bias=False)(x)
x = keras.layers.BatchNormalization(momentum=0.8)(x)
x = keras.layers.MaxPooling2D()(keras.layers.Activation("relu")(x))
x = keras.layers.Dropout(0.2, seed=4)(keras.layers.Flatten()(x))
model = keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(x))
model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(train, epochs=3, validation_data=held, verbose=0).history
for name, values in history.items():
    print(name, " ".join(f"{value:.5f}" for value in values))
print("evaluated", " ".join(f"{value:.5f}" for value in model.evaluate(held, verbose=0)))
