"""`tf.data.Dataset` as the data of `fit`, `evaluate` and `predict`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keras.src import tree
from keras.src.trainers.data_adapters import data_adapter_utils
from keras.src.trainers.data_adapters.data_adapter import DataAdapter

from gradtape.datasets.dataset import AUTOTUNE, Dataset
from gradtape.datasets.structure import leaves, mapped


class DatasetAdapter(DataAdapter):
    """A dataset whose elements are batches; with class weights, each gets the weights of its examples."""

    def __init__(self, dataset: Dataset, class_weight: Any = None, distribution: Any = None) -> None:
        if distribution is not None:
            raise NotImplementedError("keras.distribution is not supported on gradtape")
        if class_weight is not None:
            dataset = dataset.map(lambda *data: _weighted(data, class_weight)).prefetch(AUTOTUNE)
        self._dataset = dataset

    def get_numpy_iterator(self) -> Iterator[Any]:
        """One pass, in NumPy arrays."""
        for batch in self._dataset:
            yield mapped(lambda leaf: getattr(leaf, "array", leaf), batch)

    def get_tf_dataset(self) -> Dataset:
        """The dataset itself."""
        return self._dataset

    @property
    def num_batches(self) -> int | None:
        """The number of batches, if it is known and there is one."""
        size = int(self._dataset.cardinality())
        return None if size < 0 else size

    @property
    def batch_size(self) -> int | None:
        """The size that all batches have, if it is known without making one."""
        specs = self._dataset._known(may_run=False)
        shape = None if specs is None else leaves(specs)[0].shape
        return shape[0] if shape and shape.rank else None

    @property
    def has_partial_batch(self) -> None:
        """Not known."""

    @property
    def partial_batch_size(self) -> None:
        """Not known."""


def _weighted(data: Any, class_weight: Any) -> Any:
    x, y, sample_weight = data_adapter_utils.unpack_x_y_sample_weight(data)
    if sample_weight is not None:
        raise ValueError("You cannot `class_weight` and `sample_weight` at the same time.")
    if tree.is_nested(y):
        raise ValueError("`class_weight` is only supported for Models with a single output.")
    return x, y, data_adapter_utils.class_weight_to_sample_weights(y, class_weight)


def serve(module: Any) -> None:
    """Makes Keras' choice of an adapter, in its module `data_adapters`, know gradtape's datasets."""
    is_tensorflows, adapter_of_tensorflow = module.is_tf_dataset, module.TFDatasetAdapter
    module.is_tf_dataset = lambda x: isinstance(x, Dataset) or is_tensorflows(x)
    module.TFDatasetAdapter = lambda dataset, **options: (
        DatasetAdapter if isinstance(dataset, Dataset) else adapter_of_tensorflow
    )(dataset, **options)
