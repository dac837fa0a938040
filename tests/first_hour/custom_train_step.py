import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(8)


class Linear(layers.Layer):
    def __init__(self, units=32):
        super().__init__()
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(shape=(input_shape[-1], self.units), initializer="random_normal", trainable=True)
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", trainable=True)

    def call(self, inputs):
        self.add_loss(1e-3 * tf.reduce_sum(self.w**2))
        return tf.matmul(inputs, self.w) + self.b


class CustomModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = Linear(16), Linear(1)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.mae_metric = keras.metrics.MeanAbsoluteError(name="mae")

    def call(self, x, training=False):
        h = tf.nn.gelu(self.hidden(x))
        if training:
            h = h * 1.01
        return self.out(h)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = keras.losses.MeanSquaredError()(y, y_pred) + sum(self.losses)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        self.mae_metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}

    @property
    def metrics(self):
        return [self.loss_tracker, self.mae_metric]


x = tf.random.stateless_normal((100, 6), seed=[9, 9])
y = tf.sin(tf.reduce_sum(x, 1, keepdims=True))
model = CustomModel()
model.compile(optimizer=keras.optimizers.Adam(0.01))
history = model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(20), epochs=5, verbose=0)
for name, values in history.history.items():
    print(name, ["%.4f" % v for v in values])
print(len(model.trainable_weights), model.count_params(), model.predict(x[:2], verbose=0))
