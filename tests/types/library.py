"""What the author of a library derives from gradtape's and Keras' classes: mypy's strict mode must accept it.

`tools/check_types.py` checks this file. It is never run.
"""

from typing import Any

import gradtape as tf


class Scaling(tf.keras.layers.Layer):
    def __init__(self, factor: float, **options: Any) -> None:
        super().__init__(**options)
        self.factor = factor

    def build(self, input_shape: Any) -> None:
        self.scale = self.add_weight(shape=input_shape[1:], initializer="ones")

    def call(self, inputs: tf.Tensor, training: bool = False) -> tf.Tensor:
        result: tf.Tensor = self.factor * inputs * self.scale
        return result

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "factor": self.factor}


class Wide(tf.keras.layers.Dense):
    pass


class Descent(tf.keras.optimizers.Optimizer):
    def update_step(self, gradient: tf.Tensor, variable: Any, learning_rate: Any) -> None:
        variable.assign_sub(gradient * learning_rate)


class Warmup(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step: Any) -> tf.Tensor:
        return tf.minimum(1.0, tf.cast(step, tf.float32) / 100.0)


class Classifier(tf.keras.Model):
    def train_step(self, data: Any) -> dict[str, Any]:
        features, labels = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=labels, y_pred=self(features, training=True))
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        return {"loss": loss}


class Quartic(tf.keras.losses.Loss):
    def call(self, y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
        return (y_true - y_pred) ** 4


class Largest(tf.keras.metrics.Metric):
    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None: ...
    def result(self) -> tf.Tensor:
        return tf.zeros([])


class Stop(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        print(epoch, logs)


class Constant(tf.keras.initializers.Initializer):
    def __call__(self, shape: Any, dtype: Any = None) -> tf.Tensor:
        return tf.ones(shape, dtype=dtype or tf.float32)


class Sparse(tf.keras.regularizers.Regularizer):
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(abs(x))


class Positive(tf.keras.constraints.Constraint):
    def __call__(self, w: tf.Tensor) -> tf.Tensor:
        return tf.nn.relu(w)


class Interval(tf.experimental.ExtensionType):
    low: tf.Tensor
    high: tf.Tensor


class Line(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.slope = tf.Variable(1.0)

    @tf.function
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return self.slope * x


class Averaging(tf.GradientTape):
    pass


def layers(model: tf.keras.Model) -> list[tf.keras.layers.Layer]:
    return [Scaling(2.0, name="scaling"), tf.keras.layers.Dense(3), tf.keras.Sequential([model])]


def features(dataset: tf.data.Dataset) -> tf.data.Dataset[tf.Tensor]:
    return dataset.map(tf.square)


line: tf.Tensor = Line()(tf.ones([2]))
