"""`keras.distribution`: variables and batches laid out on a mesh of devices, for which XLA partitions the steps.

What Keras calls a backend's `distribution_lib`. A mesh, a layout and a device are JAX's; JAX is imported when the first
of them is made.
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
from gradtape.datasets.structure import batch_spec, leaves, mapped, row_spec
from gradtape.distribution import cluster
from gradtape.graph.executors.xla import constraint, mesh
from gradtape.graph.executors.xla.executor import XlaProgram, check_jax
from gradtape.graph.executors.xla.placement import Placement
from gradtape.graph.trace.trace import Trace
from gradtape.graph.trace.traced import TracedTensor
from gradtape.state.sharded_variable import Layout, ShardedVariable, check_divisible, sharded, spread

_LARGE = 1 << 25  # bytes from which on a value that is split is never whole, not even on the host: XLA makes its parts


# What Keras asks for.


def list_devices(device_type: str | None = None) -> list[str]:
    """The names of the devices, of all processes: the GPUs if there are any, else the CPUs."""
    return [f"{device.platform}:{device.id}" for device in _devices(device_type)]


def get_device_count(device_type: str | None = None) -> int:
    """How many devices `list_devices` gives."""
    return len(_devices(device_type))


def _devices(kind: str | None) -> list[Any]:
    check_jax()
    return mesh.global_devices(kind)


def distribute_tensor(tensor: Any, layout: Any) -> Any:
    """The tensor laid out on the devices of a mesh.

    In a function, that is what the compiled program does with the value. Outside of functions, tensors are whole, on
    the host, and it is returned as it is. An array of JAX's is laid out anyway.
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
    """Whether a value can be split so: that of a last, short batch may not."""
    try:
        check_divisible("", shape, sharding)
    except ValueError:
        return False
    return True


def distribute_data_input(per_process_batch: Any, layout: Any, batch_dim_name: str) -> Any:
    """The global batch, as an array of JAX's, of which this process has `per_process_batch`."""
    import jax

    with jax.enable_x64(True):
        return jax.make_array_from_process_local_data(_sharding(layout), np.asarray(per_process_batch))


