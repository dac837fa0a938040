"""`tf.nest`: nested structures."""

from __future__ import annotations

from ..core.nest import assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as

NAMESPACES = ("nest",)

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]
