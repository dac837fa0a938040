import tensorflow as tf

sentences = [[1, 2, 3], [4, 5], [6]]
dataset = tf.data.Dataset.from_generator(lambda: sentences, output_signature=tf.TensorSpec((None,), tf.int32))
for batch in dataset.batch(2):
    print(batch)
