"""The files of a checkpoint: an index and data files (TensorFlow's format), or one archive (on request)."""

from __future__ import annotations

import os
from contextlib import suppress
from glob import escape, glob
from typing import Any

from ..core import errors
from ..state.archive import ArchiveReader
from . import shared, tensorflow_graph
from .bundle import INDEX, BundleReader, remove_data
from .object_graph import ObjectNode, SlotVariable, check_nodes
from .shared import ENDING

_SAVED_MODEL = ("saved_model.pb", "saved_model.pbtxt")


def exists(prefix: str) -> bool:
    """Whether there is a checkpoint under this prefix."""
    return newest(prefix) is not None


def newest(prefix: str) -> str | None:
    """The main file of a checkpoint; the newer one if both formats exist, None if neither does."""
    found = [path for path in (prefix + INDEX, prefix + ENDING) if os.path.isfile(path)]
    return max(found, key=os.path.getmtime, default=None)


def open_checkpoint(save_path: Any) -> ArchiveReader | BundleReader:
    """Open a checkpoint by the path that `save` returned; `NotFoundError` if there is none.

    The folder of a SavedModel stands for the checkpoint inside it.
    """
    given = os.fsdecode(save_path)
    if os.path.isdir(given) and any(os.path.isfile(os.path.join(given, name)) for name in _SAVED_MODEL):
        given = os.path.join(given, "variables", "variables")
    found = newest(given) or (given if given.endswith(ENDING) and os.path.isfile(given) else None)
    if found is None:
        raise errors.NotFoundError(
            f"Error when restoring from checkpoint at {given}: Failed to find any matching files for {given}\nPlease "
            "double-check that the path is correct. You may be missing the checkpoint suffix (e.g. the '-1' in "
            "'path/to/ckpt-1')."
        )
    return BundleReader(given) if found.endswith(INDEX) else shared.open_shards(found)


def remove(prefix: str) -> None:
    """Delete the files of a checkpoint, main files first: without them the others are not read."""
    for path in (prefix + ENDING, prefix + INDEX, *glob(escape(prefix) + ".shard-?????-of-?????" + ENDING)):
        with suppress(FileNotFoundError):
            os.remove(path)
    remove_data(prefix)


def nodes_of(reader: ArchiveReader | BundleReader) -> list[ObjectNode] | None:
    """The stored object graph; None for a TensorFlow checkpoint that stores values by name only."""
    if isinstance(reader, BundleReader):
        graph = reader.object_graph
        try:
            return None if graph is None else tensorflow_graph.decode_graph(graph, reader.dtypes)
        except ValueError as error:
            raise errors.DataLossError(f"The graph of objects in {reader.path}{INDEX} is damaged: {error}") from error
    if not isinstance(reader.notes, dict) or "objects" not in reader.notes:
        raise errors.DataLossError(f"{reader.path} has no object graph: it was not written by tf.train.Checkpoint")
    try:
        return check_nodes([_node(*parts) for parts in reader.notes["objects"]])
    except (TypeError, ValueError) as error:
        raise errors.DataLossError(f"The graph of objects in {reader.path} is damaged: {error}") from error


def _node(children: Any, key: Any, slots: Any = ()) -> ObjectNode:
    if not isinstance(children, dict) or not isinstance(key, str | None) or not isinstance(slots, list | tuple):
        raise ValueError("an object is not described as one")
    return ObjectNode(children, key, tuple(SlotVariable(*slot) for slot in slots))
