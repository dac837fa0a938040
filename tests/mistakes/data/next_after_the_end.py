import tensorflow as tf

iterator = iter(tf.data.Dataset.range(2))
for _ in range(3):
    print(iterator.get_next())
