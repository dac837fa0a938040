"""Encoder and decoder LSTMs with attention reverse sequences of digits: masks, states, teacher forcing."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(13)
rng = np.random.default_rng(21)
lengths = rng.integers(3, 7, 96)
source = np.zeros((96, 6), "int32")
target = np.zeros((96, 8), "int32")
for row, n in enumerate(lengths):
    digits = rng.integers(1, 9, n)
    source[row, :n] = digits
    target[row, : n + 2] = [9, *digits[::-1], 10]
weights = (target[:, 1:] != 0).astype("float32")

encoder_inputs = keras.Input((None,), dtype="int32", name="source")
x = keras.layers.Embedding(11, 12, mask_zero=True)(encoder_inputs)
memory, forward_h, forward_c, backward_h, backward_c = keras.layers.Bidirectional(
    keras.layers.LSTM(8, return_sequences=True, return_state=True)
)(x)
state = [keras.layers.Concatenate()([forward_h, backward_h]), keras.layers.Concatenate()([forward_c, backward_c])]
decoder_inputs = keras.Input((None,), dtype="int32", name="target")
y = keras.layers.Embedding(11, 12, mask_zero=True)(decoder_inputs)
y = keras.layers.LSTM(16, return_sequences=True, recurrent_dropout=0.1)(y, initial_state=state)
context = keras.layers.Attention()([y, memory])
outputs = keras.layers.TimeDistributed(keras.layers.Dense(11))(keras.layers.Concatenate()([y, context]))
model = keras.Model([encoder_inputs, decoder_inputs], outputs)
model.compile(
    keras.optimizers.SGD(1.0, clipvalue=0.5),
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    weighted_metrics=["accuracy"],
)
inputs = {"source": source, "target": target[:, :-1]}
history = model.fit(inputs, target[:, 1:], sample_weight=weights, batch_size=24, epochs=3, verbose=0).history
for name, values in history.items():
    print(name, " ".join(f"{value:.5f}" for value in values))

produced = tf.fill([2, 1], 9)
for _ in range(4):
    logits = model([tf.constant(source[:2]), produced], training=False)
    produced = tf.concat([produced, tf.argmax(logits[:, -1:], -1, output_type=tf.int32)], 1)
print(produced.numpy().tolist(), f"{float(tf.reduce_sum(tf.nn.softmax(logits)[..., 3])):.4f}")
