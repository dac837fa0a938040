"""DTensors: tensors with a layout. Ops compute on whole values, and return tensors without a layout."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...core import errors
from ...core.scopes import carried, holding
from ...core.tensor import Tensor, wrap
from ...engine.run.convert import to_tensor
from ...engine.run.dispatch import thread
from ...engine.run.namespace import ops
from ...state.variable import Variable
from .layouts import MATCH, UNSHARDED, Layout, Mesh, sharding_of

NAMESPACES = ("experimental.dtensor",)
__all__ = [
    "call_with_layout",
    "check_layout",
    "copy_to_mesh",
    "default_mesh",
    "device_name",
    "fetch_layout",
    "get_default_mesh",
    "is_dtensor",
    "pack",
    "relayout",
    "relayout_like",
    "run_on",
    "unpack",
]

_LAYOUT = "_dtensor_layout"  # the attribute of an eager tensor that makes it a DTensor


class _Scope(threading.local):
    """The mesh of `default_mesh` in this thread."""

    mesh: Mesh | None = None


_scope = carried(_Scope())


def call_with_layout(fn: Callable[..., Any], layout: Layout | None, *args: Any, **kwargs: Any) -> Any:
    """Calls a function that creates a tensor, such as `tf.zeros`, and gives the result a layout.

    >>> import gradtape as tf
    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> x = dtensor.call_with_layout(tf.ones, dtensor.Layout.batch_sharded(mesh, "x", 2), [4, 3])
    >>> dtensor.fetch_layout(x).sharding_specs
    ['x', 'unsharded']

    Args:
      fn: the function.
      layout: the layout of the result; with None, this is `fn(*args, **kwargs)`.
    """
    if layout is None:
        return fn(*args, **kwargs)
    with default_mesh(layout.mesh):
        return relayout(fn(*args, **kwargs), layout)


@contextmanager
def run_on(mesh: Mesh) -> Iterator[None]:
    """Same as `default_mesh`, under its former name.

    >>> import gradtape as tf
    >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> with tf.experimental.dtensor.run_on(mesh):
    ...     print(tf.experimental.dtensor.get_default_mesh() == mesh)
    True
    """
    with default_mesh(mesh):
        yield


@contextmanager
def default_mesh(mesh: Mesh) -> Iterator[None]:
    """Sets the mesh that `get_default_mesh` returns in the block.

    >>> import gradtape as tf
    >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> with tf.experimental.dtensor.default_mesh(mesh):
    ...     print(tf.experimental.dtensor.get_default_mesh() == mesh)
    True
    """
    if not isinstance(mesh, Mesh):
        raise ValueError(f"Expect `mesh` to be `Mesh`, got {type(mesh)}")
    with holding(_scope, mesh=mesh):
        yield


def get_default_mesh() -> Mesh | None:
    """Returns the mesh of the innermost `default_mesh`, or None.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.get_default_mesh()
    """
    return _scope.mesh


def device_name() -> str:
    """Returns the name that TensorFlow gives to the device of all DTensors.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.device_name()
    '/job:localhost/replica:0/task:0/device:CUSTOM:0'
    """
    return "/job:localhost/replica:0/task:0/device:CUSTOM:0"


def layout_of(value: Any) -> Layout | None:
    """Returns the layout of a DTensor or of a `DVariable`; None for others."""
    if isinstance(value, Variable):
        found = getattr(value, "layout", None)
        return found if isinstance(found, Layout) else None
    return vars(value).get(_LAYOUT) if isinstance(value, Tensor) else None


def is_dtensor(tensor: Any) -> bool:
    """Returns whether a value has a layout.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.is_dtensor(tf.constant(1.0))
    False
    """
    return layout_of(tensor) is not None


def fetch_layout(tensor: Tensor) -> Layout:
    """Returns the layout of a DTensor.

    >>> import gradtape as tf
    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> dtensor.fetch_layout(dtensor.copy_to_mesh(1.0, dtensor.Layout.replicated(mesh, 0))).rank
    0
    """
    if thread.trace is not None:
        raise RuntimeError("`fetch_layout` must be called eagerly: a function's values get their layouts from XLA")
    layout = layout_of(tensor)
    if layout is None:
        raise errors.InvalidArgumentError(
            "FetchLayout expects a tensor placed on the layout device. Give it a layout by copy_to_mesh or relayout: "
            "the result of an eager op has none"
        )
    return layout


def check_layout(tensor: Tensor, layout: Layout) -> None:
    """Raises a ValueError unless a DTensor has this layout.

    >>> import gradtape as tf
    >>> dtensor = tf.experimental.dtensor
    >>> layout = dtensor.Layout.replicated(dtensor.create_mesh([("x", 1)], devices=["CPU:0"]), 0)
    >>> dtensor.check_layout(dtensor.copy_to_mesh(1.0, layout), layout)
    """
    if fetch_layout(tensor) != layout:
        raise ValueError(f"Layout of tensor: {fetch_layout(tensor)}, did not match expected layout: {layout}")


def copy_to_mesh(tensor: Any, layout: Layout, source_layout: Layout | None = None) -> Tensor:
    """Returns a tensor as a DTensor. `source_layout` is ignored, as in TensorFlow.

    >>> import gradtape as tf
    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> dtensor.copy_to_mesh([1.0, 2.0], dtensor.Layout.replicated(mesh, 1)).numpy().tolist()
    [1.0, 2.0]
    """
    return relayout(tensor, layout)


def relayout(tensor: Any, layout: Layout, name: str | None = None) -> Tensor:
    """Returns the tensor with another layout; in a function, XLA is asked to lay the value out in this way.

    >>> import gradtape as tf
    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> dtensor.fetch_layout(dtensor.relayout([1.0, 2.0], dtensor.Layout(["x"], mesh))).sharding_specs
    ['x']

    Args:
      tensor: a tensor, with or without a layout.
      layout: the layout; an axis with `MATCH` keeps the one that it has.
    """
    x = to_tensor(tensor)
    layout = _matched(layout, layout_of(tensor))
    if thread.trace is None or isinstance(x.dims, tuple):
        check_shape(layout, x.shape.as_list())
    if thread.trace is not None:
        sharding = sharding_of(layout)
        if sharding is None:
            return ops.identity(x)  # type: ignore[no-any-return]
        from ...graph.executors.xla.constraint import laid_out

        return laid_out(x, sharding)
    return _with_layout(ops.identity(x), layout)


def relayout_like(tensor: Any, layout_tensor: Any, name: str | None = None) -> Tensor:
    """Returns the tensor with the layout of another one; in a function, returns it as it is.

    >>> import gradtape as tf
    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> x = dtensor.copy_to_mesh([1.0, 2.0], dtensor.Layout(["x"], mesh))
    >>> dtensor.fetch_layout(dtensor.relayout_like([3.0, 4.0], x)).sharding_specs
    ['x']
    """
    if thread.trace is not None:
        return ops.identity(to_tensor(tensor))  # type: ignore[no-any-return]
    return relayout(tensor, fetch_layout(layout_tensor))


def pack(tensors: Sequence[Any], layout: Layout) -> Tensor:
    """Returns the DTensor that has the given components, one for each device of this process.

    Devices that have the same part of the tensor must have equal components; the first of them is used.

    >>> import gradtape as tf
    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> dtensor.pack([[1.0, 2.0]], dtensor.Layout(["x"], mesh)).numpy().tolist()
    [1.0, 2.0]
    """
    _check_eager("pack")
    count = 1 if layout.is_single_device() else layout.mesh.num_local_devices()
    if len(tensors) != count:
        raise errors.InvalidArgumentError(
            f"The dtensor device {device_name()} expected {count} inputs to DTensorPack, but got {len(tensors)}"
        )
    parts = [to_tensor(tensor) for tensor in tensors]
    if layout.is_single_device():
        return _with_layout(ops.identity(parts[0]), layout)
    first = parts[0]
    for part in parts:
        if part.dtype != first.dtype or part.dims != first.dims:
            raise errors.InvalidArgumentError(
                "The components of a DTensor must have the same shape and dtype. "
                f"Got {part.dtype.name}{list(part.dims)} and {first.dtype.name}{list(first.dims)}"
            )
    if len(first.dims) != layout.rank:
        raise errors.InvalidArgumentError(f"Components of rank {len(first.dims)} do not match the layout {layout}")
    whole = np.empty(layout.global_shape_from_local_shape(first.dims), np.asarray(first.array).dtype)
    # Backwards: of equal components, that of the first device remains.
    for part, index in zip(reversed(parts), reversed(layout.offset_to_shard()), strict=True):
        whole[_region(index, first.dims)] = part.array
    return _with_layout(wrap(whole[()], first.dtype), layout)


def unpack(tensor: Any) -> list[Tensor]:
    """Returns the components of a DTensor, one for each device of this process.

    >>> import gradtape as tf
    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> x = dtensor.copy_to_mesh([1.0, 2.0], dtensor.Layout(["x"], mesh))
    >>> [part.numpy().tolist() for part in dtensor.unpack(x)]
    [[1.0, 2.0]]
    """
    _check_eager("unpack")
    layout = layout_of(tensor)
    if layout is None:
        raise errors.InvalidArgumentError("DTensorUnpack expects a tensor placed on the layout device.")
    x = to_tensor(tensor)
    if layout.is_single_device():
        return [ops.identity(x)]
    shape = layout.local_shape_from_global_shape(x.dims)
    whole = np.asarray(x.array)
    return [wrap(whole[_region(index, shape)].copy()[()], x.dtype) for index in layout.offset_to_shard()]


def _region(index: Sequence[int], shape: Sequence[int]) -> tuple[slice, ...]:
    """Returns the region of a tensor that the component with this index has."""
    return tuple(slice(i * size, (i + 1) * size) for i, size in zip(index, shape, strict=True))


def _check_eager(what: str) -> None:
    if thread.trace is not None:
        raise RuntimeError(f"`{what}` must be called eagerly.")


def _with_layout(tensor: Tensor, layout: Layout) -> Tensor:
    vars(tensor)[_LAYOUT] = layout
    return tensor


def _matched(layout: Layout, present: Layout | None) -> Layout:
    """Returns the layout with the present specs in place of `MATCH`."""
    specs = layout.sharding_specs
    if MATCH not in specs:
        return layout
    before = [UNSHARDED] * len(specs) if present is None else present.sharding_specs
    return Layout([old if spec == MATCH else spec for spec, old in zip(specs, before, strict=True)], layout.mesh)


def check_shape(layout: Layout, shape: Sequence[int | None] | None) -> None:
    """Raises TensorFlow's error if a value of this shape cannot have the layout; None stands for unknown sizes."""
    if shape is None or layout.is_single_device():
        return
    if len(shape) != layout.rank:
        raise errors.UnknownError(
            f"'tf.DTensorLayout' op requires matching rank for layout and input, but got {layout.rank} as suggested "
            f"rank from layout but {len(shape)} from shape."
        )
    for axis, size in enumerate(shape):
        if size is not None and size % layout.num_shards(axis):
            raise errors.UnknownError(
                f"'tf.DTensorLayout' op requires dimension {axis} to be divisible by sharding specified in "
                f"DTensorLayout, but got dimension size={size} is not divisible by number of shards in layout for "
                f"this dimension={layout.num_shards(axis)}."
            )