def initialize(job_addresses: str | None, num_processes: int | None, process_id: int | None) -> None:
    """Makes this process one of several, whose devices make up one mesh; the first one listens at the first address.

    Without arguments it is what `gradtape launch`, `TF_CONFIG`, SLURM or Open MPI say.
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
    """Gives all processes the same seed, so that they initialise variables alike; none if the program has set one."""
    from jax.experimental import multihost_utils
    from keras.src.random.seed_generator import make_default_seed
    from keras.src.utils import rng_utils

    if rng_utils.get_random_seed() is None:
        mine = np.uint32(make_default_seed())
        seed = mine if num_processes() == 1 else multihost_utils.broadcast_one_to_all(mine)
        rng_utils.set_random_seed(int(seed))


def num_processes() -> int:
    """How many processes take part."""
    jax = _distributed()
    return 1 if jax is None else jax.process_count()


def process_id() -> int:
    """The number of this process."""
    jax = _distributed()
    return 0 if jax is None else jax.process_index()


def _distributed() -> Any:
    """JAX, if it runs on several processes: asking it otherwise would start its devices before they are chosen."""
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
    """JAX's form of a layout, which may be of JAX's own already."""
    return getattr(layout, "backend_layout", layout)


# What variables and the trainer ask for.


def current() -> Any:
    """The distribution that the program has set, or None."""
    return global_state.get_global_attribute("distribution")


def _layout_of(variable: Any) -> Layout | None:
    """How a Keras variable is to lie on devices, if it is to."""
    distribution = current()
    if variable._layout is None and distribution is not None:
        variable._layout = distribution.get_variable_layout(variable)
    if variable._layout is None:
        return None
    sharding = _sharding(variable._layout)
    batch = None if distribution is None else distribution.batch_dim_name
    return Layout(sharding, batch if batch in sharding.mesh.axis_names else None)


def lay_out(variable: Any) -> None:
    """Spreads the value of a Keras variable over devices, if it has a layout, or the distribution gives it one."""
    layout = _layout_of(variable)
    if layout is not None and not isinstance(variable._value, ShardedVariable):
        sharded(variable._value, layout)


def lay_out_all(variables: Any, optimizer: Any) -> bool:
    """Spreads the variables of a model and its optimizer that are not yet; returns whether there were any.

    What an optimizer keeps of a variable, which it calls by the variable's path, lies as the variable does.
    """
    state = getattr(optimizer, "variables", ())
    late = [v for v in (*variables, *state) if v._value is not None and not isinstance(v._value, ShardedVariable)]
    for variable in late:
        for reference in getattr(optimizer, "_trainable_variables", ()):
            is_its = variable.name.startswith(f"{reference.path.replace('/', '_')}_")
            if is_its and variable.shape == reference.shape and variable._layout is None:
                _layout_of(reference)
                variable._layout = reference._layout
        lay_out(variable)
    return bool(late)


def local_dataset(distribution: Any, dataset: Any) -> Any:
    """What this process is to read of a dataset of global batches: its rows of each. Keras asks the distribution."""
    shards = min(distribution.num_model_replicas, distribution.num_processes)
    _rows(next(iter(dataset), ()), shards)  # said before training begins
    at = distribution.data_shard_id if shards > 1 else 0

    def own(batches: Any) -> Any:
        for batch in batches:
            count = _rows(batch, shards)
            yield mapped(lambda x, count=count: x[at * count : (at + 1) * count], batch)

    rows = dataset._derived("_LocalRows", own, specs=lambda given: mapped(_any_batch, given))
    return rows.prefetch(tf.data.AUTOTUNE)


def _rows(batch: Any, shards: int) -> int:
    """How many rows of a global batch one of the processes has."""
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
    """The batch of all processes, of which this one has a part: a tensor on their devices."""
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
    """A step that all processes take. What fails in it may be for another one, which the error then names."""
    if not cluster.is_initialized():  # somebody else has brought the processes together
        return step
    member = cluster.member()

    def run(batch: Any) -> Any:
        shapes = ", ".join(f"{x.dtype.name}{list(x.dims)}" for x in tree.flatten(batch) if isinstance(x, tf.Tensor))
        member.call(f"{name} of Keras on {shapes}")
        try:
            return step(batch)
        except (RuntimeError, ValueError):  # of XLA
            member.failure_soon()
            raise

    return run


def made_in_parts(variable: Any, make: Callable[[], Any]) -> Any:
    """What `make()` gives for a variable that is large and split, computed where it is to be; else None."""
    layout = _layout_of(variable)
    size = math.prod(variable._shape) * tf.as_dtype(variable._dtype).size
    if layout is None or size < _LARGE or layout.sharding.is_fully_replicated:
        return None
    check_divisible(variable._path, variable._shape, layout.sharding)
    trace = Trace("initializer", for_xla=True)
    try:
        with trace.entered():
            value = make()
        if not isinstance(value, TracedTensor):  # zeros, say: a constant
            return value
        graph = trace.graph([value])
    finally:
        trace.let_go()
    made = layout.sharding
    if any(node.op.name == "random_truncated_normal" for node in graph.nodes):
        made = _by_rows(value.dims, made)
    (array,) = XlaProgram(graph, Placement(layout, made)).run(())
    return wrap(array if made is layout.sharding else spread(array, layout.sharding), value.dtype)


def _by_rows(shape: tuple[int, ...], sharding: Any) -> Any:
    """Rows over all devices, if that can be.

    A loop draws such numbers, one group after another in the order of memory: XLA can divide it among devices by rows
    alone, and would have each device draw all of them. What is drawn is laid out as it should be afterwards.
    """
    rows = mesh.sharding(sharding.mesh, sharding.mesh.axis_names)
    return rows if _divides(shape, rows) else sharding


def is_spread(variables: Any) -> bool:
    """Whether one of some Keras variables is on several devices."""
    return any(isinstance(variable._value, ShardedVariable) for variable in variables)
