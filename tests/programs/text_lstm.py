"""TextVectorization, an embedding and an LSTM, on a shuffled dataset of sentences."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(11)
rng = np.random.default_rng(0)
good = ["a fine film", "great fun and great music", "i loved it", "what a lovely story", "the best of them all"]
bad = ["a dull film", "no fun and poor music", "i hated it", "what a tired story", "the worst of them all"]
texts, labels = [], []
for i in range(96):
    kind = i % 2
    first, second = rng.choice(good if kind else bad, 2)
    texts.append(f"{first}, {second}!")
    labels.append(float(kind))

vectorize = keras.layers.TextVectorization(max_tokens=40, output_sequence_length=10)
vectorize.adapt(tf.data.Dataset.from_tensor_slices(texts).batch(16))
print(vectorize.get_vocabulary()[:8])

data = tf.data.Dataset.from_tensor_slices((texts, labels)).shuffle(96, seed=4).batch(16)
train = data.take(5).map(lambda x, y: (vectorize(x), y)).prefetch(2)
held = tf.data.Dataset.from_tensor_slices((texts, labels)).skip(80).batch(16).map(lambda x, y: (vectorize(x), y))

model = keras.Sequential([
    keras.layers.Embedding(40, 8, mask_zero=True),
    keras.layers.LSTM(12, dropout=0.2),
    keras.layers.Dense(1),
])
model.compile(keras.optimizers.SGD(0.5), keras.losses.BinaryCrossentropy(from_logits=True), metrics=["accuracy"])
history = model.fit(train, epochs=3, validation_data=held, verbose=0).history
for name, values in history.items():
    print(name, " ".join(f"{value:.5f}" for value in values))
unseen = vectorize(tf.constant(["a great story", "poor and dull"]))
print(np.round(model.predict(unseen, verbose=0).ravel(), 4).tolist())
