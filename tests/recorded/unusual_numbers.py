"""Special functions, powers and losses at the limits of their domains, where TensorFlow's result is the definition."""

import numpy as np

_ZETA = "[np.inf, np.inf, np.inf, 1.0, 0.5, 2.0, 2.0, 3.0, 2.5], [2.0, 1.0, 0.5, 2.0, 2.0, -1.5, np.inf, -1.5, -1.5]"
_LOGITS = np.sin(np.arange(20.0, dtype=np.float32)).reshape(4, 1, 5)


def _ctc(labels, length, frames, blank):
    """Returns the loss of labels, dense unless their length is None, and its gradient."""

    def program(tf):
        logits = tf.constant(_LOGITS)
        given = tf.sparse.from_dense([labels]) if length is None else tf.constant([labels])
        with tf.GradientTape() as tape:
            tape.watch(logits)
            loss = tf.nn.ctc_loss(given, logits, None if length is None else [length], [frames], blank_index=blank)
        return [loss, tape.gradient(loss, logits)]

    return program


CASES = [
    *[
        (f"betainc, a={a}, b={b}",
         f"grad: lambda x: tf.math.betainc(tf.constant({a}, tf.float64), tf.constant({b}, tf.float64), x) "
         "@ [0.0, 1.0, 0.5, -0.0]")
        for a in (1.0, 0.5, 2.0) for b in (1.0, 0.5, 3.0)
    ],
    ("zeta", f"tf.math.zeta(*tf.constant([{_ZETA}]))"),
    ("zeta of a large exponent", "tf.math.zeta(1e18, [-2.3, 0.3, 1.0, 1.5, 40.0, 1e9, np.inf])"),
    ("igamma by a at the ends", "grad: lambda a: tf.math.igamma(a, tf.constant([0.0, np.inf, 1.0], tf.float64)) "
     "@ [1.0, 1.0, np.inf]"),
    ("roots", "grad: lambda x: x ** 0.5 @ [0.0, -0.0, -np.inf, np.inf, -1.0, 4.0]"),
    ("signs of roots", "tf.math.reciprocal(tf.constant([0.0, -0.0]) ** 0.5)"),
    ("lgamma at the ends", "tf.math.lgamma(tf.constant([np.inf, -np.inf, 0.0, -1.0], tf.float64))"),
    ("bessel functions below 0", "[f(tf.constant([-1.0, -1e-30, 0.0])) for f in (tf.math.special.bessel_k0, "
     "tf.math.special.bessel_k1, tf.math.special.bessel_k0e, tf.math.special.bessel_k1e, tf.math.special.bessel_y0)]"),
    ("fresnel integrals far out", "[f(tf.constant([1e200, -1e308], tf.float64)) for f in (tf.math.special.fresnel_sin, "
     "tf.math.special.fresnel_cos)]"),
    *[
        (f"leaky_relu, alpha={alpha}",
         f"grad: lambda x: tf.nn.leaky_relu(x, {alpha}) @ [np.inf, -np.inf, np.nan, 1.0, -1.0]")
        for alpha in (0.0, 0.25, 1.5)
    ],
    ("silu, large", "grad: lambda x: tf.nn.silu(tf.cast(x, tf.float16)) @ [2048.0, 2050.0, 4096.0, 65504.0]"),
    ("silu, larger", "grad: lambda x: tf.nn.silu(tf.cast(x, tf.float32)) @ [16777216.0, 16777218.0, 1e30]"),
    ("gelu, large", "grad: lambda x: tf.nn.gelu(tf.cast(x, tf.float16), True) @ [85.0, -85.0, 100.0, 200.0]"),
    ("complex sigmoid", "tf.sigmoid(tf.constant([-1000 + 1j, 1000 + 1j, -1e10 - 0.5j], tf.complex128))"),
    ("ctc_loss", _ctc([1, 2, 3], 3, 4, 0)),
    ("ctc_loss of no labels", _ctc([1, 2, 3], 0, 4, 0)),
    ("ctc_loss of no frames", _ctc([1, 2, 3], 2, 0, 0)),
    ("ctc_loss, another blank", _ctc([1, 2, 3], 3, 4, 4)),
    *[
        (f"ctc_loss of {len(labels)} labels for {frames} frames",
         f"tf.nn.ctc_loss(tf.constant([{labels}]), tf.reshape(tf.sin(tf.range(20.0)), (4, 1, 5)), "
         f"[{len(labels)}], [{frames}])")
        for labels in ([1, 2, 3, 4, 1, 2], [1, 2, 3, 4], [1, 1, 1]) for frames in (1, 2, 4)
    ],
    *[(f"ctc_loss of sparse {labels}", _ctc(labels, None, 4, 4)) for labels in (
        [1, 2, 3], [1, 1, 1], [1, 1, 2], [1, 2, 3, 1, 2])],
    *[
        (f"eigenvalues of {given} in {wanted}, {compute}",
         f"tf.raw_ops.Eig(input=tf.constant([[2.0, 0.0], [0.0, 3.0]], tf.{given}), compute_v={compute}, "
         f"Tout=tf.{wanted}).e")
        for given in ("float32", "float64", "complex64", "complex128")
        for wanted in ("complex64", "complex128", "float32")
        for compute in (True, False)
    ],
]  # fmt: skip
