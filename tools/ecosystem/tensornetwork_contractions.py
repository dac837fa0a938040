"""tensornetwork: contracted and split nodes, gradients through them, matrix product states."""

from itertools import pairwise

import numpy as np
import tensorflow as tf
import tensornetwork as tn

tn.set_default_backend("tensorflow")
random = np.random.RandomState(0)


def numbers():
    a, b, c = (tf.constant(random.rand(*shape)) for shape in ((3, 4), (4, 5), (5, 3)))
    found = {"ncon": tn.ncon([a, b, c], [(1, 2), (2, 3), (3, 1)])}
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        first, second = tn.Node(a), tn.Node(b)
        first[1] ^ second[0]
        value = tf.reduce_sum((first @ second).tensor ** 2)
    found |= {f"gradient {i}": gradient for i, gradient in enumerate(tape.gradient(value, [a, b]))}
    node = tn.Node(tf.constant(random.rand(2, 3, 4)))
    left, right, _ = tn.split_node(node, left_edges=[node[0], node[1]], right_edges=[node[2]], max_singular_values=2)
    found["split"] = tn.contract_between(left, right).tensor
    nodes = [tn.Node(tf.constant(random.rand(2, 2))) for _ in range(4)]
    for one, other in pairwise(nodes):
        one[1] ^ other[0]
    nodes[-1][1] ^ nodes[0][0]
    found["greedy"] = tn.contractors.greedy(nodes).tensor
    tensors = [tf.constant(random.rand(*shape)) for shape in ((1, 2, 3), (3, 2, 3), (3, 2, 1))]
    state = tn.FiniteMPS(tensors, canonicalize=True)
    spin = tf.constant([[0.5, 0.0], [0.0, -0.5]], tf.float64)
    found["spins"] = state.measure_local_operator([spin] * 3, [0, 1, 2])
    found["correlations"] = state.measure_two_body_correlator(spin, spin, 0, [1, 2])
    return found
