"""`Batches`: the batches of an epoch. Arrays are shuffled in the same order as by Keras on TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from keras.src import tree
from keras.src.trainers.data_adapters import array_slicing
from keras.src.trainers.data_adapters.array_data_adapter import ArrayDataAdapter
from keras.src.trainers.data_adapters.data_adapter_utils import is_torch_tensor
from keras.src.trainers.data_adapters.generator_data_adapter import GeneratorDataAdapter
from keras.src.trainers.data_adapters.py_dataset_adapter import PyDatasetAdapter
from keras.src.trainers.epoch_iterator import EpochIterator

import gradtape as tf
from gradtape.core.devices import default_device
from gradtape.data.calls import Call
from gradtape.distribute.reductions import workers_of
from gradtape.engine.run.randomness import global_seed

from . import distribution, feeding


class Batches(EpochIterator):
    """Keras' epoch iterator. With a global seed, as set by `keras.utils.set_random_seed`, the order is TensorFlow's.

    `for_xla` says that XLA compiles every step, so that batches may wait in its memory.

    On TensorFlow, a function of a dataset calls `tf.random.shuffle` on the indices; its random stream restarts every
    epoch.
    """

    def __init__(self, strategy: Any = None, for_xla: bool = False, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._strategy, self._for_xla = strategy, for_xla
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
        if isinstance(data, ArrayDataAdapter):
            return self._of_arrays(data)
        if isinstance(data, GeneratorDataAdapter):
            return _in_numpy(data.generator())
        return _in_numpy(data._get_iterator()) if isinstance(data, PyDatasetAdapter) else super()._get_iterator()

    def _of_arrays(self, data: ArrayDataAdapter) -> Iterator[Any]:
        """Yields the batches of arrays; large ones go to a GPU ahead of their step, unless devices share them."""
        is_shared = self._strategy is not None or distribution.current() is not None
        default_device()  # discovers the devices, until which a mode is active
        for_xla = self._for_xla and not is_shared and feeding.has_accelerator()
        if is_shared:
            inputs = array_slicing.convert_to_sliceable(data._inputs, target_backend="numpy")
        else:
            inputs = feeding.sliceable(data._inputs, for_xla)
        orders = _orders(data._num_samples, data._batch_size, data._shuffle, self._seed)
        # Without a seed, NumPy's global generator permutes each batch at its step, between draws of the program.
        draws_late = self._seed is None and data._shuffle == "batch"
        is_small = feeding.bytes_per_row(inputs) * data._batch_size < feeding.PREFETCH_MIN_BYTES
        if for_xla and not (draws_late or is_small):
            yield from feeding.ahead(inputs, list(orders))
        else:
            yield from feeding.on_host(inputs, orders)

    def __enter__(self) -> None:
        """Begins a block after which no thread reads ahead."""

    def __exit__(self, *_: object) -> None:
        # Keras' iterator refers to itself, so that its last reference does not end the pass; generators of the user are
        # left alone.
        if self._current_iterator is not None and isinstance(self.data_adapter, ArrayDataAdapter):
            self._current_iterator.close()


def _in_numpy(batches: Iterable[Any]) -> Iterator[Any]:
    """Yields batches of a generator with tensors as arrays. Sparse ones stay sparse; Keras 3.16 makes them dense."""
    for batch in batches:
        yield tree.map_structure(_array, batch, none_is_leaf=False)


def _array(x: Any) -> Any:
    if isinstance(x, np.ndarray) or not hasattr(x, "__array__"):
        return x
    return np.asarray(x.cpu() if is_torch_tensor(x) else x)


def _orders(count: int, size: int, shuffle: bool | str, seed: int | None) -> Iterator[slice | np.ndarray]:
    """Yields the rows of each batch: slices of the range or of one permutation, or slices of the range, each permuted.

    Without a seed, NumPy's global generator draws, as in Keras.
    """
    if not shuffle:
        for start in range(0, count, size):
            yield slice(start, min(start + size, count))
        return
    permuted = np.random.permutation if seed is None else _permuted_by(seed)
    indices = np.arange(count) if shuffle == "batch" else permuted(np.arange(count))
    for start in range(0, count, size):
        batch = indices[start : start + size]
        yield permuted(batch) if shuffle == "batch" else batch


def _permuted_by(seed: int) -> Callable[[np.ndarray], np.ndarray]:
    shuffle = Call(tf.random.shuffle, seed).begin()
    return lambda indices: shuffle(tf.convert_to_tensor(indices)).numpy()
