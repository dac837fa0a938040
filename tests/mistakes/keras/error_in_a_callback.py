import tensorflow as tf


class History(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs):
        print(logs["acc"])


model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mse", metrics=["mae"])
model.fit(tf.random.normal((8, 4)), tf.zeros((8, 1)), verbose=0, callbacks=[History()])
