import glob
import os

import tensorflow as tf
from tensorflow.keras import layers
from tensorflow.keras.callbacks import CSVLogger, EarlyStopping, LambdaCallback, ModelCheckpoint
from tensorflow.keras.callbacks import ReduceLROnPlateau, TensorBoard

tf.keras.utils.set_random_seed(7)
x = tf.random.stateless_normal((80, 4), seed=[3, 4])
y = tf.reduce_sum(x, 1, keepdims=True)

model = tf.keras.Sequential([tf.keras.Input((4,)), layers.Dense(8, activation="relu"), layers.Dense(1)])
model.compile(tf.keras.optimizers.Adam(0.05), "mse", metrics=["mae"])


class PrintLoss(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch % 4 == 0:
            print(f"epoch {epoch}: {logs['loss']:.3f} {logs['val_loss']:.3f}")


seen = []
model.fit(
    x.numpy(), y.numpy(), epochs=12, batch_size=16, validation_split=0.2, verbose=0,
    callbacks=[
        PrintLoss(),
        TensorBoard(log_dir="logs", histogram_freq=1),
        ModelCheckpoint("best.weights.h5", save_weights_only=True, save_best_only=True),
        EarlyStopping(patience=5, restore_best_weights=True),
        ReduceLROnPlateau(factor=0.5, patience=2),
        CSVLogger("log.csv"),
        LambdaCallback(on_batch_end=lambda batch, logs: seen.append(batch)),
        tf.keras.callbacks.LearningRateScheduler(lambda epoch, lr: lr * 0.95),
        tf.keras.callbacks.TerminateOnNaN(),
        tf.keras.callbacks.BackupAndRestore("backup"),
    ],
)
print(len(seen), len(open("log.csv").readlines()), os.path.exists("best.weights.h5"))
print(sorted(os.path.basename(os.path.dirname(f)) for f in glob.glob("logs/*/events*")))
for folder in ("train", "validation"):
    file = glob.glob(f"logs/{folder}/events*")[0]
    print(folder, sum(b"epoch_loss" in r.numpy() for r in tf.data.TFRecordDataset(file)))
