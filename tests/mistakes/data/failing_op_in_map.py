import tensorflow as tf

dataset = tf.data.Dataset.from_tensor_slices(["1.5", "2.5", "n/a"]).map(tf.strings.to_number)
for number in dataset:
    print(number)
