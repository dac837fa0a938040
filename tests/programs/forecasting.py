"""Windows of a time series by `Dataset.window`, normalized, forecast by a GRU, with callbacks and class weights."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(21)
time = np.arange(160, dtype="float32")
series = np.sin(time / 5) + 0.3 * np.cos(time / 2) + 0.05 * np.random.default_rng(4).normal(size=160)
SIZE = 12


def windows(values, batch, shuffle=None):
    data = tf.data.Dataset.from_tensor_slices(values.astype("float32"))
    data = data.window(SIZE + 1, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(SIZE + 1))
    if shuffle is not None:
        data = data.shuffle(64, seed=shuffle)
    return data.map(lambda w: (w[:-1, None], w[-1:])).batch(batch).prefetch(1)


normalize = keras.layers.Normalization(axis=None)
normalize.adapt(series[:120])
model = keras.Sequential([
    keras.Input((SIZE, 1)),
    normalize,
    keras.layers.GRU(8, return_sequences=True),
    keras.layers.GRU(6),
    keras.layers.Dense(1),
])


class Rates(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("rate", f"{float(self.model.optimizer.learning_rate):.5f}", "loss", f"{logs['loss']:.5f}")


model.compile(keras.optimizers.RMSprop(0.01), keras.losses.Huber(), metrics=["mae"])
callbacks = [
    keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * (0.5 if epoch else 1.0)),
    keras.callbacks.EarlyStopping(patience=5, restore_best_weights=True),
    Rates(),
]
held = windows(series[120:], 16)
train = windows(series[:120], 16, 7)
history = model.fit(train, epochs=3, validation_data=held, callbacks=callbacks, verbose=0).history
for name in ("val_loss", "val_mae"):
    print(name, " ".join(f"{value:.5f}" for value in history[name]))

rises = (series[1:] > series[:-1]).astype("int32")
up = tf.data.Dataset.from_tensor_slices((series[:-1, None].astype("float32"), rises))
rising = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(2, activation="softmax")])
rising.compile(keras.optimizers.Adam(0.02), "sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
shuffled = up.shuffle(200, seed=1).batch(20)
history = rising.fit(shuffled, epochs=3, class_weight={0: 1.0, 1: 2.5}, verbose=0).history
for name, values in history.items():
    print(name, " ".join(f"{value:.5f}" for value in values))
