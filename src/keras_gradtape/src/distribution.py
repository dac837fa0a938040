"""`keras.distribution`: variables and batches sharded over a device mesh; XLA partitions the steps (GSPMD).

This is the backend's `distribution_lib`. Meshes, layouts and devices are JAX's; JAX is imported when the first of them
is created.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from keras.src import tree
from keras.src.backend.common import global_state

import gradtape as tf
from gradtape.core.tensor import wrap
from gradtape.data.elements.structure import batch_spec, leaves, map_leaves, row_spec
from gradtape.distribute.cluster import membership as cluster
from gradtape.graph.executors.xla import constraint, mesh
from gradtape.graph.executors.xla.executor import XlaProgram, check_jax
from gradtape.graph.executors.xla.placement import Placement
from gradtape.graph.trace.trace import Trace
from gradtape.graph.trace.traced import TracedTensor
from gradtape.state.sharded_storage import check_divisible, shard, sharded
from gradtape.state.storage import Layout

_LARGE = 1 << 25  # bytes; larger sharded values are created shard by shard by XLA and are never whole, even on the host


# The interface for Keras.


def list_devices(device_type: str | None = None) -> list[str]:
    """Returns the device names of all processes: the GPUs if there are any, else the CPUs."""
    return [f"{device.platform}:{device.id}" for device in _devices(device_type)]


def get_device_count(device_type: str | None = None) -> int:
    """Returns the number of devices in `list_devices`."""
    return len(_devices(device_type))


def _devices(kind: str | None) -> list[Any]:
    check_jax()
    return mesh.global_devices(kind)


def distribute_tensor(tensor: Any, layout: Any) -> Any:
    """Shards a tensor over the devices of a mesh.

    In a traced function, this adds a sharding constraint to the compiled program. An eager tensor is whole and on the
    host, and is returned unchanged. A JAX array is always sharded.
    """
    sharding = _sharding(layout)
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(tensor, jax.core.Tracer):
        return jax.lax.with_sharding_constraint(tensor, sharding)
    if jax is not None and isinstance(tensor, jax.Array):
        return jax.device_put(tensor, sharding)
    if not isinstance(tensor, tf.Tensor):
        tensor = tf.convert_to_tensor(tensor)
    return constraint.laid_out(tensor, sharding) if _divides(tensor.dims, sharding) else tensor


def _divides(shape: tuple[int, ...], sharding: Any) -> bool:
    """Returns whether a shape is divisible by the sharding; that of a short last batch may not be."""
    try:
        check_divisible("", shape, sharding)
    except ValueError:
        return False
    return True


def distribute_data_input(per_process_batch: Any, layout: Any, batch_dim_name: str) -> Any:
    """Assembles the global batch as a JAX array, from `per_process_batch` of each process."""
    import jax

    with jax.enable_x64(True):
        return jax.make_array_from_process_local_data(_sharding(layout), np.asarray(per_process_batch))


def initialize(job_addresses: str | None, num_processes: int | None, process_id: int | None) -> None:
    """Joins several processes, whose devices form one mesh; the first process listens at the first address.

    Without arguments, the settings come from `gradtape launch`, `TF_CONFIG`, SLURM or Open MPI.
    """
    addresses = job_addresses.split(",") if job_addresses else []
    if len(addresses) > 1 and num_processes is not None and num_processes != len(addresses):
        raise ValueError(
            f"The provided job_addresses {addresses} has {len(addresses)} jobs, but num_processes is {num_processes}"
        )
    check_jax()
    mesh.prepare()
    size = len(addresses) if num_processes is None and len(addresses) > 1 else num_processes
    cluster.initialize(addresses[0] if addresses else None, size, process_id)
    initialize_rng()


def initialize_rng() -> None:
    """Broadcasts a seed, so that all processes initialize variables equally, unless the program has set one."""
    from jax.experimental import multihost_utils
    from keras.src.random.seed_generator import make_default_seed
    from keras.src.utils import rng_utils

    if rng_utils.get_random_seed() is None:
        mine = np.uint32(make_default_seed())
        seed = mine if num_processes() == 1 else multihost_utils.broadcast_one_to_all(mine)
        rng_utils.set_random_seed(int(seed))


def num_processes() -> int:
    """Returns the number of processes."""
    jax = _distributed()
    return 1 if jax is None else jax.process_count()


def process_id() -> int:
    """Returns the index of this process."""
    jax = _distributed()
    return 0 if jax is None else jax.process_index()


def _distributed() -> Any:
    """Returns JAX if it runs on several processes. Other queries would initialize its devices too early."""
    jax: Any = sys.modules.get("jax")
    return jax if jax is not None and jax.distributed.is_initialized() else None


def _to_backend_device(device_name: Any) -> Any:
    if not isinstance(device_name, str | np.str_):
        return device_name
    kind, _, number = str(device_name).partition(":")
    for device in _devices(kind):
        if device.id == int(number or 0):
            return device
    raise ValueError(
        f"Device not found: {device_name}; there are {list_devices(kind)}. CPUs are made by "
        "tf.config.set_logical_device_configuration, before anything is compiled"
    )


def _to_backend_mesh(device_mesh: Any) -> Any:
    devices = [_to_backend_device(device) for device in device_mesh.devices.flatten()]
    return mesh.make_mesh(devices, device_mesh.axis_names, device_mesh.shape)


def _to_backend_layout(tensor_layout: Any) -> Any:
    if tensor_layout.device_mesh is None:
        raise ValueError("Cannot create sharding when device mesh is not set for TensorLayout.")
    return mesh.sharding(tensor_layout.device_mesh.backend_mesh, *tensor_layout.axes)


def _sharding(layout: Any) -> Any:
    """Converts a Keras layout to a JAX sharding; returns a JAX sharding unchanged."""
    return getattr(layout, "backend_layout", layout)


# The interface for variables and the trainer.


def current() -> Any:
    """Returns the active distribution, or None."""
    return global_state.get_global_attribute("distribution")


def _layout_of(variable: Any) -> Layout | None:
    """Returns the layout of a Keras variable, or None."""
    distribution = current()
    if variable._layout is None and distribution is not None:
        variable._layout = distribution.get_variable_layout(variable)
    if variable._layout is None:
        return None
    sharding = _sharding(variable._layout)
    batch = None if distribution is None else distribution.batch_dim_name
    return Layout(sharding, batch if batch in sharding.mesh.axis_names else None)


def _is_sharded(variable: Any) -> bool:
    value = variable._value  # None while another thread builds the layer
    return value is not None and value._storage.layout is not None


def lay_out(variable: Any) -> None:
    """Shards a Keras variable if it has a layout or the distribution defines one."""
    layout = _layout_of(variable)
    if layout is not None and not _is_sharded(variable):
        sharded(variable._value, layout)


def lay_out_all(variables: Any, optimizer: Any) -> bool:
    """Shards the remaining variables of a model and its optimizer; returns whether there were any.

    An optimizer slot, named after the path of its variable, is sharded like the variable.
    """
    state = getattr(optimizer, "variables", ())
    late = [v for v in (*variables, *state) if v._value is not None and not _is_sharded(v)]
    for variable in late:
        for reference in getattr(optimizer, "_trainable_variables", ()):
            is_its = variable.name.startswith(f"{reference.path.replace('/', '_')}_")
            if is_its and variable.shape == reference.shape and variable._layout is None:
                _layout_of(reference)
                variable._layout = reference._layout
        lay_out(variable)
    return bool(late)


def local_dataset(distribution: Any, dataset: Any) -> Any:
    """Returns this process's rows of each global batch. Replaces `Distribution.distribute_tf_dataset`."""
    shards = min(distribution.num_model_replicas, distribution.num_processes)
    _rows(next(iter(dataset), ()), shards)  # raises before training starts
    at = distribution.data_shard_id if shards > 1 else 0

    def own(batches: Any) -> Any:
        for batch in batches:
            count = _rows(batch, shards)
            yield map_leaves(lambda x, count=count: x[at * count : (at + 1) * count], batch)

    rows = dataset._derived("_LocalRows", own, specs=lambda given: map_leaves(_any_batch, given))
    return rows.prefetch(tf.data.AUTOTUNE)


