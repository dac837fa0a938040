"""A teacher distilled into a student: `compute_loss` is overridden, and the temperature is annealed by a callback."""

import keras
import numpy as np

keras.utils.set_random_seed(51)
rng = np.random.default_rng(9)
x = rng.normal(size=(120, 10)).astype("float32")
y = np.argmax(x[:, :3] + 0.5 * x[:, 3:6] ** 2, 1)


def network(width):
    return keras.Sequential([
        keras.Input((10,)),
        keras.layers.Dense(width, activation=keras.activations.mish, kernel_constraint=keras.constraints.MaxNorm(2.0)),
        keras.layers.GaussianNoise(0.1),
        keras.layers.Dense(width, activation="elu", activity_regularizer=keras.regularizers.L1(1e-3)),
        keras.layers.Dense(3),
    ])


class Distiller(keras.Model):
    def __init__(self, student, teacher):
        super().__init__()
        self.student, self.teacher = student, teacher
        self.temperature = self.add_weight(shape=(), initializer=keras.initializers.Constant(4.0), trainable=False)

    def call(self, x, training=None):
        return self.student(x, training=training)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, allow_empty=False):
        hard = keras.losses.sparse_categorical_crossentropy(y, y_pred, from_logits=True)
        soft = keras.ops.softmax(self.teacher(x, training=False) / self.temperature)
        soft = keras.losses.kl_divergence(soft, keras.ops.softmax(y_pred / self.temperature)) * self.temperature**2
        return keras.ops.mean(0.3 * hard + 0.7 * soft) + keras.ops.sum(self.losses)


teacher = network(24)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
teacher.compile(keras.optimizers.Lion(0.003), loss, metrics=["accuracy"])
history = teacher.fit(x, y, batch_size=20, epochs=3, verbose=0).history
print("teacher", " ".join(f"{value:.5f}" for value in history["loss"] + history["accuracy"]))
teacher.trainable = False
distiller = Distiller(network(6), teacher)
cool = keras.callbacks.LambdaCallback(
    on_epoch_end=lambda epoch, logs: distiller.temperature.assign(distiller.temperature * 0.7)
)
distiller.compile(keras.optimizers.Adamax(0.01, use_ema=True, ema_momentum=0.9), metrics=["accuracy"])
history = distiller.fit(x, y, batch_size=20, epochs=3, validation_split=1 / 6, callbacks=[cool], verbose=0).history
for name, values in history.items():
    print(name, " ".join(f"{value:.5f}" for value in values))
print(f"{float(distiller.temperature):.4f}", len(distiller.trainable_variables))
