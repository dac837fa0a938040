"""The files of a checkpoint: an index and data files (TensorFlow's format), or one archive (on request)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ..core import errors
from ..state import file_systems
from ..state.archive import ArchiveReader
from ..state.file_systems import path_text
from . import bundle, shared, tensorflow_graph
from .bundle import INDEX, BundleReader
from .object_graph import ObjectNode, SlotVariable, check_nodes
from .shared import ENDING

_SAVED_MODEL = ("saved_model.pb", "saved_model.pbtxt")


def exists(prefix: str) -> bool:
    """Whether there is a checkpoint under this prefix."""
    return newest(prefix) is not None


def newest(prefix: str) -> str | None:
    """The main file of a checkpoint; the newer one if both formats exist, None if neither does."""
    found = [path for path in (prefix + INDEX, prefix + ENDING) if file_systems.is_file(path)]
    return max(found, key=modified, default=None)


def modified(path: str) -> float:
    """Returns the modification time of a file in seconds."""
    return file_systems.stat(path).mtime_nsec / 1e9


def open_checkpoint(save_path: Any) -> ArchiveReader | BundleReader:
    """Open a checkpoint by the path that `save` returned; `NotFoundError` if there is none.

    The folder of a SavedModel stands for the checkpoint inside it.
    """
    given = path_text(save_path)
    _check_scheme(given)
    if any(file_systems.is_file(file_systems.join(given, name)) for name in _SAVED_MODEL):
        given = file_systems.join(given, "variables", "variables")
    found = newest(given) or (given if given.endswith(ENDING) and file_systems.is_file(given) else None)
    if found is None:
        raise errors.NotFoundError(
            f"Error when restoring from checkpoint at {given}: Failed to find any matching files for {given}\nPlease "
            "double-check that the path is correct. You may be missing the checkpoint suffix (e.g. the '-1' in "
            "'path/to/ckpt-1')."
        )
    return BundleReader(given) if found.endswith(INDEX) else shared.open_shards(found)


def _check_scheme(path: str) -> None:
    """Raises TensorFlow's ValueError for a path of an unknown scheme."""
    try:
        file_systems.file_system(path)
    except errors.UnimplementedError as error:
        raise ValueError(
            "Unsuccessful TensorSliceReader constructor: Failed to get matching files on "
            f"{path}: UNIMPLEMENTED: {error.message}"
        ) from error


def remove(prefix: str) -> None:
    """Delete the files of a checkpoint, main files first: without them the others are not read."""
    for path in (prefix + ENDING, prefix + INDEX):
        with suppress(errors.NotFoundError):
            file_systems.remove(path)
    for pattern in (shared.SHARDS, bundle.DATA):
        bundle.remove_files(prefix, pattern)


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
