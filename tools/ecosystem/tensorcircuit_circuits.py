"""tensorcircuit-ng: states, expectations, gradients, in functions and batches, noise, training."""

import numpy as np
import tensorcircuit as tc
import tensorflow as tf

N = 4


def circuit(weights):
    c = tc.Circuit(N)
    for i in range(N):
        c.h(i)
    for layer in range(2):
        for i in range(N - 1):
            c.rzz(i, i + 1, theta=weights[layer, 0, i])
        for i in range(N):
            c.rx(i, theta=weights[layer, 1, i])
    return c


def energy(weights):
    c = circuit(weights)
    total = 0.0
    for i in range(N - 1):
        total += c.expectation([tc.gates.z(), [i]], [tc.gates.z(), [i + 1]])
    for i in range(N):
        total -= c.expectation([tc.gates.x(), [i]])
    return tc.backend.real(total)


def numbers():
    found = {}
    tc.set_backend("tensorflow")
    tc.set_dtype("complex64")
    weights = tf.constant(np.random.RandomState(0).normal(size=(2, 2, N)), tf.float32)
    state = circuit(weights).state()
    found["state"] = tf.stack([tf.math.real(state), tf.math.imag(state)])
    found["probabilities"] = circuit(weights).probability()
    found["energy"] = energy(weights)
    value, gradient = tc.backend.value_and_grad(energy)(weights)
    found["value"], found["gradient"] = value, gradient
    value, gradient = tc.backend.jit(tc.backend.value_and_grad(energy))(weights)
    found["value in a function"], found["gradient in a function"] = value, gradient
    several = tf.stack([weights, 2.0 * weights, -weights])
    found["batch"] = tc.backend.vmap(energy)(several)
    values, gradients = tc.backend.vectorized_value_and_grad(energy)(several)
    found["batch values"], found["batch gradients"] = values, gradients

    density = tc.DMCircuit(2)
    density.h(0)
    density.cnot(0, 1)
    density.depolarizing(0, px=0.1, py=0.05, pz=0.02)
    found["density"] = tf.math.real(density.densitymatrix())
    found["noisy"] = tf.math.real(density.expectation_ps(z=[0, 1]))
    hamiltonian = tc.quantum.PauliStringSum2Dense([[3, 3, 0, 0], [0, 1, 0, 0]], [1.0, -0.5])
    found["matrix"] = tf.math.real(tc.backend.convert_to_tensor(hamiltonian))

    trained, optimizer, losses = tf.Variable(weights), tf.keras.optimizers.Adam(0.1), []
    step = tc.backend.jit(tc.backend.value_and_grad(energy))
    for _ in range(6):
        loss, gradient = step(tf.convert_to_tensor(trained))
        optimizer.apply_gradients([(gradient, trained)])
        losses.append(loss)
    found["training"] = tf.stack(losses)
    return found
