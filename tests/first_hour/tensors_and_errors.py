import gradtape as tf
import numpy as np

x = tf.constant([[1.0, 2, 3], [4, 5, 6]])
print(x, x.shape, x.dtype, tf.rank(x), sep="\n")
print(x[:, 1:], x[..., -1], x[tf.newaxis].shape)
print(tf.cast(x, tf.int32) % 2 == 0)
print(np.sum(x), np.asarray(tf.transpose(x)), x.numpy().tolist())
print(tf.reshape(x, [-1]), tf.reduce_max(x, axis=0), tf.math.top_k(x, 2).indices)
print(tf.gather(x, [1, 0]), tf.where(x > 3, x, 0.0), tf.one_hot([0, 2], 3))
print(tf.strings.join(["a", "b"], separator="-"), tf.strings.to_number("3.5") + 1)
print(tf.config.list_physical_devices("TPU"), tf.executing_eagerly())

for mistake in (
    lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])),
    lambda: tf.constant(1) + tf.constant(1.0),
    lambda: tf.reshape(x, [4, 2]),
    lambda: tf.Variable([1.0, 2.0]).assign([1.0, 2.0, 3.0]),
    lambda: tf.concat([tf.ones([2, 2]), tf.ones([3, 3])], 0),
    lambda: tf.debugging.assert_equal(x, 0.0),
):
    try:
        mistake()
    except (ValueError, TypeError, tf.errors.InvalidArgumentError) as error:
        print(type(error).__name__)

a = tf.Variable([1.0, 2.0])
b = a
a.assign_add([1.0, 1.0])
print(b, a.read_value() is b, a.shape[0], [float(v) for v in a])
tf.random.set_seed(42)
print(tf.random.stateless_uniform([2], seed=[1, 2]), tf.random.Generator.from_seed(1).normal([2]))
print(tf.experimental.numpy.arange(3) * 2, tf.nest.map_structure(lambda v: v * 2, {"a": [1, 2]}))
