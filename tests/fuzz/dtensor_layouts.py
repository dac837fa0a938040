"""DTensor layouts on four logical CPUs against slices of NumPy arrays.

A seed determines a mesh of one to three dimensions, a tensor (0-d, empty, of half precision, complex), and two layouts.
The component of each device is the slice at its coordinates. Compared are the components, shapes and offsets, packing
and moving to the other layout, gradients, eagerly and in functions, variables, and layouts read from text and messages.

Devices are configured once per process, so that a process of its own runs the cases.
"""

from __future__ import annotations

import atexit
import functools
import json
import pickle
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np

import gradtape as tf

_MESHES = [[("x", 4)], [("x", 2), ("y", 2)], [("x", 1), ("y", 4)], [("x", 2), ("y", 1), ("z", 2)], [("x", 4), ("y", 1)]]
_DTYPES = ["float32", "float64", "float16", "complex64", "int32", "bool"]


def disagreements(seed: int) -> list[str]:
    worker = _worker()
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.write(f"{seed}\n")
    worker.stdin.flush()
    return json.loads(worker.stdout.readline())


@functools.cache
def _worker() -> subprocess.Popen[str]:
    """Returns a process that answers seeds with differences."""
    process = subprocess.Popen([sys.executable, "-m", f"{__package__}.dtensor_layouts"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               cwd=Path(__file__).parents[1])  # fmt: skip
    atexit.register(process.communicate)  # closes its input, which ends it, and waits
    return process


def _serve() -> None:
    device = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(device, [tf.config.LogicalDeviceConfiguration()] * 4)
    for line in sys.stdin:
        try:
            found = compare(int(line))
        except Exception:
            found = [traceback.format_exc()]
        print(json.dumps(found), flush=True)


def _layout(rng: np.random.Generator, mesh: Any, rank: int) -> Any:
    """Shards each axis over a dimension of the mesh, or over none."""
    names = list(rng.permutation(mesh.dim_names))
    specs = [str(names.pop()) if names and rng.random() < 0.6 else tf.experimental.dtensor.UNSHARDED
             for _ in range(rank)]  # fmt: skip
    return tf.experimental.dtensor.Layout(specs, mesh)


def _parts(x: np.ndarray, layout: Any, sizes: dict[str, int]) -> list[np.ndarray]:
    """Returns the slice of each device, in row-major order of its coordinates."""
    found = []
    for at in np.ndindex(*sizes.values()):
        place = dict(zip(sizes, at, strict=True))
        slices = []
        for axis, name in enumerate(layout.sharding_specs):
            count = sizes.get(name, 1)
            length = x.shape[axis] // count
            start = place.get(name, 0) * length
            slices.append(slice(start, start + length))
        found.append(x[tuple(slices)])
    return found


def compare(seed: int) -> list[str]:
    """Returns the differences of one case."""
    dtensor = tf.experimental.dtensor
    rng = np.random.default_rng(seed)
    sizes = dict(_MESHES[int(rng.integers(len(_MESHES)))])
    mesh = dtensor.create_mesh(list(sizes.items()), device_type="CPU")
    rank = int(rng.integers(0, 4))
    first, second = (_layout(rng, mesh, rank) for _ in range(2))
    shape = [int(rng.integers(0 if rng.random() < 0.1 else 1, 3)) * 4 for _ in range(rank)]
    dtype = str(rng.choice(_DTYPES))
    x = np.asarray(rng.integers(-4, 5, shape) / 2).astype(dtype)
    x = x * np.array(1 + 2j, dtype) if "complex" in dtype else x
    problems = []

    def check(name: str, tensor: Any, layout: Any, expected: np.ndarray = x) -> None:
        for k, (own, wanted) in enumerate(zip(dtensor.unpack(tensor), _parts(expected, layout, sizes), strict=True)):
            if own.dtype.name != expected.dtype.name or own.numpy().tolist() != wanted.tolist():
                problems.append(f"{name}: component {k} is {own.numpy().tolist()} instead of {wanted.tolist()}")
        if dtensor.fetch_layout(tensor) != layout:
            problems.append(f"{name}: layout {dtensor.fetch_layout(tensor)} instead of {layout}")
        if tensor.numpy().tolist() != expected.tolist():
            problems.append(f"{name}: the value is {tensor.numpy().tolist()}")

    laid_out = dtensor.copy_to_mesh(x, first)
    check("copy_to_mesh", laid_out, first)
    check("pack", dtensor.pack(dtensor.unpack(laid_out), first), first)
    check("relayout", dtensor.relayout(laid_out, second), second)
    check("relayout_like", dtensor.relayout_like(tf.constant(x), laid_out), first)
    check("call_with_layout", dtensor.call_with_layout(tf.identity, second, tf.constant(x)), second)
    kept = [name if rng.random() < 0.5 else dtensor.MATCH for name in second.sharding_specs]
    specs = [own if name == dtensor.MATCH else name for name, own in zip(kept, first.sharding_specs, strict=True)]
    named = [name for name in specs if name != dtensor.UNSHARDED]
    if len(set(named)) == len(named):
        check("matched", dtensor.relayout(laid_out, dtensor.Layout(kept, mesh)), dtensor.Layout(specs, mesh))
    problems += _described(first, x, sizes)
    if dtype in ("float32", "float64", "complex64"):
        problems += _gradients(laid_out, second, x)
        variable = dtensor.DVariable(x, layout=first)
        variable.assign_add(x)
        check("variable", variable, first, x + x)
        if rank:
            at = rng.integers(0, max(shape[0], 1), 2) if shape[0] else np.zeros(0, int)
            rows = np.ones((len(at), *shape[1:]), dtype)
            variable.scatter_add(tf.IndexedSlices(rows, tf.constant(at)))
            expected = x + x
            np.add.at(expected, at, rows)
            check("scatter_add", variable, first, expected)
    return [f"{problem} of {dtype} {shape} from {first.sharding_specs} to {second.sharding_specs} on {sizes}"
            for problem in problems]  # fmt: skip


def _described(layout: Any, x: np.ndarray, sizes: dict[str, int]) -> list[str]:
    """Compares shapes, offsets and copies of a layout."""
    dtensor = tf.experimental.dtensor
    copies = [dtensor.Layout.from_string(layout.to_string()), dtensor.Layout.from_proto(layout.as_proto()),
              pickle.loads(pickle.dumps(layout))]  # fmt: skip
    problems = [f"copy {k} is {copy}" for k, copy in enumerate(copies) if copy != layout or hash(copy) != hash(layout)]
    counts = [sizes.get(name, 1) for name in layout.sharding_specs]
    local = tuple(n // count for n, count in zip(x.shape, counts, strict=True))
    if tuple(layout.local_shape_from_global_shape(x.shape)) != local:
        problems.append(f"local shape {layout.local_shape_from_global_shape(x.shape)} instead of {local}")
    if tuple(layout.global_shape_from_local_shape(local)) != x.shape:
        problems.append(f"global shape {layout.global_shape_from_local_shape(local)} instead of {x.shape}")
    places = [dict(zip(sizes, at, strict=True)) for at in np.ndindex(*sizes.values())]
    offsets = [tuple(place.get(name, 0) for name in layout.sharding_specs) for place in places]
    if [tuple(offset) for offset in layout.offset_to_shard()] != offsets:
        problems.append(f"offsets {layout.offset_to_shard()} instead of {offsets}")
    if [layout.num_shards(k) for k in range(layout.rank)] != counts:
        problems.append(f"numbers of shards {[layout.num_shards(k) for k in range(layout.rank)]} instead of {counts}")
    if layout.is_fully_replicated() != all(count == 1 for count in counts):
        problems.append(f"is_fully_replicated is {layout.is_fully_replicated()}")
    return problems


def _gradients(laid_out: Any, layout: Any, x: np.ndarray) -> list[str]:
    """Compares first and second derivatives through a relayout with those without one."""

    def derivatives(x: Any, moves: bool) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.experimental.dtensor.relayout(x, layout) if moves else x
                loss = tf.reduce_sum(y * y * y)
            first = inner.gradient(loss, x)
            total = tf.reduce_sum(first * first)
        return first, outer.gradient(total, x)

    wanted = derivatives(tf.constant(x), False)
    problems = []
    for name, call in (("eager", derivatives), ("function", tf.function(derivatives, autograph=False))):
        for k, (own, other) in enumerate(zip(call(laid_out, True), wanted, strict=True)):
            if own.shape != other.shape or not np.allclose(own, other, rtol=1e-4):
                problems.append(f"{name} derivative {k + 1} is {own.numpy().tolist()} instead of {other.numpy()}")
    return problems


if __name__ == "__main__":
    _serve()
