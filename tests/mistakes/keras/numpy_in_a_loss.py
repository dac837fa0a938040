import numpy as np
import tensorflow as tf


def loss(y_true, y_pred):
    return np.mean(np.abs(y_true - y_pred))


model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("adam", loss)
model.fit(tf.random.normal((8, 4)), tf.zeros((8, 1)), verbose=0)
