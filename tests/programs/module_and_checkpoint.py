"""A tf.Module that is built in its first call, saved in the middle of training, and restored."""

import os
import tempfile

import numpy as np
import tensorflow as tf


class Dense(tf.Module):
    def __init__(self, out_features, name=None):
        super().__init__(name=name)
        self.is_built = False
        self.out_features = out_features

    @tf.Module.with_name_scope
    def __call__(self, x):
        if not self.is_built:
            start = np.random.RandomState(self.out_features).normal(size=(x.shape[-1], self.out_features)) * 0.5
            self.w = tf.Variable(start.astype("float32"), name="w")
            self.b = tf.Variable(tf.zeros([self.out_features]), name="b")
            self.is_built = True
        return tf.nn.tanh(tf.matmul(x, self.w) + self.b)


class Model(tf.Module):
    def __init__(self):
        super().__init__(name="model")
        self.layers = [Dense(5, "first"), Dense(2, "second")]
        self.steps = tf.Variable(0, trainable=False, dtype=tf.int64)

    @tf.function
    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


x = tf.constant(np.random.RandomState(8).normal(size=(10, 3)).astype("float32"))
target = tf.sin(x[:, :2])
model = Model()
model(x)
print([v.name for v in model.trainable_variables], len(model.variables), len(model.submodules))


def train(steps):
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - target) ** 2)
        for v, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
            v.assign_sub(0.2 * g)
        model.steps.assign_add(1)
    return float(loss)


checkpoint = tf.train.Checkpoint(model=model)
with tempfile.TemporaryDirectory() as folder:
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    print("loss", train(10))
    path = manager.save()
    kept = model(x).numpy()
    print("further", train(10), int(model.steps))
    checkpoint.restore(path).assert_consumed()
    print("restored", np.abs(model(x).numpy() - kept).max(), int(model.steps))
    print("again", train(10), int(model.steps))
    manager.save()
    manager.save()
    print([os.path.basename(p) for p in manager.checkpoints], os.path.basename(tf.train.latest_checkpoint(folder)))
