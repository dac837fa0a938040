"""Text recognition with CTC as in Keras' example, with functions of `tf.keras.backend`; and older losses."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import backend as K
from tensorflow.keras import layers

rng = np.random.RandomState(0)


class CTCLayer(layers.Layer):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.loss_fn = keras.backend.ctc_batch_cost

    def call(self, y_true, y_pred):
        batch_len = tf.cast(tf.shape(y_true)[0], dtype="int64")
        input_length = tf.cast(tf.shape(y_pred)[1], dtype="int64")
        label_length = tf.cast(tf.shape(y_true)[1], dtype="int64")
        input_length = input_length * tf.ones(shape=(batch_len, 1), dtype="int64")
        label_length = label_length * tf.ones(shape=(batch_len, 1), dtype="int64")
        loss = self.loss_fn(y_true, y_pred, input_length, label_length)
        self.add_loss(tf.reduce_mean(loss))
        return y_pred


images = layers.Input((10, 4))
labels = layers.Input((3,), dtype="int32")
x = layers.LSTM(5, return_sequences=True, kernel_initializer="ones", recurrent_initializer="identity")(images)
x = layers.Dense(6, activation="softmax", kernel_initializer=keras.initializers.RandomNormal(seed=2))(x)
model = keras.Model([images, labels], CTCLayer(name="ctc_loss")(labels, x))
model.compile(optimizer=keras.optimizers.Adam(0.01))
strips = rng.normal(size=(6, 10, 4)).astype("float32")
texts = rng.randint(0, 5, (6, 3))
history = model.fit([strips, texts], epochs=3, batch_size=3, verbose=0, shuffle=False)
print("loss", history.history["loss"])
frames = keras.Model(images, x).predict(strips, verbose=0)
for greedy in (True, False):
    (decoded,), scores = K.ctc_decode(frames, input_length=np.ones(6) * 10, greedy=greedy)
    print("decoded", decoded[:, :4].numpy().tolist(), scores.numpy().ravel())

logits = tf.Variable(rng.normal(size=(8, 2, 5)).astype("float32"))
sparse = tf.cast(tf.sparse.from_dense([[1, 2, 0], [3, 3, 1]]), tf.int32)
with tf.GradientTape() as tape:
    loss = tf.nn.ctc_loss(sparse, logits, None, [8, 7], blank_index=-1)
print("sparse labels", loss.numpy(), tf.norm(tape.gradient(loss, logits)).numpy())


def dice_loss(y_true, y_pred, smooth=1):
    y_true_f, y_pred_f = K.flatten(y_true), K.flatten(y_pred)
    intersection = K.sum(y_true_f * y_pred_f)
    return 1 - (2.0 * intersection + smooth) / (K.sum(y_true_f) + K.sum(y_pred_f) + smooth)


def focal_loss(y_true, y_pred, gamma=2.0):
    y_pred = K.clip(y_pred, K.epsilon(), 1 - K.epsilon())
    chance = K.switch(K.equal(y_true, 1), y_pred, 1 - y_pred)
    return -K.mean(K.pow(1 - chance, gamma) * K.log(chance))


def both_halves(y_true, y_pred):
    return K.mean(K.square(K.concatenate([y_true - y_pred, K.gather(y_pred, [1])], axis=0)))


truth = tf.constant([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
guess = tf.Variable([[0.8, 0.3, 0.6], [0.4, 0.9, 0.2]])
for loss_of in (dice_loss, focal_loss, both_halves):
    with tf.GradientTape() as tape:
        loss = loss_of(truth, guess)
    print(loss_of.__name__, loss.numpy(), tape.gradient(loss, guess).numpy())
