"""`tensorflow.python.saved_model.nested_structure_coder`: structures of values as `StructuredValue` messages."""

from __future__ import annotations

from typing import Any

from gradtape.core.protos import records
from gradtape.saved_model.format import structures
from gradtape_tensorflow.protos import generated


def encode_structure(nested_structure: Any) -> Any:
    """Converts a structure to a `StructuredValue`."""
    encoded = records.encoded("StructuredValue", structures.structured(nested_structure))
    return generated.message_class("tensorflow.StructuredValue").FromString(encoded)


def decode_proto(proto: Any) -> Any:
    """Converts a `StructuredValue` to the structure."""
    return structures.value_of(records.decoded("StructuredValue", proto.SerializeToString()))
