"""Batches from a Python generator of declared length, for an embedding under Adam with a schedule."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(23)


def batches():
    order = np.random.default_rng(9)
    for _ in range(6):
        rows = order.permutation(40)[:16]  # no duplicate rows, whose sums Adam's result depends on
        yield rows.astype("int32").reshape(8, 2), (rows.reshape(8, 2).sum(1) / 40).astype("float32")


data = tf.data.Dataset.from_generator(
    batches, output_signature=(tf.TensorSpec((None, 2), tf.int32), tf.TensorSpec((None,), tf.float32))
)
data = data.apply(tf.data.experimental.assert_cardinality(6)).prefetch(tf.data.AUTOTUNE)
model = keras.Sequential([
    keras.layers.Embedding(40, 4),
    keras.layers.Flatten(),
    keras.layers.Dropout(0.2),
    keras.layers.Dense(1),
])
schedule = keras.optimizers.schedules.ExponentialDecay(0.02, 6, 0.8)
model.compile(keras.optimizers.Adam(schedule), "mse")
history = model.fit(data, epochs=3, verbose=0).history
print("loss", " ".join(f"{value:.5f}" for value in history["loss"]))
print(int(model.optimizer.iterations), f"{float(model.optimizer.learning_rate):.6f}")
print(np.round(model.layers[0].get_weights()[0][:3], 4).tolist())
