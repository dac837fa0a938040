"""Datasets stored in folders, in the format of TensorFlow's `Dataset.save`.

A folder holds `dataset_spec.pb` (the element specs, a `StructuredValue`), `snapshot.metadata` (a
`SnapshotMetadataRecord`, written last) and records in `<run>/<shard>.shard/00000000.snapshot`: one `TensorProto` per
tensor of each element. TensorFlow can read these files, except for ragged and sparse tensors, which are stored as their
components, where TensorFlow stores variants.
"""

from __future__ import annotations

import gzip
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

from ...core import errors, nest
from ...core.protos import wire
from ...core.protos.records import decoded, encoded
from ...core.tensor import Tensor
from ...engine.run.progress import reporting
from ...state import file_systems
from ...state.archive import replacing
from ...state.file_systems import OutputFile, join
from ...state.record_files import frame_record, records
from ...state.specs import TypeSpec
from ..elements.structure import leaves

_VERSION = 2  # record format: TFRecord
_METADATA = "tensorflow.data.experimental.SnapshotMetadataRecord"


@dataclass
class Codec:
    """Conversion of specs and tensors to and from TensorFlow's protocol buffers."""

    encode_specs: Callable[[Any], bytes]
    decode_specs: Callable[[bytes], Any]
    encode_tensor: Callable[[Tensor], bytes]
    decode_tensor: Callable[[bytes], Tensor]


_codecs: list[Codec] = []


def register_codec(codec: Codec) -> None:
    """Sets the codec of all files. A higher layer defines the formats and registers them when it is imported."""
    _codecs[:] = [codec]


def check_compression(kind: Any) -> str | None:
    """Returns the compression of records: "GZIP" or None."""
    if kind not in (None, "", "NONE", "AUTO", "GZIP"):
        raise errors.InvalidArgumentError(f'Compression must be one of None, "NONE" and "GZIP", got {kind!r}')
    return "GZIP" if kind == "GZIP" else None


class Writer:
    """Writes the elements of one pass to their shards; an unfinished folder has no metadata."""

    def __init__(self, path: str, specs: Any, compression: str | None) -> None:
        self._folder, self._compression = path, compression
        self._run = str(secrets.randbits(63))
        self._files: dict[int, Any] = {}
        self._open = ExitStack()
        self._count = 0
        self._dtypes = [spec.dtype for spec in nest.flatten(specs, expand_composites=True)]
        file_systems.create_folders(path)
        with replacing(join(path, "dataset_spec.pb")) as file:
            file.write(_codecs[0].encode_specs(specs))

    def add(self, element: Any, shard: int = 0) -> None:
        """Writes an element to a shard, counted from 0."""
        if shard not in self._files:
            folder = join(self._folder, self._run, f"{shard:08d}.shard")
            file_systems.create_folders(folder)
            file: Any = self._open.enter_context(OutputFile(join(folder, "00000000.snapshot")))
            if self._compression == "GZIP":
                file = self._open.enter_context(gzip.GzipFile(fileobj=file, mode="wb"))
            self._files[shard] = file
        for tensor in nest.flatten(leaves(element), expand_composites=True):
            if not isinstance(tensor, Tensor):
                raise TypeError(f"a dataset that is saved has tensors as elements, got {type(tensor).__name__}")
            self._files[shard].write(frame_record(_codecs[0].encode_tensor(tensor)))
        self._count += 1

    def finish(self) -> None:
        """Closes the files and writes the metadata, which marks the folder as complete."""
        self._open.close()
        metadata = {
            "run_id": self._run,
            "creation_timestamp": int(time.time() * 1e6),
            "version": _VERSION,
            "dtype": [dtype.as_datatype_enum for dtype in self._dtypes],
            "num_elements": self._count,
            "finalized": True,
        }
        with replacing(join(self._folder, "snapshot.metadata")) as file:
            file.write(encoded(_METADATA, metadata))

    def close(self) -> None:
        """Closes the files, finished or not."""
        self._open.close()


def save(elements: Iterator[Any], specs: Any, path: str, compression: str | None, shard_of: Any) -> None:
    """Writes a complete pass to a folder."""
    writer = Writer(path, specs, compression)
    try:
        with reporting(f"saving a dataset to {path}"):
            for element in elements:
                writer.add(element, 0 if shard_of is None else int(shard_of(element)))
        writer.finish()
    finally:
        writer.close()


