"""TensorFlow's public names of gradtape's ops, from the catalogue."""

from __future__ import annotations

from functools import cache

from ...engine.registry.op import Op
from ..catalogue import rows
from ..catalogue.nodes import NamedOp, functions, node_type
from ..names import NAMES

# Ops without a public name, or with a rare one: the function that programs usually call.
_PARTS = {
    "rint": "round", "gather_rows": "gather", "logsumexp": "reduce_logsumexp", "conv": "nn.convolution",
    "power_0": "pow", "power_1": "pow", "power_2": "pow", "power_3": "pow", "power_half": "pow",
    "half_square": "nn.l2_loss", "softmax_cross_entropy": "nn.softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy": "nn.sparse_softmax_cross_entropy_with_logits", "scatter_add": "scatter_nd",
    "sigmoid_cross_entropy": "nn.sigmoid_cross_entropy_with_logits", "random_categorical": "random.categorical",
    "contract": "tensordot",
}  # fmt: skip
# Nodes, in messages, of ops that graphs hold as several nodes or as one of several.
_NODES = {
    "banded_solve": "BandedTriangularSolve", "contract": "Einsum", "eigh": "SelfAdjointEigV2", "eigvals": "Eig",
    "eigvalsh": "SelfAdjointEigV2",
}  # fmt: skip
PLACEHOLDER = "Placeholder"  # TensorFlow's op that stands for an argument of a function
_SPACES = ("", "math", "nn", "linalg", "image", "signal")


@cache
def public_name(op: str) -> str:
    """Returns the shortest public name of an op.

    >>> from gradtape.api.raw_ops.spelling import public_name
    >>> public_name("sum"), public_name("mod"), public_name("inv"), public_name("rint")
    ('tf.reduce_sum', 'tf.math.mod', 'tf.linalg.inv', 'tf.round')
    """
    spaced = (f"{space}.{op}".lstrip(".") for space in _SPACES)
    for name in (_PARTS.get(op), _by_op().get(op), *spaced, _by_node().get(op.replace("_", ""))):
        if name in NAMES:
            return f"tf.{min((each for each in _alike(NAMES[name])), key=len)}"
    return op


def node_name(op: NamedOp) -> str:
    """Returns TensorFlow's name of an op, as in `[Op:AddV2]`."""
    return _NODES.get(op.name) or node_type(op)


@cache
def names_of(op: str) -> frozenset[str]:
    """Returns the last components of all public names of an op."""
    path = public_name(op).removeprefix("tf.")
    return frozenset(each.rpartition(".")[2] for each in (_alike(NAMES[path]) if path in NAMES else (op,)))


@cache
def is_public(name: str) -> bool:
    """Returns whether a public name ends with this component."""
    return name in _ends()


@cache
def _ends() -> frozenset[str]:
    return frozenset(path.rpartition(".")[2] for path in NAMES)


@cache
def _by_op() -> dict[str, str]:
    return {row.op.name: row.names[0] for row in reversed(rows()) if isinstance(row.op, Op)}


@cache
def _by_node() -> dict[str, str]:
    return {name.lower(): path for name, path in functions().items()}


def _alike(place: str) -> list[str]:
    """Returns the public names, except old ones, of the object at a location."""
    return [path for path, where in NAMES.items() if where == place and not path.startswith(("compat", "experimental"))]
