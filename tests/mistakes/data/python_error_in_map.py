import tensorflow as tf


def parse(x):
    return x["image"], x["label"]


dataset = tf.data.Dataset.from_tensor_slices({"images": tf.zeros((4, 2)), "label": [0, 1, 0, 1]}).map(parse)
for image, label in dataset:
    print(image, label)