def is_finished(path: str) -> bool:
    """Returns whether a folder holds a complete dataset."""
    return file_systems.exists(join(path, "snapshot.metadata"))


def read_specs(path: str) -> Any:
    """Returns the element specs of a folder."""
    file = join(path, "dataset_spec.pb")
    with suppress(errors.NotFoundError), file_systems.open_to_read(file) as opened:
        data = opened.read()
        if data:
            return _decoded_specs(file, data)
    raise errors.NotFoundError(f"tf.data snapshot element_spec file not found or invalid: {file}.")


def _decoded_specs(file: str, data: bytes) -> Any:
    try:
        specs = _codecs[0].decode_specs(data)
        if not all(isinstance(spec, TypeSpec) for spec in nest.flatten(specs, expand_composites=True)):
            raise ValueError("it holds other values")
        return specs
    except (wire.DecodeError, AttributeError, TypeError, ValueError, KeyError) as error:
        raise errors.DataLossError(f"{file} is not the element_spec of a dataset: {error}") from None


def read_shards(path: str) -> tuple[list[str], int]:
    """Returns the shard files of a folder, and the total number of elements."""
    file = join(path, "snapshot.metadata")
    if not file_systems.exists(file):
        raise errors.NotFoundError(f"Could not find metadata file [{file}]: the dataset was not saved to its end")
    try:
        with file_systems.open_to_read(file) as opened:
            metadata = decoded(_METADATA, opened.read())
    except (wire.DecodeError, TypeError, ValueError) as error:
        raise errors.DataLossError(f"{file} is not the metadata of a dataset: {error}") from None
    if not metadata.run_id.isalnum():  # it is used as a folder name
        raise errors.DataLossError(f"{file} is not the metadata of a dataset: its run is {metadata.run_id!r}")
    run = join(path, metadata.run_id)
    shards = [join(run, name) for name in _names(run) if name.endswith(".shard")]
    files = []
    for shard in shards:
        names = [name for name in _names(shard) if name.endswith(".snapshot")]
        if not names:
            raise errors.NotFoundError(f"{join(shard, '00000000.snapshot')}; No such file or directory")
        files += [join(shard, name) for name in names]
    if metadata.num_elements > 0 and not files:
        raise errors.NotFoundError(
            f"{run} has no shards, and {file} says that {metadata.num_elements} elements were saved"
        )
    return files, metadata.num_elements


def _names(folder: str) -> list[str]:
    return file_systems.names(folder) if file_systems.is_folder(folder) else []


def check_count(elements: Iterator[Any], count: int, path: str) -> Iterator[Any]:
    """Yields the elements of all shards; raises an error at the end if some are missing."""
    number = 0
    for number, element in enumerate(elements, 1):  # noqa: B007  the last number is the count
        yield element
    if number < count:
        raise errors.DataLossError(
            f"{path} holds {number} elements, and its metadata says that {count} were saved: a shard is missing or "
            "truncated"
        )


def read_shard(file: str, specs: Any, compression: str | None) -> Iterator[Any]:
    """Yields the elements of a shard."""
    flat_specs = nest.flatten(specs, expand_composites=True)
    tensors = (_codecs[0].decode_tensor(record) for record in records(file, compression))
    while flat := list(_next_of(tensors, len(flat_specs))):
        if len(flat) < len(flat_specs):
            raise errors.DataLossError(f"{file} ends in the middle of an element")
        for tensor, spec in zip(flat, flat_specs, strict=True):
            if not spec.is_compatible_with(tensor):
                raise errors.InvalidArgumentError(
                    f"{file} holds a tensor of dtype {tensor.dtype.name} and shape {tensor.shape}, which does not "
                    f"match the element_spec: {spec}"
                )
        yield nest.pack_sequence_as(specs, flat, expand_composites=True)


def _next_of(tensors: Iterator[Tensor], count: int) -> Iterator[Tensor]:
    for _ in range(count):
        tensor = next(tensors, None)
        if tensor is None:
            return
        yield tensor
