"""Meshes, which arrange devices in named dimensions, and layouts, which map axes of tensors to these dimensions."""

from __future__ import annotations

import enum
import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...core.device_spec import DeviceSpec
from ...core.protos import generated
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor

NAMESPACES = ("experimental.dtensor",)
__all__ = ["MATCH", "UNSHARDED", "Layout", "Mesh"]

UNSHARDED = "unsharded"
MATCH = "match"
_SINGLE_DEVICE = "maximal:true, mesh:"


class MeshDimension(NamedTuple):
    """A dimension of a mesh."""

    name: str
    size: int


class LayoutType(enum.IntEnum):
    """The kinds of layouts."""

    UNKNOWN = 0
    STATIC = 1
    PARTED = 2
    SINGLE_DEVICE = 3


class Mesh:
    """Devices, arranged in an array with named dimensions. `create_mesh` makes one of the devices of this process.

    >>> import numpy as np
    >>> import gradtape as tf
    >>> mesh = tf.experimental.dtensor.Mesh(["x"], np.arange(1), [0], ["/job:localhost/replica:0/task:0/device:CPU:0"])
    >>> mesh.to_string()
    '|x=1|0|0|/job:localhost/replica:0/task:0/device:CPU:0'

    Args:
      dim_names: the names of the dimensions.
      global_device_ids: an array of consecutive numbers, whose shape is that of the mesh.
      local_device_ids: the numbers among them of this process' devices.
      local_devices: the devices of this process, in the same order.
      mesh_name: a name for the mesh.
      global_devices: the devices of all processes.
      use_xla_spmd: for TPUs only.
    """

    _local_devices: list[str]
    _global_devices: list[str]

    def __init__(
        self,
        dim_names: list[str],
        global_device_ids: np.ndarray[Any, Any],
        local_device_ids: list[int],
        local_devices: list[DeviceSpec | str],
        mesh_name: str = "",
        global_devices: list[DeviceSpec | str] | None = None,
        use_xla_spmd: bool = False,
    ) -> None:
        if not isinstance(global_device_ids, np.ndarray):
            raise ValueError("Variable global_device_ids must be an ndarray.")
        if global_device_ids.size == 0:
            raise ValueError("Variable global_device_ids must be non-empty.")
        numbers = [int(number) for number in global_device_ids.ravel()]
        if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            raise ValueError(f"global_device_ids must sequentially increase: {global_device_ids}")
        if len(dim_names) != global_device_ids.ndim:
            raise ValueError("Number of mesh dimensions does not match number of dimension names.")
        for what, given, kind in (
            ("local_device_ids", local_device_ids, "integers"),
            ("local_devices", local_devices, "DeviceSpecs"),
            ("global_devices", global_devices or [], "DeviceSpecs"),
        ):
            if not isinstance(given, list):
                raise ValueError(f"Variable {what} must be a list of {kind}.")
        if not local_devices and not global_devices:
            raise ValueError("Empty list of devices not allowed.")
        specs = [d if isinstance(d, DeviceSpec) else DeviceSpec.from_string(d) for d in local_devices]
        names = [spec.to_string() for spec in specs]
        only_host = len(set(names)) == 1 and specs[0].device_type == "CPU"
        if not only_host and len(set(names)) < len(names):
            twice = [name for name, count in Counter(names).items() if count > 1]
            raise ValueError(f"Duplicate devices found in mesh specification {twice}.")
        if len(local_device_ids) != len(local_devices):
            raise ValueError("Variable local_device_ids does not have same size as local_devices.")
        if len(local_device_ids) > len(numbers):
            raise ValueError("Cannot have more local than gobal device IDs.")
        every = specs or [d if isinstance(d, DeviceSpec) else DeviceSpec.from_string(d) for d in global_devices or []]
        kinds = {spec.device_type for spec in every}
        if None in kinds:
            raise ValueError("device_type is required")
        if len(kinds) > 1:
            raise ValueError(f"Devices containing multiple device_types : {kinds}")
        if use_xla_spmd and kinds != {"TPU"}:
            raise ValueError(f"XLA SPMD is not currently not supported for {kinds.pop()} mesh.")
        self._set(mesh_name, dict(zip(dim_names, global_device_ids.shape, strict=True)), numbers, local_device_ids)
        self._local_devices[:] = [d.to_string() if isinstance(d, DeviceSpec) else d for d in local_devices]
        self._global_devices[:] = [d.to_string() if isinstance(d, DeviceSpec) else d for d in global_devices or []]
        self._use_xla_spmd = use_xla_spmd

    def _set(self, name: str, sizes: dict[str, int], numbers: Sequence[int], local: Sequence[int]) -> None:
        self._name, self._sizes, self._numbers = name, {key: int(size) for key, size in sizes.items()}, list(numbers)
        self._local_ids = [int(number) for number in local]
        self._local_devices, self._global_devices = [], []
        self._use_xla_spmd, self._single_device = False, ""

    @classmethod
    def from_string(cls, mesh_str: str) -> Mesh:
        """Parses what `to_string` returns."""
        mesh = object.__new__(cls)
        name, *parts = mesh_str.split("|")
        if not parts:
            mesh._set("", {}, [0], [0])
            mesh._single_device = name
            return mesh
        if len(parts) < 4:
            raise ValueError(f"Expected a mesh 'name|dimensions|ids|local ids|devices', and got {mesh_str!r}")
        dims, numbers, local_ids, devices, *more = parts
        sizes = {key: int(size) for key, _, size in (dim.partition("=") for dim in dims.split(",") if dim)}
        mesh._set(name, sizes, [int(i) for i in numbers.split(",")], [int(i) for i in local_ids.split(",") if i])
        mesh._local_devices = [device for device in devices.split(",") if device]
        if more and more[-1] == "use_xla_spmd":
            mesh._use_xla_spmd = bool(more.pop())
        mesh._global_devices = more[0].split(",") if more else []
        return mesh

    @classmethod
    def from_device(cls, device: str) -> Mesh:
        """Returns the mesh of a single device."""
        return cls.from_string(device)

    @classmethod
    def from_proto(cls, proto: Any) -> Mesh:
        """Returns the mesh of a `MeshProto`."""
        if proto.single_device:
            return cls.from_device(proto.single_device)
        mesh = object.__new__(cls)
        sizes = {dim.name: dim.size for dim in proto.mesh_dimensions}
        mesh._set(proto.name, sizes, proto.global_device_ids, proto.local_device_ids)
        mesh._local_devices, mesh._global_devices = list(proto.local_devices), list(proto.global_devices)
        mesh._use_xla_spmd = proto.use_xla_spmd
        return mesh

    def as_proto(self) -> Any:
        """Returns the mesh as a `MeshProto`."""
        proto = generated.message_class("tensorflow.dtensor.MeshProto")()
        if self._single_device:
            proto.single_device = self._single_device
            return proto
        for name, size in self._sizes.items():
            proto.mesh_dimensions.add(name=name, size=size)
        proto.name, proto.use_xla_spmd = self._name, self._use_xla_spmd
        proto.global_device_ids.extend(self._numbers)
        proto.local_device_ids.extend(self._local_ids)
        proto.local_devices.extend(self._local_devices)
        proto.global_devices.extend(self._global_devices)
        return proto

    def to_string(self) -> str:
        """Returns the mesh as text, for `from_string`."""
        if self._single_device:
            return self._single_device
        dims = ",".join(f"{name}={size}" for name, size in self._sizes.items())
        parts = [self._name, dims, ",".join(map(str, self._numbers)), ",".join(map(str, self._local_ids))]
        parts.append(",".join(self._local_devices))
        if self._global_devices:
            parts.append(",".join(self._global_devices))
        return "|".join([*parts, "use_xla_spmd"] if self._use_xla_spmd else parts)

    @property
    def name(self) -> str:
        """The name of the mesh."""
        return self._name

    @property
    def dim_names(self) -> list[str]:
        """The names of the dimensions."""
        return list(self._sizes)

    @property
    def size(self) -> int:
        """The number of devices."""
        return math.prod(self._sizes.values())

    @property
    def single_device(self) -> str:
        """The device of a mesh made by `from_device`; empty for others."""
        return self._single_device

    @property
    def strides(self) -> list[int]:
        """The distance of neighbors in each dimension, in device numbers."""
        sizes = self.shape()
        return [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]

    def shape(self) -> list[int]:
        """Returns the sizes of the dimensions."""
        return list(self._sizes.values())

    def dim_size(self, dim_name: str) -> int:
        """Returns the size of a dimension."""
        if dim_name not in self._sizes:
            raise ValueError(
                f"Dimension {dim_name} does not exist in mesh.Available dimensions: {','.join(self._sizes)}"
            )
        return self._sizes[dim_name]

    def contains_dim(self, dim_name: str) -> bool:
        """Returns whether the mesh has a dimension of this name."""
        return dim_name in self._sizes

    def device_type(self) -> str:
        """Returns the type of the devices, such as `CPU`."""
        device = self._single_device or (*self._local_devices, *self._global_devices)[0]
        return DeviceSpec.from_string(device if device.startswith("/") else f"/{device}").device_type or ""

    def global_device_ids(self) -> np.ndarray[Any, Any]:
        """Returns the numbers of all devices as an array of the shape of the mesh."""
        return np.array(self._numbers, np.int64).reshape(self.shape())

    def global_devices(self) -> list[str]:
        """Returns the devices of all processes, where they were given."""
        return list(self._global_devices)

    def local_device_ids(self) -> list[int]:
        """Returns the numbers of this process' devices."""
        return list(self._local_ids)

    def local_devices(self) -> list[str]:
        """Returns the devices of this process."""
        return list(self._local_devices)

    def num_local_devices(self) -> int:
        """Returns the number of this process' devices."""
        return len(self._local_devices)

    def min_global_device_id(self) -> int:
        """Returns the first device number."""
        return min(self._numbers)

    def is_remote(self) -> bool:
        """Returns whether all devices belong to other processes."""
        return not self._local_ids and not self._single_device

    def is_single_device(self) -> bool:
        """Returns whether the mesh was made by `from_device`."""
        return bool(self._single_device)

    def use_xla_spmd(self) -> bool:
        """Returns the setting of the constructor."""
        return self._use_xla_spmd

    def host_mesh(self) -> Mesh:
        """Returns the mesh of the same shape on CPUs."""
        if self.device_type() == "CPU":
            return self
        mesh = Mesh.from_string(self.to_string())
        mesh._local_devices = [
            DeviceSpec.from_string(d).replace(device_type="CPU").to_string() for d in mesh._local_devices
        ]
        mesh._global_devices = [
            DeviceSpec.from_string(d).replace(device_type="CPU").to_string() for d in mesh._global_devices
        ]
        return mesh

    def coords(self, device_idx: int) -> Tensor:
        """Returns the coordinates of a device, by its number, as a tensor."""
        sizes = zip(self.strides, self.shape(), strict=True)
        return to_tensor([(int(device_idx) // stride) % size for stride, size in sizes])

    def unravel_index(self) -> dict[int, dict[str, int]]:
        """Returns the location of every device: its index in each dimension."""
        positions = itertools.product(*(range(size) for size in self._sizes.values()))
        return {i: dict(zip(self._sizes, position, strict=True)) for i, position in enumerate(positions)}

    def device_location(self, device_id: int) -> list[int]:
        """Returns the indices of a device, by its number."""
        return list(self.unravel_index()[device_id - self.min_global_device_id()].values())

    def local_device_locations(self) -> list[dict[str, int]]:
        """Returns the locations of this process' devices."""
        locations = self.unravel_index()
        return [locations[number] for number in self._local_ids]

    def __contains__(self, dim_name: object) -> bool:
        return dim_name in self._sizes

    def __getitem__(self, dim_name: str) -> MeshDimension:
        return MeshDimension(dim_name, self.dim_size(dim_name))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __repr__(self) -> str:
        return f"Mesh.from_string({self.to_string()})"

    def __reduce__(self) -> tuple[Callable[[str], Mesh], tuple[str]]:
        return Mesh.from_string, (self.to_string(),)


class Layout:
    """How a tensor is split over a mesh: for each axis, the mesh dimension that splits it, or `UNSHARDED`.

    >>> import gradtape as tf
    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> layout = dtensor.Layout(["x", dtensor.UNSHARDED], mesh)
    >>> layout.rank, layout.num_shards(0), layout.is_fully_replicated()
    (2, 1, True)

    Args:
      sharding_specs: a mesh dimension or `UNSHARDED` for each axis of the tensor.
      mesh: the mesh.
    """

    def __init__(self, sharding_specs: list[str], mesh: Mesh) -> None:
        if not isinstance(mesh, Mesh):
            raise ValueError("mesh is not a valid Mesh object.")
        for spec in sharding_specs:
            if spec in (UNSHARDED, MATCH):
                continue
            if list(sharding_specs).count(spec) > 1:
                raise ValueError(
                    f"Mesh dimension {spec} was repeated in sharding specification {sharding_specs}. Mesh dimensions "
                    "must be unique in a layout."
                )
            if spec not in mesh:
                raise ValueError(f"{spec}: A dimension sharding must either be a valid mesh dimension or UNSHARDED.")
        self._specs, self._mesh, self._type = list(sharding_specs), mesh, LayoutType.STATIC

    @classmethod
    def replicated(cls, mesh: Mesh, rank: int) -> Layout:
        """Returns the layout of a tensor that every device has as a whole."""
        return cls([UNSHARDED] * rank, mesh)

    @classmethod
    def batch_sharded(cls, mesh: Mesh, batch_dim: str, rank: int, axis: int = 0) -> Layout:
        """Returns the layout of a tensor of which only `axis` is split."""
        return cls([batch_dim if i == axis else UNSHARDED for i in range(rank)], mesh)

    @classmethod
    def inner_sharded(cls, mesh: Mesh, inner_dim: str, rank: int) -> Layout:
        """Returns the layout of a tensor of which only the last axis is split."""
        return cls.batch_sharded(mesh, inner_dim, rank, axis=rank - 1)

    @classmethod
    def from_single_device_mesh(cls, mesh: Mesh) -> Layout:
        """Returns the layout of tensors on the device of a mesh made by `Mesh.from_device`."""
        if not mesh.is_single_device():
            raise ValueError(f"Expected a mesh made by Mesh.from_device, and got {mesh}")
        layout = cls([], mesh)
        layout._type = LayoutType.SINGLE_DEVICE
        return layout

    @classmethod
    def from_device(cls, device: str) -> Layout:
        """Returns the layout of tensors on a device."""
        return cls.from_single_device_mesh(Mesh.from_device(device))

    @classmethod
    def from_string(cls, layout_str: str) -> Layout:
        """Parses what `to_string` returns."""
        if layout_str.startswith(_SINGLE_DEVICE):
            return cls.from_device(layout_str.removeprefix(_SINGLE_DEVICE))
        specs, separator, mesh = layout_str.partition(" mesh:")
        kind, colon, names = specs.partition(":")
        if not separator or not colon or kind not in ("sharding_specs", "parted"):
            raise ValueError(f"Expected a layout 'sharding_specs:x,unsharded, mesh:...', and got {layout_str!r}")
        layout = cls([name for name in names.split(",") if name], Mesh.from_string(mesh))
        return layout.to_parted() if kind == "parted" else layout

    @classmethod
    def from_proto(cls, layout_proto: Any) -> Layout:
        """Returns the layout of a `LayoutProto`."""
        mesh = Mesh.from_proto(layout_proto.mesh_config)
        if layout_proto.type == LayoutType.SINGLE_DEVICE:
            return cls.from_single_device_mesh(mesh)
        layout = cls([spec.sharding_spec for spec in layout_proto.sharding_specs], mesh)
        return layout.to_parted() if layout_proto.type == LayoutType.PARTED else layout

    def as_proto(self) -> Any:
        """Returns the layout as a `LayoutProto`."""
        proto = generated.message_class("tensorflow.dtensor.LayoutProto")(type=int(self._type))
        for spec in self._specs:
            proto.sharding_specs.add(sharding_spec=spec)
        proto.mesh_config.CopyFrom(self._mesh.as_proto())
        return proto

    def to_string(self) -> str:
        """Returns the layout as text, for `from_string`."""
        if self.is_single_device():
            return f"{_SINGLE_DEVICE}{self._mesh.to_string()}"
        kind = "parted" if self._type is LayoutType.PARTED else "sharding_specs"
        return f"{kind}:{''.join(f'{spec},' for spec in self._specs)} mesh:{self._mesh.to_string()}"

    def to_parted(self) -> Layout:
        """Returns a layout of the same axes, marked as independent of each other."""
        layout = Layout(self._specs, self._mesh)
        layout._type = LayoutType.PARTED
        return layout

    @property
    def type(self) -> LayoutType:
        """The kind of the layout."""
        return self._type

    @property
    def mesh(self) -> Mesh:
        """The mesh."""
        return self._mesh

    @property
    def sharding_specs(self) -> list[str]:
        """A mesh dimension or `UNSHARDED` for each axis."""
        return list(self._specs)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self._specs)

    @property
    def shape(self) -> list[int]:
        """The shape of the mesh."""
        return self._mesh.shape()

    def num_shards(self, idx: int) -> int:
        """Returns the number of parts into which an axis is split."""
        spec = self._specs[idx]
        return 1 if spec in (UNSHARDED, MATCH) else self._mesh.dim_size(spec)

    def is_fully_replicated(self) -> bool:
        """Returns whether every device has the whole tensor."""
        return all(self.num_shards(i) == 1 for i in range(self.rank))

    def is_batch_parallel(self) -> bool:
        """Returns whether at most the first axis is split."""
        return all(spec == UNSHARDED for spec in self._specs[1:])

    def is_single_device(self) -> bool:
        """Returns whether the layout was made by `from_device`."""
        return self._type is LayoutType.SINGLE_DEVICE

    def delete(self, dims: list[int]) -> Layout:
        """Returns the layout without the given axes."""
        removed = dims if isinstance(dims, list) else [dims]
        return Layout([spec for i, spec in enumerate(self._specs) if i not in removed], self._mesh)

    def local_shape_from_global_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """Returns the shape of a component of a tensor."""
        return tuple(size // self.num_shards(i) for i, size in enumerate(global_shape))

    def global_shape_from_local_shape(self, local_shape: Sequence[int]) -> tuple[int, ...]:
        """Returns the shape of the tensor that has components of the given shape."""
        return tuple(size * self.num_shards(i) for i, size in enumerate(local_shape))

    def offset_to_shard(self) -> list[tuple[int, ...]]:
        """Returns the index of the component that each device has: along each axis, the number of the part."""
        return [
            tuple(0 if spec == UNSHARDED else location[spec] for spec in self._specs)
            for location in self._mesh.unravel_index().values()
        ]

    def offset_tuple_to_global_index(self, offset_tuple: Sequence[int]) -> int:
        """Returns the number of a component, by its index."""
        counts = [self.num_shards(i) for i in range(self.rank)]
        return sum(offset * math.prod(counts[i + 1 :]) for i, offset in enumerate(offset_tuple))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __repr__(self) -> str:
        return f"Layout.from_string({self.to_string()})"

    def __reduce__(self) -> tuple[Callable[[str], Layout], tuple[str]]:
        return Layout.from_string, (self.to_string(),)


@cache
def sharding_of(layout: Layout) -> Any:
    """Returns a layout as a `jax.sharding.NamedSharding`; None for a mesh of one device, which needs none."""
    mesh = layout.mesh
    if mesh.size < 2:
        return None
    from ...core import devices
    from ...graph.executors.xla import mesh as xla

    found = []
    for name in mesh.local_devices():
        spec = DeviceSpec.from_string(name)
        device = devices.find(spec.device_type or "CPU", spec.device_index or 0)
        if device is None:
            raise ValueError(
                f"{name} of {mesh} does not exist. tf.config.set_logical_device_configuration makes several logical "
                "devices of one, before the program uses any"
            )
        found.append(device)
    placed = xla.make_mesh(xla.jax_devices(found), mesh.dim_names, mesh.shape())
    return xla.sharding(placed, *(None if spec in (UNSHARDED, MATCH) else spec for spec in layout.sharding_specs))
