import tensorflow as tf

cache = {}


@tf.function
def encode(x):
    cache["code"] = x * 2.0
    return x


@tf.function
def decode(y):
    return y + cache["code"]


encode(tf.constant([1.0]))
print(decode(tf.constant([1.0])))
