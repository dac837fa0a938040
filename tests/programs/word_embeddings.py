"""Skip-grams with negative sampling: gradients of an embedding are IndexedSlices, which optimizers accept."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(7)
VOCABULARY, SIZE = 30, 6
table = tf.Variable((rng.normal(size=(VOCABULARY, SIZE)) * 0.3).astype("float32"), name="embedding")
context = tf.Variable((rng.normal(size=(VOCABULARY, SIZE)) * 0.3).astype("float32"), name="context")


class Word2Vec(tf.keras.Model):
    def call(self, pair):
        target, others = pair
        word = tf.nn.embedding_lookup(table, target)
        around = tf.nn.embedding_lookup(context, others)
        return tf.einsum("be,bce->bc", word, around)


model = Word2Vec()
optimizer = tf.keras.optimizers.Adagrad(0.5)
targets = tf.constant(rng.randint(0, VOCABULARY, 40))
others = tf.concat([targets[:, None] + 1, tf.constant(rng.randint(0, VOCABULARY, (40, 4)))], axis=1) % VOCABULARY
labels = tf.constant([[1.0, 0.0, 0.0, 0.0, 0.0]] * 40)

for step in range(8):
    with tf.GradientTape() as tape:
        logits = model((targets, others))
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))
    gradients = tape.gradient(loss, [table, context])
    if step == 0:
        print([isinstance(g, tf.IndexedSlices) for g in gradients], gradients[0].values.shape)
        dense = tf.convert_to_tensor(gradients[0])
        print("rows touched", int(tf.math.count_nonzero(tf.reduce_sum(tf.abs(dense), axis=1))))
    optimizer.apply_gradients(zip(gradients, [table, context]))
    print("step", step, "loss", float(loss))
normalized = tf.math.l2_normalize(table, axis=1)
similarity = tf.linalg.matmul(normalized, normalized, transpose_b=True)
print("norms", tf.norm(table, axis=1)[:5].numpy())
print("similarity", similarity[0, :5].numpy())
