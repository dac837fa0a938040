"""tf-slim: layers with scopes of arguments, in functions that `wrap_function` traces; losses and their gradients."""

import numpy as np
import tensorflow as tf
import tf_slim as slim

random = np.random.RandomState(0)
v1 = tf.compat.v1


def fixed(*shape):
    return tf.constant(random.randn(*shape).astype("float32") * 0.5)


def image_net(x):
    with slim.arg_scope([slim.conv2d, slim.fully_connected], activation_fn=tf.nn.elu):
        y = slim.conv2d(x, 4, [3, 3], scope="conv")
        y = slim.max_pool2d(y, [2, 2], scope="pool")
        y = slim.separable_conv2d(y, 5, [3, 3], depth_multiplier=1, scope="separable")
        y = slim.avg_pool2d(y, [2, 2], scope="average")
        y = slim.stack(slim.flatten(y), slim.fully_connected, [6, 5], scope="fc")
    return slim.softmax(slim.fully_connected(y, 3, activation_fn=None, scope="logits"))


def normalized_net(x):
    y = slim.fully_connected(x, 4, normalizer_fn=slim.layer_norm, scope="first")
    y = slim.unit_norm(y, 1)
    y = slim.conv2d_transpose(tf.reshape(y, [-1, 2, 2, 1]), 2, [2, 2], stride=2, scope="larger")
    return slim.bias_add(slim.flatten(y), scope="bias"), slim.one_hot_encoding([0, 2, 1], 3)


def numbers():
    found = {}
    for name, net, x in (("image", image_net, fixed(2, 8, 8, 3)), ("normalized", normalized_net, fixed(3, 5))):
        wrapped = v1.wrap_function(net, [tf.TensorSpec([None, *x.shape[1:]], tf.float32)])
        variables = sorted(wrapped.variables, key=lambda v: v.name)
        found[f"{name} variables"] = [len(v.name) for v in variables]
        found[f"{name} sizes"] = [np.prod(v.shape) for v in variables]
        for variable in variables:
            variable.assign(fixed(*variable.shape))
        with tf.GradientTape() as tape:
            outputs = tf.nest.flatten(wrapped(x))
            loss = tf.reduce_sum(outputs[0] ** 2)
        found |= {f"{name} {i}": y for i, y in enumerate(outputs)}
        gradients = tape.gradient(loss, variables)
        found[f"{name} gradients"] = [0.0 if g is None else float(tf.norm(g)) for g in gradients]
    labels, logits = tf.constant([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]), fixed(2, 3)
    found["l2"] = slim.l2_regularizer(0.1)(fixed(4))
    found["l1"] = slim.l1_regularizer(0.1)(fixed(4))
    found["cross entropy"] = slim.losses.softmax_cross_entropy(logits, labels)
    found["squares"] = slim.losses.mean_squared_error(logits, labels)
    return found
