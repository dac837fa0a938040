"""tf.data in front of a model: generators, maps, padding, windows, text, and `fit`."""

import os
import tempfile

import numpy as np
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE


def sequences():
    for i in range(7):
        yield np.arange(i % 4 + 1, dtype="int32"), i


dataset = tf.data.Dataset.from_generator(
    sequences, output_signature=(tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32))
)
for tokens, number in dataset.padded_batch(3, padded_shapes=([None], [])):
    print(tokens.numpy().tolist(), number.numpy().tolist())

windows = tf.data.Dataset.range(10).window(4, shift=3, drop_remainder=True).flat_map(lambda w: w.batch(4))
print([w.numpy().tolist() for w in windows])
pairs = tf.data.Dataset.zip((tf.data.Dataset.range(5), tf.data.Dataset.range(5, 10)))
total = pairs.map(lambda a, b: a * b, num_parallel_calls=AUTOTUNE).filter(lambda x: x % 2 == 0)
print(int(total.reduce(np.int64(0), lambda s, x: s + x)), int(pairs.cardinality()), pairs.element_spec[0].dtype.name)
shuffled = tf.data.Dataset.range(20).shuffle(20, seed=1).batch(20)
print(sorted(next(iter(shuffled)).numpy().tolist()) == list(range(20)))

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "rows.csv")
    tf.io.write_file(path, "1.5,2\n3,4\n5,6\n")
    lines = tf.data.TextLineDataset(path).skip(1).map(lambda line: tf.strings.to_number(tf.strings.split(line, ",")))
    print([line.numpy().tolist() for line in lines])

rng = np.random.RandomState(12)
features = rng.normal(size=(64, 4)).astype("float32")
labels = features @ np.array([[1.0], [2.0], [-1.0], [0.5]], "float32")
training = tf.data.Dataset.from_tensor_slices((features, labels)).batch(16).cache().prefetch(AUTOTUNE)
model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1, kernel_initializer="zeros")])
model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss="mse", metrics=["mae"])
history = model.fit(training, epochs=3, verbose=0, shuffle=False)
print("loss", history.history["loss"])
print("evaluation", model.evaluate(training, verbose=0))
