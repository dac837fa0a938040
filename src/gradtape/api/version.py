"""`tf.version`: the TensorFlow version that gradtape implements.

`docs/differences.md` lists what it has of TensorFlow 2.22, and what keeps it from being that version: 2.22 refuses
programs that 2.21 accepts.
"""

from __future__ import annotations

NAMESPACES = ("version",)
__all__ = [
    "COMPILER_VERSION", "GIT_VERSION", "GRAPH_DEF_VERSION", "GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER", "VERSION",
]  # fmt: skip

VERSION = "2.21.0"
GIT_VERSION = "v2.21.0-gradtape"  # contains no TensorFlow code
COMPILER_VERSION = ""  # nothing is compiled
GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER = 2474, 0, 0
