"""`tf.experimental.dtensor`: the classes that libraries import, which say what to use instead."""

from __future__ import annotations

from typing import Any

from gradtape.checkpoint.checkpoint import Checkpoint
from gradtape.core import errors
from gradtape.data.dataset import Dataset
from gradtape.state.variable import Variable

NAMESPACES = ("experimental.dtensor",)
__all__ = ["MATCH", "UNSHARDED", "DTensorCheckpoint", "DTensorDataset", "DVariable", "Layout", "Mesh"]

UNSHARDED = "unsharded"
MATCH = "match"
_INSTEAD = (
    "gradtape has no DTensors. `tf.distribute.MirroredStrategy()` splits batches over devices, and "
    "`tf.distribute.MultiWorkerMirroredStrategy()` over processes"
)


class _Unavailable(type):
    """The type of classes that cannot be used: whatever is called, an error says what to use instead."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        return _raise


def _raise(*args: Any, **kwargs: Any) -> Any:
    raise errors.UnimplementedError(_INSTEAD)


class Mesh(metaclass=_Unavailable):
    """Raises an error: `tf.distribute.MirroredStrategy` splits batches over devices.

    >>> tf.experimental.dtensor.Mesh(["x"], [0], [0], ["CPU:0"])  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """

    __module__ = "gradtape.experimental.dtensor"

    def __init__(
        self,
        dim_names: list[str],
        global_device_ids: Any,
        local_device_ids: list[int],
        local_devices: list[Any],
        mesh_name: str = "",
        global_devices: list[Any] | None = None,
        use_xla_spmd: bool = False,
    ) -> None:
        raise errors.UnimplementedError(_INSTEAD)


class Layout(metaclass=_Unavailable):
    """Raises an error: `tf.distribute.MirroredStrategy` splits batches over devices.

    >>> tf.experimental.dtensor.Layout.replicated(None, rank=2)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """

    __module__ = "gradtape.experimental.dtensor"

    def __init__(self, sharding_specs: list[str], mesh: Mesh) -> None:
        raise errors.UnimplementedError(_INSTEAD)


class DVariable(Variable):
    """Raises an error: variables that are created within the scope of a strategy are on its devices.

    >>> tf.experimental.dtensor.DVariable([1.0])  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """

    __module__ = "gradtape.experimental.dtensor"

    save_as_bf16: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise errors.UnimplementedError(_INSTEAD)


class DTensorDataset(Dataset):
    """Raises an error: a strategy's `experimental_distribute_dataset` splits the batches of a dataset.

    >>> tf.experimental.dtensor.DTensorDataset(
    ...     tf.data.Dataset.range(4), mesh=None, layouts=None, global_batch_size=2
    ... )  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """

    __module__ = "gradtape.experimental.dtensor"

    def __init__(
        self,
        dataset: Dataset,
        *,
        mesh: Mesh,
        layouts: Any,
        global_batch_size: int,
        dataset_already_batched: bool = False,
        batch_dim: str | None = None,
        prefetch: int | None = None,
        tf_data_service_config: Any = None,
    ) -> None:
        raise errors.UnimplementedError(_INSTEAD)


class DTensorCheckpoint(Checkpoint):
    """Raises an error: `tf.train.Checkpoint` saves the variables of a strategy.

    >>> tf.experimental.dtensor.DTensorCheckpoint(None)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """

    __module__ = "gradtape.experimental.dtensor"

    def __init__(self, mesh: Mesh, root: Any = None, **kwargs: Any) -> None:
        raise errors.UnimplementedError(_INSTEAD)