def _rows(batch: Any, shards: int) -> int:
    """Returns the number of rows of a global batch per process."""
    sizes = {leaf.shape[0] if leaf.shape.rank else -1 for leaf in leaves(batch)}
    if len(sizes) != 1 or -1 in sizes:
        raise ValueError(
            "The batch size of the input dataset is unknown: it is split among the processes by rows of its batches. "
            "Use dataset.batch(batch_size), or split it yourself and set distribution.auto_shard_dataset = False"
        )
    (size,) = sizes
    if size % shards:
        raise ValueError(
            f"Global batch size must be divisible by the number of processes that have rows of it, {shards}; there is "
            f"a batch of {size}. Use another size, and dataset.batch(size, drop_remainder=True) where data is left over"
        )
    return size // shards


def _any_batch(spec: Any) -> Any:
    return batch_spec(row_spec(spec), None)


def global_batch(batch: Any) -> Any:
    """Assembles the global batch from this process's part: a tensor on the devices of all processes."""
    if not isinstance(batch, tf.Tensor):
        return batch
    distribution = current()
    layout = distribution.get_data_layout(batch.dims)
    parts = distribution.num_model_replicas // min(num_processes(), distribution.num_model_replicas)
    if batch.dims[0] % parts:
        raise ValueError(
            f"This process has a batch of {batch.dims[0]}, which is to be split among {parts} of its devices: {parts} "
            "does not divide it. With several processes, batches must all be of such a size: "
            "dataset.batch(size, drop_remainder=True)"
        )
    return wrap(distribute_data_input(batch.array, layout, distribution.batch_dim_name), batch.dtype)


