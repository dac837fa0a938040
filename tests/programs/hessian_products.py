"""Hessian products in four ways, eagerly and in a function; Keras variables and the variables they hold."""

import numpy as np
import tensorflow as tf


def hvp_forward_over_back(f, x, v):
    with tf.autodiff.ForwardAccumulator(x, v) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        grad = tape.gradient(y, x)
    return acc.jvp(grad)


def hvp_back_over_back(f, x, v):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        grad = inner.gradient(y, x)
    return outer.gradient(grad, x, output_gradients=v)


def hvp_of_a_product(f, x, v):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        product = tf.reduce_sum(inner.gradient(y, x) * tf.stop_gradient(v))
    return outer.gradient(product, x)


def hvp_back_over_forward(f, x, v):
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, v) as acc:
            y = f(x)
        slope = acc.jvp(y)
    return tape.gradient(slope, x)


def f(x):
    return tf.reduce_sum(tf.sin(x) * x**3) + tf.reduce_prod(x)


x, v = tf.constant([0.5, 1.5, -1.0]), tf.constant([1.0, 2.0, 3.0])
for product in (hvp_forward_over_back, hvp_back_over_back, hvp_of_a_product, hvp_back_over_forward):
    print(product.__name__, product(f, x, v).numpy(), tf.function(product)(f, x, v).numpy())

dense = tf.keras.layers.Dense(1, name="layer")
dense.build([None, 2])
dense.set_weights([np.array([[1.0], [-1.0]]), np.array([0.0])])
x, targets = tf.constant([[2.0, 3.0], [1.0, 4.0]]), tf.constant([[1.0], [-1.0]])
with tf.autodiff.ForwardAccumulator(primals=dense.kernel.value, tangents=tf.constant([[1.0], [0.0]])) as acc:
    loss = tf.reduce_sum((dense(x) - targets) ** 2.0)
print("along the kernel", acc.jvp(loss).numpy())
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch([v.value for v in dense.trainable_variables])
    loss = tf.reduce_sum((dense(x) - targets) ** 2.0)
print([v.name for v in tape.watched_variables()])
for variable, gradient in zip(
    dense.trainable_variables, tape.gradient(loss, [v.value for v in dense.trainable_variables])
):
    variable.value.assign_sub(0.01 * gradient)
    print(variable.path, variable.numpy().ravel(), gradient.numpy().ravel())

flat = tf.Variable([0.3, -0.2, 0.5])
for step in range(4):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.exp(flat) - 2.0 * flat) + 0.1 * tf.reduce_sum(flat) ** 2
        grad = inner.gradient(y, flat)
    hessian = outer.jacobian(grad, flat)
    flat.assign_sub(tf.linalg.solve(hessian, grad[:, tf.newaxis])[:, 0])
    print("newton", step, y.numpy(), flat.numpy())
