"""Activation functions."""

from ...ops.elementwise import activations
from .row import unary

# fmt: off
relu = unary("nn.relu", activations.relu, "`max(x, 0)`; its derivative at 0 is 0.",
    "tf.nn.relu(tf.constant([-1.0, 0.0, 2.0])).numpy()", "array([0., 0., 2.], dtype=float32)", parameters="features")
relu6 = unary("nn.relu6", activations.relu6, "`min(max(x, 0), 6)`.",
    "tf.nn.relu6(tf.constant([-1.0, 3.0, 9.0])).numpy()", "array([0., 3., 6.], dtype=float32)", parameters="features")
elu = unary("nn.elu", activations.elu, "`x` where it is positive, `exp(x) - 1` elsewhere.",
    "tf.nn.elu(tf.constant([0.0, 2.0])).numpy()", "array([0., 2.], dtype=float32)", parameters="features")
selu = unary("nn.selu", activations.selu,
    "`scale * x` where `x` is positive, `scale * alpha * (exp(x) - 1)` elsewhere: keeps mean 0 and variance 1.",
    "tf.nn.selu(tf.constant([0.0, 2.0])).numpy()", "array([0.      , 2.101402], dtype=float32)", parameters="features")
