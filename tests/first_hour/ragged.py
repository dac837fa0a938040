import tensorflow as tf

digits = tf.ragged.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []])
words = tf.ragged.constant([["So", "long"], ["thanks", "for", "all", "the", "fish"]])
print(tf.add(digits, 3))
print(tf.reduce_mean(digits, axis=1))
print(tf.concat([digits, [[5, 3]]], axis=0))
print(tf.tile(digits, [1, 2]))
print(tf.strings.substr(words, 0, 2))
print(tf.map_fn(tf.math.square, digits))
print(digits[0], digits[:, :2], digits[:, -2:], sep="\n")
print(digits.to_list(), digits.row_lengths(), digits.shape)

queries = tf.strings.split(["Who is Dan Smith", "Pause", "Will it rain later today"])
print(queries)
buckets = tf.strings.to_hash_bucket_fast(queries, 16)
table = tf.Variable(tf.random.stateless_normal([16, 4], seed=[5, 6]))
with tf.GradientTape() as tape:
    mean = tf.reduce_mean(tf.nn.embedding_lookup(table, buckets), axis=1)
    loss = tf.reduce_sum(mean**2)
grad = tape.gradient(loss, table)
print(buckets, mean.shape, float(loss), type(grad).__name__)
print(queries.to_tensor("?"))
print(tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0).flat_values)


@tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
def total(rt):
    return tf.reduce_sum(rt, axis=1)


print(total(digits))
