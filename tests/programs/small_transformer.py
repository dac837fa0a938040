"""A causal transformer block with custom layers, trained by `fit` with a learning rate schedule."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
LENGTH, WORDS, WIDTH = 12, 16, 16


class Positions(keras.layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.token = keras.layers.Embedding(WORDS, WIDTH)
        self.place = keras.layers.Embedding(LENGTH, WIDTH)

    def call(self, x):
        return self.token(x) + self.place(tf.range(LENGTH))


class Block(keras.layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.attention = keras.layers.MultiHeadAttention(2, WIDTH // 2, dropout=0.1)
        self.feed = keras.Sequential([keras.layers.Dense(32, activation="gelu"), keras.layers.Dense(WIDTH)])
        self.norms = [keras.layers.LayerNormalization(epsilon=1e-6) for _ in range(2)]
        self.dropout = keras.layers.Dropout(0.1)

    def call(self, x, training=None):
        y = self.attention(x, x, use_causal_mask=True, training=training)
        x = self.norms[0](x + self.dropout(y, training=training))
        return self.norms[1](x + self.feed(x))


inputs = keras.Input((LENGTH,), dtype="int32")
outputs = keras.layers.Dense(WORDS)(Block()(Positions()(inputs)))
model = keras.Model(inputs, outputs)

start = np.random.default_rng(1).integers(0, WORDS, (128, 1))
series = (start + np.arange(LENGTH + 1) * (1 + start % 3)) % WORDS
data = tf.data.Dataset.from_tensor_slices(series.astype("int32")).map(lambda row: (row[:-1], row[1:]))
data = data.cache().shuffle(128, seed=2).batch(32, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

schedule = keras.optimizers.schedules.CosineDecay(0.3, 12, alpha=0.1)
optimizer = keras.optimizers.SGD(schedule, momentum=0.9)
model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
history = model.fit(data, epochs=3, verbose=0).history
for name, values in history.items():
    print(name, " ".join(f"{value:.5f}" for value in values))
print("steps", int(optimizer.iterations), "parameters", model.count_params())
