"""Compiles a graph for the devices of all replicas: `jax.shard_map` over one mesh axis, around the lowered graph.

Mirrored variables have a copy on each device that stays there between runs; so do the components of sync-on-read
variables. Per-replica inputs are placed on the replica's device, all other inputs are replicated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ...core import dtypes
from ...graph.executors.xla.compiler_options import options
from ...graph.executors.xla.executor import check_jax, check_process
from ...graph.executors.xla.interrupts import uninterrupted
from ...graph.executors.xla.mesh import sharding
from ...graph.executors.xla.source_names import lower
from ...graph.ir.effects import Changed, draw
from ...graph.ir.graph import Graph, Value
from ...graph.trace.traced import Untraceable
from ...state.storage import updating
from ...state.variable import Variable
from ..collective_ops import AXIS
from ..shards import MirroredStorage, PlaceholderStorage, Shard, is_placeholder
from ..variables import MirroredVariable

_LARGE = 1 << 16  # bytes; larger constants become arguments of the program
_MUCH = 1 << 17  # bytes of updated variables; above, their buffers are donated to the new values


class ReplicatedProgram:
    """A compiled graph; `stacked` and `each` say which inputs and outputs have a separate value per replica."""

    def __init__(self, graph: Graph, mesh: Any, stacked: Sequence[bool], each: Sequence[bool]) -> None:
        check_jax()
        import jax

        from ...graph.executors.xla.lowering import Lowering

        self._jax, self._graph, self._mesh = jax, graph, mesh
        self._one, self._all = sharding(mesh), sharding(mesh, AXIS)
        self._count = mesh.shape[AXIS]
        self._stacked, self._each = stacked, each
        self._variables = [variable for variable, _ in graph.variables]
        self._updated = [variable for variable, _ in graph.updates]
        self._flexible = [(v, value.shape) for v, value in graph.variables if not v.shape.is_fully_defined()]
        self._copies: dict[int, tuple[Any, Any]] = {}  # non-mirrored variables by id: (value, replicated array)
        self._draws = [node for node in graph.nodes if node.op is draw]
        large = _large_constants(graph)
        lowering = Lowering(graph)
        if lowering.ordered:
            raise Untraceable("it prints, or calls Python")
        parts = [is_placeholder(v) for v in self._variables]
        passed = [*(node.outputs[0] for node in self._draws), *large]
        self._per = [*parts, *stacked, *[False] * len(passed)]
        values = [*(v for _, v in graph.variables), *graph.inputs, *passed]
        new_parts = [is_placeholder(v) for v in self._updated]
        with jax.enable_x64(True):
            function = self._function(lowering, passed, [*each, *new_parts])
            shapes = [self._form(v, per) for v, per in zip(values, self._per, strict=True)]
            donated = self._donated(graph, False)
            traced = self._traced(function, shapes, donated, [*each, *new_parts], checked=False)
            self._checked = self._holds is not None
            if self._checked:
                traced = self._traced(function, shapes, [], [*each, *new_parts], checked=True)
            if lowering.on_host:
                raise Untraceable(f"NumPy computes {lowering.on_host[0]} inside it")
            self._constants = [self._put(v.constant, False) for v in large]
            self._takes_memory = bool(donated) and not self._checked
            self._call = lower(traced).compile(options(graph, jax.default_backend()))
        given = [*graph.inputs, *(value for _, value in graph.variables)]
        self._wide = bool(self._draws) or any([v.dtype.real_dtype.size == 8 for v in given])

    def _form(self, value: Value, per: bool) -> Any:
        shape = (self._count, *value.shape) if per else value.shape
        return self._jax.ShapeDtypeStruct(shape, value.dtype.numpy, sharding=self._all if per else self._one)

    def _donated(self, graph: Graph, checked: bool) -> list[int]:
        held = sum(math.prod(v.shape) * v.dtype.size for _, v in graph.updates)
        updated = set(map(id, self._updated))
        return [i for i, v in enumerate(self._variables) if id(v) in updated] if held >= _MUCH and not checked else []

    def _traced(self, function: Any, shapes: Any, donated: Any, each: Sequence[bool], checked: bool) -> Any:
        from jax.sharding import PartitionSpec

        self._holds: Any = None
        ins = tuple([PartitionSpec(AXIS) if per else PartitionSpec() for per in self._per])
        outs = [PartitionSpec(AXIS) if per else PartitionSpec() for per in [*each, *[True] * checked]]
        mapped = self._jax.shard_map(
            lambda *arrays: function(checked, *arrays), mesh=self._mesh, in_specs=ins, out_specs=outs, check_vma=False
        )
        return self._jax.jit(mapped, donate_argnums=donated).trace(*shapes)

    def _function(self, lowering: Any, passed: Sequence[Value], each: Sequence[bool]) -> Any:
        """Returns the per-device function, which takes the device's own row of each per-replica array."""
        graph, variables, inputs = self._graph, len(self._variables), len(self._graph.inputs)

        def function(checked: bool, *arrays: Any) -> Any:
            own = [x[0] if per else x for x, per in zip(arrays, self._per, strict=True)]
            held, given = own[:variables], own[variables : variables + inputs]
            known = dict(zip(passed, own[variables + inputs :], strict=True))
            results, holds = lowering.run(graph, [*given, *held], known)
            self._holds = holds
            found = [y[None] if per else y for y, per in zip(results, each, strict=True)]
            return [*found, holds[None]] if checked else found

        return function

    def _put(self, array: Any, per: bool) -> Any:
        """Places an array on the mesh: one row per device, or a copy on each."""
        where = self._all if per else self._one
        if where.is_fully_addressable:
            return self._jax.device_put(array, where)
        array = np.asarray(array)
        if per:
            return self._jax.make_array_from_process_local_data(where, array)
        return self._jax.make_array_from_callback(array.shape, where, lambda index: array[index])

    def __call__(self, given: Sequence[Sequence[Any]]) -> list[Any]:
        """Runs the program on the arrays of each input, updates the variables and returns the output arrays.

        A per-replica output is an array with one row per replica of this process.
        """
        check_process()
        for variable, shape in self._flexible:
            if variable.dims != shape:
                raise Changed
        with self._jax.enable_x64(True) if self._wide else nullcontext():
            pairs = zip(given, self._stacked, strict=True)
            inputs = [self._put(np.stack(x) if per else x[0], per) for x, per in pairs]
            drawn = [self._put(node.op.numpy(**node.attrs), False) for node in self._draws]
            with updating, uninterrupted() if self._takes_memory else nullcontext():
                held = [self._held(variable) for variable in self._variables]
                flat = self._call(*held, *inputs, *drawn, *self._constants)
                if self._checked and not np.all(_local(flat.pop())):
                    raise Changed
                outputs = len(self._graph.outputs)
                self._commit(flat[outputs:])
        return [_local(y) if per else np.asarray(y)[()] for y, per in zip(flat[:outputs], self._each, strict=True)]

    def _held(self, variable: Any) -> Any:
        """Returns the value of a variable as an array on the mesh."""
        storage = variable._storage
        if isinstance(storage, PlaceholderStorage):
            return self._rows(storage)
        if isinstance(storage, MirroredStorage):
            held = storage.shards()
            if held is not None and getattr(held, "sharding", None) == self._one and not held.is_deleted():
                return held
            if storage.copies:
                return self._differing([variable, *storage.copies])
            now, at = storage.host(), storage.mesh_copy
            if at is None or at[0] is not now or at[1].is_deleted() or at[1].sharding != self._one:
                at = storage.mesh_copy = (now, self._put(now, False))
            return at[1]
        now = storage.xla(self._jax.device_put)
        known = self._copies.get(id(variable))
        if known is None or known[0] is not now or known[1].is_deleted():
            known = self._copies[id(variable)] = (now, self._put(now, False))
        return known[1]

    def _differing(self, copies: Sequence[Variable]) -> Any:
        """Builds a "replicated" array whose copies differ between devices."""
        devices = [d for d in self._mesh.devices.flat if d.process_index == self._jax.process_index()]
        values = [self._jax.device_put(v._storage.host(), d) for v, d in zip(copies, devices, strict=True)]
        return self._jax.make_array_from_single_device_arrays(copies[0].dims, self._one, values)

    def _rows(self, storage: PlaceholderStorage) -> Any:
        whole: Any = storage.whole()
        stacked = storage.stacked
        parts = whole._values
        if stacked is not None and stacked.sharding == self._all and not stacked.is_deleted():
            if all([getattr(p._storage.latest(), "of", None) is stacked for p in parts]):
                return stacked
        return self._put(np.stack([p._storage.host() for p in parts]), True)

    def _commit(self, updates: Sequence[Any]) -> None:
        """Assigns the new arrays to the updated variables."""
        for variable, new in zip(self._updated, updates, strict=True):
            storage = variable._storage
            if isinstance(storage, PlaceholderStorage):
                whole: Any = storage.whole()
                storage.stacked = new
                for i, part in enumerate(whole._values):
                    part._storage.take_xla(Shard(new, i, is_row=True))
            elif isinstance(variable, MirroredVariable):
                variable.take_shards(new)
            else:
                storage.take_xla(new.addressable_shards[0].data)


def _local(stacked: Any) -> Any:
    """Returns the rows of this process as a host array."""
    if stacked.is_fully_addressable:
        return np.asarray(stacked)
    shards = sorted(stacked.addressable_shards, key=lambda shard: shard.index[0].start or 0)
    return np.concatenate([np.asarray(shard.data) for shard in shards])


def _large_constants(graph: Graph) -> list[Value]:
    used = [*(v for node in graph.nodes for v in node.inputs), *graph.all_outputs]
    found = (v for v in used if v.constant is not None and v.dtype is not dtypes.string)
    return list(dict.fromkeys(v for v in found if v.constant.nbytes >= _LARGE))
