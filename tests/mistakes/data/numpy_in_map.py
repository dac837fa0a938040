import tensorflow as tf


def double(x):
    return x.numpy() * 2


for x in tf.data.Dataset.range(3).map(double):
    print(x)
