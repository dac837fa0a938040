"""A network is trained, its layers are frozen under a new head, then tuned at a lower rate, with augmentation."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(19)
rng = np.random.default_rng(12)


def pictures(count, kinds):
    labels = rng.integers(0, kinds, count)
    images = rng.uniform(0, 60, (count, 16, 16, 3)).astype("float32")
    for image, label in zip(images, labels):
        image[3:13, 2 + 3 * label : 5 + 3 * label] += 120.0
    return images, labels


base = keras.Sequential([
    keras.Input((16, 16, 3)),
    keras.layers.Conv2D(8, 3, strides=2, padding="same", use_bias=False),
    keras.layers.BatchNormalization(),
    keras.layers.Activation("swish"),
    keras.layers.SeparableConv2D(12, 3, padding="same"),
    keras.layers.DepthwiseConv2D(3, activation="relu"),
    keras.layers.GlobalAveragePooling2D(),
], name="base")
images, labels = pictures(96, 4)
source = keras.Sequential([keras.layers.Rescaling(1 / 127.5, offset=-1), base, keras.layers.Dense(4)])
source.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
history = source.fit(images, labels, batch_size=24, epochs=3, verbose=0).history
print("source", " ".join(f"{value:.5f}" for value in history["loss"]))

images, labels = pictures(60, 3)
data = tf.data.Dataset.from_tensor_slices((images, tf.one_hot(labels, 3)))
train = data.take(45).shuffle(45, seed=1, reshuffle_each_iteration=True).batch(15).prefetch(tf.data.AUTOTUNE)
held = data.skip(45).batch(15)
augment = keras.Sequential([
    keras.layers.RandomFlip("vertical", seed=3),
    keras.layers.RandomRotation(0.05, seed=4),
    keras.layers.RandomZoom(0.1, seed=5),
    keras.layers.RandomBrightness(0.1, seed=6),
])
base.trainable = False
inputs = keras.Input((16, 16, 3))
x = keras.layers.Rescaling(1 / 127.5, offset=-1)(augment(inputs))
x = keras.layers.Dropout(0.2)(base(x, training=False))
model = keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(x))
for rate, trainable in ((1e-2, False), (1e-3, True)):
    base.trainable = trainable
    model.compile(
        keras.optimizers.Adam(rate),
        keras.losses.CategoricalCrossentropy(label_smoothing=0.1),
        metrics=["accuracy", keras.metrics.TopKCategoricalAccuracy(2, name="top2")],
    )
    history = model.fit(train, validation_data=held, epochs=3, verbose=0).history
    print(len(model.trainable_weights), "trainable of", len(model.weights))
    for name, values in history.items():
        print(name, " ".join(f"{value:.5f}" for value in values))
