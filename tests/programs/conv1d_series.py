"""Conv1D on a time series from `timeseries_dataset_from_array`, with the usual callbacks."""

import os
import tempfile

import keras
import numpy as np

keras.utils.set_random_seed(2)
rng = np.random.default_rng(33)
time = np.arange(240)
signal = np.stack([np.sin(time / 6), np.cos(time / 9)], 1) + 0.1 * rng.normal(size=(240, 2))
signal = signal.astype("float32")
target = signal[16:, 0] + 0.5 * signal[16:, 1]


def windows(first, last, shuffle):
    return keras.utils.timeseries_dataset_from_array(
        signal[first:last], target[first:last], sequence_length=16, batch_size=20, shuffle=shuffle, seed=5
    )


train, held = windows(0, 180, True), windows(150, 224, False)
inputs = keras.Input((16, 2))
x = inputs
for filters, rate in ((8, 1), (8, 2), (8, 4)):
    y = keras.layers.Conv1D(filters, 3, padding="causal", dilation_rate=rate, use_bias=False)(x)
    y = keras.layers.SpatialDropout1D(0.1)(keras.layers.ReLU()(keras.layers.BatchNormalization()(y)))
    x = keras.layers.Add()([y, keras.layers.Conv1D(filters, 1)(x) if x.shape[-1] != filters else x])
x = keras.layers.Concatenate()([keras.layers.GlobalMaxPooling1D()(x), keras.layers.GlobalAveragePooling1D()(x)])
model = keras.Model(inputs, keras.layers.Dense(1)(x))
model.compile(keras.optimizers.AdamW(0.01, weight_decay=1e-3, clipnorm=1.0), "mse", metrics=["mae"])
with tempfile.TemporaryDirectory() as folder:
    best = os.path.join(folder, "best.keras")
    callbacks = [
        keras.callbacks.EarlyStopping(monitor="val_loss", patience=3, restore_best_weights=True),
        keras.callbacks.ReduceLROnPlateau(factor=0.5, patience=1, min_delta=0.01),
        keras.callbacks.ModelCheckpoint(best, save_best_only=True),
        keras.callbacks.CSVLogger(os.path.join(folder, "log.csv")),
        keras.callbacks.TerminateOnNaN(),
    ]
    history = model.fit(train, validation_data=held, epochs=4, callbacks=callbacks, verbose=0).history
    for name, values in history.items():
        print(name, " ".join(f"{value:.5f}" for value in values))
    with open(os.path.join(folder, "log.csv")) as log:
        print(log.readline().strip())
    again = keras.models.load_model(best)
print("restored", " ".join(f"{value:.5f}" for value in model.evaluate(held, verbose=0)))
print("loaded", " ".join(f"{value:.5f}" for value in again.evaluate(held, verbose=0)))
