"""Keras' guides to custom layers and to what happens in `fit`: build, add_loss, metrics, train_step, callbacks."""

import keras
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(13)


class Linear(keras.layers.Layer):
    def __init__(self, units=4, rate=1e-2, **kwargs):
        super().__init__(**kwargs)
        self.units, self.rate = units, rate

    def build(self, input_shape):
        start = rng.normal(size=(input_shape[-1], self.units)).astype("float32") * 0.3
        self.w = self.add_weight(shape=start.shape, initializer=lambda *_, **__: tf.constant(start), trainable=True)
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", trainable=True)
        self.calls = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, inputs):
        self.calls.assign_add(1.0)
        self.add_loss(self.rate * tf.reduce_mean(tf.square(self.w)))
        return tf.matmul(inputs, self.w) + self.b

    def get_config(self):
        return {**super().get_config(), "units": self.units, "rate": self.rate}


class CustomModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.first, self.second = Linear(8), Linear(1)
        self.tracker = keras.metrics.Mean(name="loss")
        self.error = keras.metrics.MeanAbsoluteError(name="mae")

    def call(self, x):
        return self.second(tf.nn.relu(self.first(x)))

    @property
    def metrics(self):
        return [self.tracker, self.error]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            predictions = self(x, training=True)
            loss = tf.reduce_mean(tf.square(predictions - y)) + tf.add_n(self.losses)
        gradients = tape.gradient(loss, self.trainable_weights)
        gradients = [tf.clip_by_norm(g, 2.0) for g in gradients]
        self.optimizer.apply_gradients(zip(gradients, self.trainable_weights))
        self.tracker.update_state(loss)
        self.error.update_state(y, predictions)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        predictions = self(x, training=False)
        self.tracker.update_state(tf.reduce_mean(tf.square(predictions - y)))
        self.error.update_state(y, predictions)
        return {m.name: m.result() for m in self.metrics}


class Log(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("epoch", epoch, {name: float(value) for name, value in sorted(logs.items())})


x = rng.normal(size=(48, 5)).astype("float32")
y = np.sin(x.sum(1, keepdims=True))
model = CustomModel()
model.compile(optimizer=keras.optimizers.Adam(0.02))
history = model.fit(x, y, batch_size=16, epochs=4, shuffle=False, verbose=0, callbacks=[Log()], validation_split=0.25)
print(sorted(history.history), len(model.trainable_weights), len(model.non_trainable_weights))
print("evaluation", model.evaluate(x, y, verbose=0, return_dict=True))
print("layer", len(Linear.from_config(model.first.get_config())(x).shape), model.first.get_config()["units"])


class Doubled(keras.layers.Layer):
    @tf.custom_gradient
    def _halved(x):
        return x, lambda upstream: upstream * 0.5

    def call(self, x):
        return type(self)._halved(x) * 2.0


point = tf.Variable([1.0, -2.0])
with tf.GradientTape() as tape:
    out = tf.reduce_sum(Doubled()(point) ** 2)
print("custom gradient", tape.gradient(out, point).numpy())
