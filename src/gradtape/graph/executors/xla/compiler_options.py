"""The options with which XLA compiles a graph."""

from __future__ import annotations

from typing import Any

import ml_dtypes

from ...ir.graph import Graph, Node, all_nodes
from .stage_partitioning import barrier

# XLA's CPU compiler expands barriers before CSE. Without that pass they stay, and cost nothing at run time.
_KEEPS_BARRIERS = {"cpu": {"xla_disable_hlo_passes": "cse_barrier_expander"}}
# By default, XLA drops the rounding of a cast to a narrower float whose result is cast back, or computed with in wider
# floats. On two cores, programs of bfloat16 and float16 take as long with the rounding (0.96 to 1.05).
_ROUNDS = {"xla_allow_excess_precision": False}


def options(graph: Graph, backend: str) -> dict[str, Any] | None:
    """Returns XLA's compiler options for a graph, or None for the default ones."""
    result: dict[str, Any] = {}
    if any(node.op is barrier for node in graph.nodes):
        result |= _KEEPS_BARRIERS.get(backend, {})
    if any(map(_is_narrowing, all_nodes(graph))):
        result |= _ROUNDS
    return result or None


def _is_narrowing(node: Node) -> bool:
    """Whether a node casts to a float that cannot represent all values of its operand's dtype."""
    if node.op.name != "cast":
        return False
    source, target = node.inputs[0].dtype.real_dtype, node.outputs[0].dtype.real_dtype
    if not (source.is_floating and target.is_floating) or source is target:
        return False
    return bool(ml_dtypes.finfo(target.numpy).nmant < ml_dtypes.finfo(source.numpy).nmant) or target.size < source.size
