"""DTensors in checkpoint files: by name, and as the state of objects."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from ...checkpoints.bundle import BundleReader, write_bundle
from ...checkpoints.checkpoint import Checkpoint
from ...core import errors
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ...engine.run.dispatch import thread
from .clients import barrier
from .layouts import Mesh
from .tensors import layout_of, relayout

NAMESPACES = ("experimental.dtensor",)
__all__ = ["DTensorCheckpoint", "name_based_restore", "name_based_save", "sharded_save"]


class DTensorCheckpoint(Checkpoint):
    """Same as `tf.train.Checkpoint`, which saves and restores `DVariable`s too.

    >>> import tempfile
    >>> import gradtape as tf
    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh({"x": 1}, devices=["CPU:0"])
    >>> v = dtensor.DVariable([1.0, 2.0], layout=dtensor.Layout(["x"], mesh))
    >>> path = dtensor.DTensorCheckpoint(mesh, v=v).save(tempfile.mkdtemp() + "/ckpt")
    >>> tf.train.load_checkpoint(path).get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE").tolist()
    [1.0, 2.0]
    """

    def __init__(self, mesh: Mesh, root: Any = None, **kwargs: Any) -> None:
        super().__init__(root, **kwargs)
        object.__setattr__(self, "_mesh", mesh)


def sharded_save(
    mesh: Mesh,
    file_prefix: Any,
    tensor_names: Any,
    shape_and_slices: Any,
    tensors: Sequence[Any],
) -> None:
    """Writes tensors under their names to a checkpoint that `name_based_restore` and TensorFlow can read.

    >>> import tempfile
    >>> import gradtape as tf
    >>> mesh = tf.experimental.dtensor.create_mesh({"x": 1}, devices=["CPU:0"])
    >>> prefix = tempfile.mkdtemp() + "/tensors"
    >>> tf.experimental.dtensor.sharded_save(mesh, prefix, ["a"], [""], [tf.constant([1.0, 2.0])])
    >>> tf.train.load_checkpoint(prefix).get_tensor("a").tolist()
    [1.0, 2.0]

    Args:
      mesh: the mesh of the tensors; all its processes call this.
      file_prefix: the path of the checkpoint.
      tensor_names: the name of each tensor.
      shape_and_slices: an empty string for each tensor.
      tensors: the tensors or variables.
    """
    slices = _texts(shape_and_slices)
    if any(slices):
        raise ValueError(f"shape_and_slices must be empty strings: tensors are saved as a whole. Got {slices}")
    from ...distribution import cluster

    if cluster.identity().rank == 0:  # all processes have the same values
        names = _texts(tensor_names)
        write_bundle(_texts([file_prefix])[0], dict(zip(names, map(to_tensor, tensors), strict=True)))
    barrier(mesh.host_mesh(), "SaveV2")


def name_based_save(mesh: Mesh, checkpoint_prefix: Any, name_tensor_dict: Mapping[str, Any]) -> None:
    """Writes a dictionary of tensors to a checkpoint.

    >>> import tempfile
    >>> import gradtape as tf
    >>> mesh = tf.experimental.dtensor.create_mesh({"x": 1}, devices=["CPU:0"])
    >>> prefix = tempfile.mkdtemp() + "/tensors"
    >>> tf.experimental.dtensor.name_based_save(mesh, prefix, {"a": tf.constant([1.0, 2.0])})
    >>> tf.train.load_checkpoint(prefix).get_tensor("a").tolist()
    [1.0, 2.0]
    """
    if thread.trace is not None:
        raise ValueError("name based save must run eagerly.")
    names = list(name_tensor_dict)
    sharded_save(mesh, checkpoint_prefix, names, [""] * len(names), list(name_tensor_dict.values()))


def name_based_restore(
    mesh: Mesh, checkpoint_prefix: Any, name_tensor_dict: Mapping[str, Any]
) -> OrderedDict[str, Tensor]:
    """Reads tensors from a checkpoint, each with the layout, shape and dtype of the given one of its name.

    >>> import tempfile
    >>> import gradtape as tf
    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh({"x": 1}, devices=["CPU:0"])
    >>> x = dtensor.copy_to_mesh([1.0, 2.0], dtensor.Layout(["x"], mesh))
    >>> prefix = tempfile.mkdtemp() + "/tensors"
    >>> dtensor.name_based_save(mesh, prefix, {"x": x})
    >>> dtensor.name_based_restore(mesh, prefix, {"x": x})["x"].numpy().tolist()
    [1.0, 2.0]
    """
    if thread.trace is not None:
        raise ValueError("name based restore must run eagerly.")
    restored: OrderedDict[str, Tensor] = OrderedDict()
    with BundleReader(_texts([checkpoint_prefix])[0]) as reader:
        for name, tensor in name_tensor_dict.items():
            layout = layout_of(tensor)
            if layout is None:
                raise ValueError("Saving/Restoring tensor must be a DTensor")
            if layout.mesh.device_type().upper() != "CPU":
                raise ValueError(
                    f"Restoring a non CPU Tensor is not supported currently. Offending tensor name : {name}"
                )
            if name not in reader.dtypes:
                raise errors.NotFoundError(f"Key {name} not found in checkpoint")
            restored[name] = relayout(reader.read(name), layout)
    return restored


def _texts(values: Any) -> list[str]:
    """Returns strings, or a tensor of strings, as a list of Python strings."""
    items = values.numpy().tolist() if isinstance(values, Tensor) else list(values)
    plain = (item.numpy() if isinstance(item, Tensor) else item for item in items)
    return [os.fsdecode(item) for item in plain]
