"""The shardings of a program's values, if its variables are sharded over a mesh; XLA partitions it accordingly.

Sharded variables keep their sharding, and so do their new values. An input whose first axis is divisible by the batch
axis of the mesh is split along it; everything else is replicated. This affects speed and memory only: results equal
those of a single device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy import ndarray

from ....core.errors import InvalidArgumentError
from ....state.sharded_storage import is_sharded, shard
from ....state.storage import Layout
from ....state.variable import Variable
from ...ir.graph import Graph, Value
from .constraint import constrained


class Placement:
    """The mesh of a program and the shardings of its values.

    Host variables are replicated. After a run they get the copy of one device, so that single-device programs can use
    them too.
    """

    def __init__(self, layout: Layout, outputs: Any = None) -> None:
        from jax.sharding import NamedSharding, PartitionSpec

        mesh = layout.sharding.mesh
        self._replicated = NamedSharding(mesh, PartitionSpec())
        self._parts = mesh.shape[layout.batch_axis] if layout.batch_axis is not None else 0
        self._batch = NamedSharding(mesh, PartitionSpec(layout.batch_axis)) if self._parts else self._replicated
        self._is_local = layout.sharding.is_fully_addressable  # all devices belong to this process
        if outputs is None and not self._is_local:  # each process needs the whole outputs
            outputs = self._replicated
        self._outputs = outputs  # the sharding of outputs; None: XLA chooses
        self._copies: dict[int, tuple[Any, Any]] = {}  # of host variables: the value, and its replicated copy

    def traced(self, function: Callable[..., Any], graph: Graph, values: Sequence[Value], donated: list[int]) -> Any:
        """Trace a program with JAX: `function` of its variables, inputs and other arguments."""
        import jax

        variables = [self._of(variable) for variable, _ in graph.variables]
        inputs = [self.of_input(value.shape) for value in graph.inputs]
        others = [self._replicated] * (len(values) - len(variables) - len(inputs))
        placed = zip(values, [*variables, *inputs, *others], strict=True)
        shapes = [jax.ShapeDtypeStruct(v.shape, v.dtype.numpy, sharding=where) for v, where in placed]
        count = len(graph.all_outputs)

        def parted(*arrays: Any) -> Any:
            results = function(*arrays)
            return results[:count], results[count:]  # whether there are checks is only known after tracing

        updates = [self._of(variable) for variable, _ in graph.updates]
        where = ([*[self._outputs] * len(graph.outputs), *updates], None)
        return jax.jit(parted, donate_argnums=donated, out_shardings=where).trace(*shapes)

    def _of(self, variable: Variable) -> Any:
        layout = variable._storage.layout
        return self._replicated if layout is None else layout.sharding

    def of_input(self, shape: tuple[int, ...]) -> Any:
        """The sharding of an input."""
        return self._batch if self._parts and shape and shape[0] % self._parts == 0 else self._replicated

    def copied(self, array: Any) -> Any:
        """Replicate an array."""
        return self._put(array, self._replicated)

    def spread_inputs(self, arrays: Sequence[Any]) -> list[Any]:
        """Move the inputs to their devices; with one process, the program itself transfers host arrays."""
        stays = ndarray if self._is_local else ()
        return [x if isinstance(x, stays) else self._put(x, self.of_input(x.shape)) for x in arrays]

    def spread_held(self, variables: Sequence[Variable], held: Sequence[Any]) -> list[Any]:
        """The values of variables on the mesh."""
        pairs = zip(variables, held, strict=True)
        return [x if v._storage.layout else self._copy_of(v, x) for v, x in pairs]

    def _copy_of(self, variable: Variable, held: Any) -> Any:
        kept = self._copies.get(id(variable))
        if kept is None or kept[0] is not held or kept[1].is_deleted():
            kept = self._copies[id(variable)] = (held, self.copied(held))
        return kept[1]

    def taken(self, variables: Sequence[Variable], updates: Sequence[Any]) -> list[Any]:
        """Returns the new values of the variables: host variables take the copy of the first device."""
        pairs = zip(variables, updates, strict=True)
        return [x if v._storage.layout else self._on_first(x) for v, x in pairs]

    def _on_first(self, array: Any) -> Any:
        import jax

        one, first = array.addressable_data(0), jax.local_devices()[0]
        return one if one.device == first else jax.device_put(one, first)

    def _put(self, array: Any, sharding: Any) -> Any:
        return array if is_sharded(array, sharding) else shard(array, sharding)


def placement_of(graph: Graph) -> Placement | None:
    """Returns the placement if a variable is sharded or a value has a sharding constraint; else None."""
    variables = [variable for variable, _ in (*graph.variables, *graph.updates)]
    layouts = [layout for variable in variables if (layout := variable._storage.layout) is not None]
    layouts += [Layout(node.attrs["sharding"]) for node in graph.nodes if node.op is constrained]
    if not layouts:
        return None
    first = layouts[0].sharding.mesh
    for layout in layouts:
        mesh = layout.sharding.mesh
        if mesh is not first and mesh.devices.flatten().tolist() != first.devices.flatten().tolist():
            raise InvalidArgumentError(
                f"Function {graph.name} uses values on two meshes of devices, one of "
                f"{first.devices.flatten().tolist()}, one of {mesh.devices.flatten().tolist()}. XLA partitions a "
                "program over one: make all variables under one distribution"
            )
    return Placement(next((layout for layout in layouts if layout.batch_axis is not None), layouts[0]))
