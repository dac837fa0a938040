"""`tensorflow.python.saved_model.load`: loading of a SavedModel into existing objects."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from gradtape.core.protos.records import decoded
from gradtape.saved_model.format.constants import SAVED_MODEL_FILENAME_PB
from gradtape.saved_model.format.structures import value_of
from gradtape.saved_model.loading import load, load_into, read
from gradtape_tensorflow.protos import generated

__all__ = ["decode_proto", "load", "load_partial", "parse_saved_model"]


def load_partial(export_dir: Any, filters: Mapping[str, Any], tags: Any = None, options: Any = None) -> dict[str, Any]:
    """Loads a SavedModel; returns the objects by path. `filters` have existing objects by path, with their setters."""
    return dict(load_into(export_dir, filters, tags, options))


def parse_saved_model(export_dir: Any) -> Any:
    """Returns the message in the file of a SavedModel."""
    folder = os.fspath(export_dir)
    read(folder)  # raises TensorFlow's errors of missing and of damaged files
    with open(os.path.join(folder, SAVED_MODEL_FILENAME_PB), "rb") as file:
        return generated.module("tensorflow/core/protobuf/saved_model.proto").SavedModel.FromString(file.read())


def decode_proto(proto: Any) -> Any:
    """Returns the structure that a `StructuredValue` describes."""
    return value_of(decoded("StructuredValue", proto.SerializeToString()))
