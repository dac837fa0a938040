"""dm-sonnet: convolutions, normalization, MLP, LSTMs in functions, a vector quantizer, three optimizers."""

import numpy as np
import sonnet as snt
import tensorflow as tf

random = np.random.RandomState(0)


def fixed(*shape):
    return tf.constant(random.randn(*shape).astype("float32") * 0.5)


def set_weights(module):
    for variable in module.trainable_variables:
        variable.assign(fixed(*variable.shape))


def numbers():
    found = {}
    x, labels = fixed(8, 6, 6, 3), tf.constant([0, 1, 2, 0, 1, 2, 0, 1])
    net = snt.Sequential([
        snt.Conv2D(4, 3), tf.nn.relu, snt.Flatten(), snt.LayerNorm(-1, True, True), snt.nets.MLP([16, 3]),
    ])  # fmt: skip
    net(x)
    set_weights(net)
    found["order of variables"] = [np.prod(v.shape) for v in net.trainable_variables]
    for optimizer in (snt.optimizers.Adam(0.01), snt.optimizers.SGD(0.1), snt.optimizers.RMSProp(0.01)):
        losses = []

        @tf.function
        def step(optimizer=optimizer):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, net(x)))
            gradients = tape.gradient(loss, net.trainable_variables)
            optimizer.apply(gradients, net.trainable_variables)
            return loss

        losses = [float(step()) for _ in range(4)]
        found[f"losses of {type(optimizer).__name__}"] = losses
    norm = snt.BatchNorm(True, True)
    found["batch norm"] = norm(x[0, 0], is_training=True)
    found["moving mean"] = norm.moving_mean.value
    core = snt.LSTM(5)
    sequence = fixed(4, 2, 3)
    core(sequence[0], core.initial_state(2))
    set_weights(core)
    unroll = tf.function(lambda s: snt.dynamic_unroll(core, s, core.initial_state(2)))
    found["LSTM"], state = unroll(sequence)
    found["LSTM cell"] = state.cell
    unrolled = snt.UnrolledLSTM(5)
    unrolled(sequence, unrolled.initial_state(2))
    set_weights(unrolled)
    found["UnrolledLSTM"], _ = tf.function(lambda s: unrolled(s, unrolled.initial_state(2)))(sequence)
    quantizer = snt.nets.VectorQuantizer(3, 4, 0.25)
    quantizer.embeddings.assign(fixed(3, 4))
    found["VectorQuantizer loss"] = quantizer(fixed(5, 3), is_training=True)["loss"]
    return found
