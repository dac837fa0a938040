"""`Batches`: the batches of an epoch. Arrays are shuffled in the same order as by Keras on TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keras.src import tree
from keras.src.trainers.data_adapters import array_slicing
from keras.src.trainers.data_adapters.array_data_adapter import ArrayDataAdapter
from keras.src.trainers.epoch_iterator import EpochIterator

import gradtape as tf
from gradtape.datasets.calls import Call
from gradtape.distribution.reductions import workers_of
from gradtape.engine.run.randomness import global_seed


class Batches(EpochIterator):
    """Keras' epoch iterator. With a global seed, as set by `keras.utils.set_random_seed`, the order is TensorFlow's.

    On TensorFlow, a function of a dataset calls `tf.random.shuffle` on the indices; its random stream restarts every
    epoch.
    """

    def __init__(self, strategy: Any = None, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._strategy = strategy
        self._seed = global_seed()

    def __next__(self) -> tuple[int, int, Iterator[Any]]:
        """Returns the first and the last step of the next execution, and the iterator over its batches.

        As on TensorFlow, the step itself reads them, after the callbacks were notified of its start.
        """
        return next(self._epoch_iterator)

    def _get_iterator(self) -> Any:
        data = self.data_adapter
        dataset = getattr(data, "_dataset", None)
        if isinstance(dataset, tf.data.Dataset) and workers_of(self._strategy) is not None:
            return self._strategy.experimental_distribute_dataset(dataset)  # it implements the sharding policy
        if isinstance(dataset, tf.data.Dataset | tf.distribute.DistributedDataset):
            # Keras starts a pass at the end of an epoch, before it knows whether another follows, and drops it if one
            # does. A dataset counts started passes, a generator those from which an element was read.
            return dataset
        if self._seed is not None and isinstance(data, ArrayDataAdapter) and data._shuffle:
            return _shuffled(data, self._seed)
        return super()._get_iterator()


def _shuffled(data: Any, seed: int) -> Iterator[Any]:
    inputs = array_slicing.convert_to_sliceable(data._inputs, target_backend="numpy")
    for indices in _orders(data._num_samples, data._batch_size, data._shuffle == "batch", seed):
        yield tree.map_structure(
            lambda part, of=indices: part.convert_to_numpy(part[of]), inputs, none_is_leaf=False
        )  # fmt: skip


def _orders(count: int, size: int, within_batches: bool, seed: int) -> Iterator[Any]:
    """Yields the indices of each batch: slices of one permutation, or slices of the range, each permuted."""
    shuffle = Call(tf.random.shuffle, seed).begin()
    indices = tf.range(count, dtype=tf.int64)
    if not within_batches:
        indices = shuffle(indices)
    for start in range(0, count, size):
        batch = indices[start : start + size]
        yield (shuffle(batch) if within_batches else batch).numpy()
