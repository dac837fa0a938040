"""Datasets in files: saving, loading and snapshots."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Self

from ..backends.numpy.threads import CORES
from ..core.tracebacks import bounded
from ..state.file_systems import path_text
from .batching import Batching
from .calls import dataset_of, input_pass
from .elements.specs import DatasetSpec
from .elements.structure import T
from .files import storage
from .pipeline import UNKNOWN_CARDINALITY
from .resumable import Failure, FailureIterator, raise_failures

_RETRY_INTERVAL_SECONDS = 1.0  # polling interval of `load(wait=True)`


@bounded
class Storing(Batching[T]):
    """The methods of `Dataset` that write and read folders of elements."""

    def save(
        self,
        path: Any,
        compression: str | None = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Writes the elements of one pass to the folder `path`, in TensorFlow's format.

        Args:
          compression: "GZIP", or none.
          shard_func: maps an element to the number of its file; a single file by default.

        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.data.Dataset.range(3).save(folder)
        >>> [int(x) for x in tf.data.Dataset.load(folder)]
        [0, 1, 2]
        """
        if checkpoint_args:
            raise NotImplementedError("`checkpoint_args` is not supported: a dataset is saved in one go")
        shard_of = None if shard_func is None else self._call(shard_func).begin()
        kind = storage.check_compression(compression)
        storage.save(iter(self), self.element_spec, path_text(path), kind, shard_of)

    @classmethod
    def load(
        cls,
        path: Any,
        element_spec: Any = None,
        compression: str | None = None,
        reader_func: Callable[[Any], Any] | None = None,
        wait: bool = False,
    ) -> Self:
        """Loads a dataset that `save` wrote, in gradtape or in TensorFlow.

        Args:
          compression: the compression passed to `save`.
          reader_func: combines a dataset of datasets, one per file, into one; by default it interleaves as many files
            as there are processor cores.
        """
        folder, kind = path_text(path), storage.check_compression(compression)
        while wait and not storage.is_finished(folder):
            time.sleep(_RETRY_INTERVAL_SECONDS)
        specs = storage.read_specs(folder) if element_spec is None else element_spec
        files, count = storage.read_shards(folder)

        def shard(file: Any) -> Any:
            read = partial(storage.read_shard, file, specs, kind)
            return cls("_SnapshotChunkDataset", read, lambda _: specs, UNKNOWN_CARDINALITY)

        read = reader_func or (lambda datasets: datasets.interleave(lambda x: x, cycle_length=CORES))
        found = dataset_of(read(cls._of_elements([shard(file) for file in files], DatasetSpec(specs))), "reader_func")

        def elements() -> Iterator[Any]:
            if reader_func is not None:  # it may leave out elements
                return found._elements()
            return raise_failures(storage.check_count(FailureIterator(input_pass(found._elements)()), count, folder))

        return cls("_LoadDataset", elements, lambda _: specs, count)

    def snapshot(
        self,
        path: Any,
        compression: str | None = "AUTO",
        reader_func: Callable[[Any], Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Self:
        """Writes the elements of the first complete pass to the folder `path`, from which later passes read them.

        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> [int(x) for x in tf.data.Dataset.range(3).snapshot(folder)]
        [0, 1, 2]
        >>> [int(x) for x in tf.data.Dataset.range(5, 8).snapshot(folder)]
        [0, 1, 2]
        """
        folder, kind = path_text(path), storage.check_compression(compression)
        call = None if shard_func is None else self._call(shard_func)

        def elements() -> Iterator[Any]:
            if storage.is_finished(folder):
                return self.load(folder, self.element_spec, kind, reader_func)._elements()
            elements = FailureIterator(input_pass(self._elements)())
            return raise_failures(written(elements, None if call is None else call.begin()))

        def written(elements: Iterator[Any], shard_of: Callable[[Any], Any] | None) -> Iterator[Any]:
            writer = storage.Writer(folder, self.element_spec, kind)
            try:
                for element in elements:
                    if type(element) is not Failure:
                        writer.add(element, 0 if shard_of is None else int(shard_of(element)))
                    yield element
                writer.finish()
            finally:
                writer.close()

        made = type(self)("_SnapshotDataset", elements, self._known, self._size, self._samples, self._options)
        return made._made_of([self], lambda of: of.snapshot(path, compression, reader_func, shard_func), self._rows)
