"""What TensorFlow calls an op of gradtape's: the public function that the table of `tf.raw_ops` has for it."""

from __future__ import annotations

from functools import cache

from ..names import NAMES
from .rows import rows

# Ops that have no name in public, or a rare one: the function that most people have called.
_PARTS = {
    "rint": "round", "div": "divide", "gather_rows": "gather", "logsumexp": "reduce_logsumexp",
    "conv": "nn.convolution",
    "power_0": "pow", "power_1": "pow", "power_2": "pow", "power_3": "pow", "power_half": "pow",
    "half_square": "nn.l2_loss",
    "softmax_cross_entropy": "nn.softmax_cross_entropy_with_logits", "complex_abs": "abs", "scatter_add": "scatter_nd",
    "sparse_softmax_cross_entropy": "nn.sparse_softmax_cross_entropy_with_logits", "contract": "tensordot",
    "sigmoid_cross_entropy": "nn.sigmoid_cross_entropy_with_logits", "random_categorical": "random.categorical",
}  # fmt: skip
_SPACES = ("", "math", "nn", "linalg", "image", "signal")


@cache
def public_name(op: str) -> str:
    """The shortest public name of an op.

    >>> from gradtape.api.raw.spelling import public_name
    >>> public_name("sum"), public_name("log"), public_name("rint")
    ('tf.reduce_sum', 'tf.math.log', 'tf.round')
    """
    computed = _by_op().get(op.replace("_", ""))
    for name in (_PARTS.get(op), computed, *(f"{space}.{op}".lstrip(".") for space in _SPACES)):
        if name in NAMES:
            return f"tf.{min((each for each in _alike(NAMES[name])), key=len)}"
    return op


@cache
def names_of(op: str) -> frozenset[str]:
    """The last parts of all public names of an op."""
    path = public_name(op).removeprefix("tf.")
    return frozenset(each.rpartition(".")[2] for each in (_alike(NAMES[path]) if path in NAMES else (op,)))


@cache
def is_public(name: str) -> bool:
    """Whether a public name ends so."""
    return name in _ends()


@cache
def _ends() -> frozenset[str]:
    return frozenset(path.rpartition(".")[2] for path in NAMES)


@cache
def _by_op() -> dict[str, str]:
    return {name.lower(): row.function for name, row in rows().items() if "(" not in row.function}


def _alike(place: str) -> list[str]:
    """The public names, apart from old ones, of what lives at a place."""
    return [path for path, where in NAMES.items() if where == place and not path.startswith(("compat", "experimental"))]
