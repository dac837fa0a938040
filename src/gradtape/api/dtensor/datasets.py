"""`DTensorDataset`: global batches of a dataset as DTensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...core import nest
from ...datasets.dataset import Dataset
from ...engine.run.namespace import ops
from ...state.specs import TensorSpec
from .layouts import Layout, Mesh
from .tensors import copy_to_mesh

NAMESPACES = ("experimental.dtensor",)
__all__ = ["DTensorDataset"]


class DTensorDataset(Dataset):
    """A dataset of global batches, whose tensors have layouts.

    >>> import gradtape as tf
    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh({"batch": 1}, devices=["CPU:0"])
    >>> data = dtensor.DTensorDataset(tf.data.Dataset.range(6), mesh=mesh, global_batch_size=3, batch_dim="batch",
    ...                               layouts=dtensor.Layout(["batch"], mesh))
    >>> [x.numpy().tolist() for x in data]
    [[0, 1, 2], [3, 4, 5]]

    Args:
      dataset: a dataset of single examples.
      mesh: the mesh.
      layouts: the layout of each tensor of a batch, in the structure of the dataset's elements.
      global_batch_size: the number of examples of a batch.
      dataset_already_batched: whether the dataset contains batches, each of the size that a replica gets.
      batch_dim: the mesh dimension that splits batches; None if no layout does.
      prefetch: the number of batches to compute ahead.
      tf_data_service_config: not supported, as in TensorFlow.
    """

    def __init__(
        self,
        dataset: Any,
        *,
        mesh: Mesh,
        layouts: Any,
        global_batch_size: int,
        dataset_already_batched: bool = False,
        batch_dim: str | None = None,
        prefetch: int | None = None,
        tf_data_service_config: Any = None,
    ) -> None:
        if tf_data_service_config is not None:
            raise NotImplementedError("Multi-client DTensorDataset is currently not supported.")
        specs = dataset.element_spec
        nest.assert_same_structure(specs, layouts)
        flat_layouts, flat_specs = nest.flatten(layouts), nest.flatten(specs)
        for layout in flat_layouts:
            if batch_dim and layout.sharding_specs[0] != batch_dim:
                raise ValueError(
                    f"batch_dim {batch_dim} was specified but at least one layout did not contain it: {layout}"
                )
        _check(flat_layouts, flat_specs, dataset_already_batched)
        self.num_global_replicas = mesh.dim_size(batch_dim) if batch_dim else 1
        size = global_batch_size // self.num_global_replicas
        if not dataset_already_batched:
            batches = dataset.batch(size * self.num_global_replicas, drop_remainder=True)
        else:
            given = flat_specs[0].shape[0]
            if given != size:
                raise ValueError(
                    "per_replica_batch_size does not matched expected size based on the mesh, "
                    f"got {given} but expected {size}."
                )
            groups = dataset.batch(self.num_global_replicas, drop_remainder=True)
            batches = groups.map(lambda *parts: nest.map_structure(_merge_rows, parts if len(parts) > 1 else parts[0]))
        if prefetch is not None:
            batches = batches.prefetch(prefetch)
        skipped = 1 if dataset_already_batched else 0
        found = [
            TensorSpec([global_batch_size, *spec.shape.as_list()[skipped:]], spec.dtype, spec.name)
            for spec in flat_specs
        ]
        spec = nest.pack_sequence_as(specs, found)

        def elements() -> Iterator[Any]:
            for batch in batches:
                yield nest.map_structure(copy_to_mesh, batch, layouts)

        super().__init__("DTensorDataset", elements, lambda may_run: spec, int(batches.cardinality()))


def _merge_rows(groups: Any) -> Any:
    """Returns a stack of batches as one batch."""
    return ops.reshape(groups, shape=(-1, *groups.shape.as_list()[2:]))


def _check(layouts: Sequence[Layout], specs: Sequence[Any], batched: bool) -> None:
    """Raises a ValueError unless every layout fits the elements of the dataset."""
    if not specs:
        raise ValueError("Expected input element spec of at least one element, was empty.")
    first = specs[0].shape
    for layout, spec in zip(layouts, specs, strict=True):
        if spec.shape.rank is None:
            raise ValueError(f"Dataset element shape must have a valid rank, got spec {spec}.")
        rank = spec.shape.rank + (not batched)
        if layout.rank != rank:
            raise ValueError(
                f"Expected layout with rank {rank} for element spec {spec}, got layout {layout.sharding_specs}. Check "
                "that the dataset is not batched before passing to DTensorDataset."
            )
        if batched and first[0] is None:
            raise ValueError(
                f"Size of batch dimension of element spec {spec} is None. Ensure drop_remainder=True when batching the "
                "dataset."
            )
        if batched and spec.shape[0] != first[0]:
            raise ValueError(f"Size of batch dimension of element spec {spec} does not match expected size {first[0]}.")
