"""pennylane: circuits with backprop, parameter shift and adjoint; Jacobians; in functions; training."""

import pennylane as qml
import tensorflow as tf

device = qml.device("default.qubit", wires=2)


def circuit(params):
    qml.RX(params[0], wires=0)
    qml.RY(params[1], wires=1)
    qml.CNOT(wires=[0, 1])
    qml.RZ(params[2], wires=1)
    return qml.expval(qml.PauliZ(0)), qml.expval(qml.PauliX(1))


def value_and_gradient(node, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.stack(node(x)))
    return y, tape.gradient(y, x)


def numbers():
    found = {}
    for method in ("backprop", "parameter-shift", "adjoint"):
        node = qml.QNode(circuit, device, interface="tf", diff_method=method)
        params = tf.Variable([0.4, 0.7, -0.3], dtype=tf.float64)
        with tf.GradientTape(persistent=True) as tape:
            y = tf.stack(node(params))
        found |= {f"{method} value": y, f"{method} jacobian": tape.jacobian(y, params, experimental_use_pfor=False)}
    node = qml.QNode(circuit, device, interface="tf", diff_method="backprop")
    step = tf.function(lambda x: value_and_gradient(node, x))
    for _ in range(2):
        found["value in a function"], found["gradient in a function"] = step(tf.constant([0.1, 0.2, 0.3], tf.float64))
    weights = tf.Variable([0.1, 0.2, 0.3], dtype=tf.float64)
    optimizer = tf.keras.optimizers.SGD(0.1)
    losses = []
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.stack(node(weights)))
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
        losses.append(float(loss))
    return found | {"training": losses, "weights": weights}
