"""`Batches`: an epoch's batches. Arrays are shuffled in the order in which Keras shuffles them on TensorFlow."""

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
    """Keras' iterator. With a global seed, as of `keras.utils.set_random_seed`, the order of arrays is TensorFlow's.

    There `tf.random.shuffle` orders the indices in a function of a dataset, whose draws begin again in every epoch.
    """

    def __init__(self, strategy: Any = None, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._strategy = strategy
        self._seed = global_seed()

    def __next__(self) -> tuple[int, int, Iterator[Any]]:
        """The first and the last step of the next execution, and the iterator that has its batches.

        As on TensorFlow, the step itself takes them, after the callbacks have heard that it begins.
        """
        return next(self._epoch_iterator)

    def _get_iterator(self) -> Any:
        data = self.data_adapter
        dataset = getattr(data, "_dataset", None)
        if isinstance(dataset, tf.data.Dataset) and workers_of(self._strategy) is not None:
            return self._strategy.experimental_distribute_dataset(dataset)  # which knows how they share it
        if isinstance(dataset, tf.data.Dataset | tf.distribute.DistributedDataset):
            # Keras begins a pass when an epoch ends, before it is known whether another follows, and drops it when one
            # does. A dataset counts the passes begun, a generator those of which an element was asked.
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
    """The indices of each batch: slices of one permutation, or of the range, permuted one by one."""
    shuffle = Call(tf.random.shuffle, seed).begin()
    indices = tf.range(count, dtype=tf.int64)
    if not within_batches:
        indices = shuffle(indices)
    for start in range(0, count, size):
        batch = indices[start : start + size]
        yield (shuffle(batch) if within_batches else batch).numpy()