def together(step: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    """Wraps a step that all processes execute; an error may stem from another process and then names it."""
    if not cluster.is_initialized():  # the processes were joined by other means
        return step
    member = cluster.member()

    def run(batch: Any) -> Any:
        shapes = ", ".join(f"{x.dtype.name}{list(x.dims)}" for x in tree.flatten(batch) if isinstance(x, tf.Tensor))
        member.call(f"{name} of Keras on {shapes}")
        try:
            return step(batch)
        except (RuntimeError, ValueError):  # raised by XLA
            member.failure_soon()
            raise

    return run


def made_in_parts(variable: Any, make: Callable[[], Any]) -> Any:
    """Computes `make()` shard by shard on its devices for a large sharded variable; returns None for others."""
    layout = _layout_of(variable)
    size = math.prod(variable._shape) * tf.as_dtype(variable._dtype).size
    if layout is None or size < _LARGE or layout.sharding.is_fully_replicated:
        return None
    check_divisible(variable._path, variable._shape, layout.sharding)
    trace = Trace("initializer", for_xla=True)
    try:
        with trace.entered():
            value = make()
        if not isinstance(value, TracedTensor):  # a constant, such as zeros
            return value
        graph = trace.graph([value])
    finally:
        trace.release()
    made = layout.sharding
    if any(node.op.name == "random_truncated_normal" for node in graph.nodes):
        made = _by_rows(value.dims, made)
    (array,) = XlaProgram(graph, Placement(layout, made)).run(())
    return wrap(array if made is layout.sharding else shard(array, layout.sharding), value.dtype)


def _by_rows(shape: tuple[int, ...], sharding: Any) -> Any:
    """Returns a sharding by rows over all devices, if the shape allows it.

    A loop draws such numbers in groups, in memory order: XLA can partition it by rows only, and would otherwise draw
    all numbers on each device. The result is resharded afterwards.
    """
    rows = mesh.sharding(sharding.mesh, sharding.mesh.axis_names)
    return rows if _divides(shape, rows) else sharding


def is_spread(variables: Any) -> bool:
    """Returns whether any of these Keras variables is on several devices."""
    return any(map(_is_sharded, variables))
