import os

import tensorflow as tf

ds = tf.data.Dataset.range(10).filter(lambda x: x % 2 == 0).map(lambda x: x * x, num_parallel_calls=tf.data.AUTOTUNE)
print(list(ds.as_numpy_iterator()))
print(ds.element_spec)

features = tf.reshape(tf.range(24, dtype=tf.float32), (8, 3))
labels = tf.constant([0, 1] * 4)
train = tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(8, seed=3).batch(3).prefetch(1)
for step, (x, y) in enumerate(train):
    print(step, x.shape, y.dtype.name)
print(sum(float(tf.reduce_sum(x)) for x, _ in train), train.cardinality())

words = tf.data.Dataset.from_generator(
    lambda: (["a"] * n for n in range(1, 5)), output_signature=tf.TensorSpec([None], tf.string)
)
for batch in words.padded_batch(2, padding_values="-"):
    print(batch)

with tf.io.TFRecordWriter("numbers.tfrecord") as writer:
    for i in range(3):
        feature = {
            "x": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i + 0.5])),
            "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"row%d" % i])),
        }
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
spec = {"x": tf.io.FixedLenFeature([2], tf.float32), "name": tf.io.FixedLenFeature([], tf.string)}
for row in tf.data.TFRecordDataset("numbers.tfrecord").map(lambda s: tf.io.parse_single_example(s, spec)):
    print(row["name"].numpy(), row["x"].numpy())

with open("table.csv", "w") as f:
    f.write("a,b\n1,2.5\n3,4.5\n")
table = tf.data.experimental.make_csv_dataset("table.csv", batch_size=2, label_name="b", num_epochs=1, shuffle=False)
for x, y in table:
    print(dict(x), y)
os.remove("table.csv")
