"""Several inputs and outputs: a loss, a weight and metrics per output, and sample weights."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(31)
rng = np.random.default_rng(6)
title = rng.integers(1, 30, (96, 5))
body = rng.normal(size=(96, 8)).astype("float32")
tags = rng.integers(0, 2, (96, 3)).astype("float32")
priority = (body[:, :1] + tags[:, :1] > 0.5).astype("float32")
team = rng.integers(0, 4, (96,))

t = keras.Input((5,), name="title")
b = keras.Input((8,), name="body")
g = keras.Input((3,), name="tags")
h = keras.layers.GlobalAveragePooling1D()(keras.layers.Embedding(30, 6)(t))
h = keras.layers.Concatenate()([h, keras.layers.Dense(6, activation="selu")(b), g])
one = keras.layers.Dense(1, name="priority", activation="sigmoid", kernel_regularizer="l2")(h)
two = keras.layers.Dense(4, name="team")(h)
model = keras.Model([t, b, g], {"priority": one, "team": two})
model.compile(
    keras.optimizers.SGD(0.1, momentum=0.5, nesterov=True),
    {"priority": "binary_crossentropy", "team": keras.losses.SparseCategoricalCrossentropy(from_logits=True)},
    metrics={"priority": ["AUC"], "team": ["accuracy"]},
    loss_weights={"priority": 1.0, "team": 0.2},
)
inputs = {"title": title, "body": body, "tags": tags}
targets = {"priority": priority, "team": team}
history = model.fit(inputs, targets, epochs=3, batch_size=16, validation_split=1 / 3, verbose=0).history
for name in sorted(history):
    print(name, " ".join(f"{value:.5f}" for value in history[name]))
weights = {"priority": np.where(priority[:, 0] > 0, 2.0, 0.5), "team": np.ones(96)}
data = tf.data.Dataset.from_tensor_slices((inputs, targets, weights)).shuffle(96, seed=3).batch(20)
history = model.fit(data, epochs=3, verbose=0).history
print("loss", " ".join(f"{value:.5f}" for value in history["loss"]))
print(len(model.evaluate(inputs, targets, batch_size=32, verbose=0)), sorted(model.predict(inputs, verbose=0)))

# The trunk is frozen under a new head, then all of it is tuned at a lower rate.
trunk = keras.Model([t, b, g], h)
trunk.trainable = False
head = keras.Sequential([keras.layers.Dropout(0.1), keras.layers.Dense(1)])
tuned = keras.Model([t, b, g], head(trunk([t, b, g], training=False)))
for rate, trainable in ((0.05, False), (0.005, True)):
    trunk.trainable = trainable
    tuned.compile(keras.optimizers.SGD(rate), "mse")
    options = {"class_weight": {0: 1.0, 1: 1.5}, "epochs": 3, "batch_size": 30, "verbose": 0}
    history = tuned.fit([title, body, tags], priority[:, 0], **options).history
    print(len(tuned.trainable_weights), " ".join(f"{value:.5f}" for value in history["loss"]))
