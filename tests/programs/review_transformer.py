"""Reviews classified by a transformer block, as in Keras' own example, with a validation split."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

keras.utils.set_random_seed(77)
rng = np.random.default_rng(5)
nice, nasty, other = ["good", "fine", "superb", "warm"], ["bad", "poor", "awful", "cold"], list("abcdefghij")
texts, labels = [], []
for _ in range(80):
    kind = int(rng.integers(0, 2))
    words = rng.permutation(other)[:5].tolist() + rng.permutation(nice if kind else nasty)[:2].tolist()
    texts.append(" ".join(rng.permutation(words)).title() + ".")
    labels.append(kind)
texts, labels = np.array(texts), np.array(labels)


def clean(text):
    return tf.strings.regex_replace(tf.strings.lower(text), "[^a-z ]", "")


vectorize = layers.TextVectorization(standardize=clean, max_tokens=24, output_sequence_length=8)
vectorize.adapt(texts)
print(len(vectorize.get_vocabulary()), vectorize(texts[:1]).numpy().tolist())


class TransformerBlock(layers.Layer):
    def __init__(self, embed_dim, num_heads, ff_dim, rate=0.1):
        super().__init__()
        self.att = layers.MultiHeadAttention(num_heads=num_heads, key_dim=embed_dim)
        self.ffn = keras.Sequential([layers.Dense(ff_dim, activation="relu"), layers.Dense(embed_dim)])
        self.layernorm1 = layers.LayerNormalization(epsilon=1e-6)
        self.layernorm2 = layers.LayerNormalization(epsilon=1e-6)
        self.dropout1 = layers.Dropout(rate)
        self.dropout2 = layers.Dropout(rate)

    def call(self, inputs):
        attn_output = self.dropout1(self.att(inputs, inputs))
        out1 = self.layernorm1(inputs + attn_output)
        return self.layernorm2(out1 + self.dropout2(self.ffn(out1)))


class TokenAndPositionEmbedding(layers.Layer):
    def __init__(self, maxlen, vocab_size, embed_dim):
        super().__init__()
        self.token_emb = layers.Embedding(input_dim=vocab_size, output_dim=embed_dim)
        self.pos_emb = layers.Embedding(input_dim=maxlen, output_dim=embed_dim)

    def call(self, x):
        positions = ops.arange(start=0, stop=ops.shape(x)[-1], step=1)
        return self.token_emb(x) + self.pos_emb(positions)


inputs = layers.Input(shape=(8,))
x = TransformerBlock(16, 2, 16)(TokenAndPositionEmbedding(8, 24, 16)(inputs))
x = layers.Dropout(0.1)(layers.GlobalAveragePooling1D()(x))
x = layers.Dropout(0.1)(layers.Dense(20, activation="relu")(x))
model = keras.Model(inputs, layers.Dense(2, activation="softmax")(x))
optimizer = keras.optimizers.SGD(0.05, momentum=0.9)
model.compile(optimizer=optimizer, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(vectorize(texts).numpy(), labels, batch_size=16, epochs=3, validation_split=0.2, verbose=0).history
for name, values in history.items():
    print(name, " ".join(f"{value:.5f}" for value in values))
