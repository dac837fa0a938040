"""The Jacobian of a reaction-diffusion residual, a five-point stencil on 20,000 cells: sparse beside dense.

    python benchmarks/sparse_jacobian.py [--cells 100x200] [--share 0.02]

The sparse one is checked against the stencil's own entries, and solves for a step of Newton's. The dense one has a row
for each cell, so it is made a chunk of rows at a time: of these a share is timed, as the others take as long; the time
printed is that of the whole, by proportion, and the memory that of the whole matrix, which has to be held. Times are
the processor's, so that others on the machine do not count; the first run, which imports and compiles, is not counted.
"""

from __future__ import annotations

import argparse
import statistics
import time
import tracemalloc

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

import gradtape as tf
from gradtape.engine.derivatives import coloring

CHUNK = 200  # rows of the dense Jacobian that are computed together


def residual_of(u):
    """What is left of a reaction u - u³ and of diffusion to the four cells around, on a torus."""
    around = sum(tf.roll(u, shift, axis) for shift in (1, -1) for axis in (0, 1))
    return around - 4.0 * u + u - u**3


def recorded(u):
    with tf.GradientTape() as tape:
        residual = residual_of(u)
    return tape, residual


def expected(u: np.ndarray) -> sparse.csr_array:
    """The same Jacobian by hand."""
    cells = np.arange(u.size).reshape(u.shape)
    neighbours = [np.roll(cells, shift, axis).ravel() for shift in (1, -1) for axis in (0, 1)]
    rows = np.concatenate([cells.ravel()] * 5)
    columns = np.concatenate([*neighbours, cells.ravel()])
    values = np.concatenate([np.ones(4 * u.size), (-3.0 - 3.0 * u**2).ravel()])
    return sparse.csr_array((values, (rows, columns)), shape=(u.size, u.size))


def measured(work):
    """What `work` gives, its seconds, and the bytes it needs at its peak."""
    found = work()
    times = []
    for _ in range(5):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    seconds = statistics.median(times)
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found, seconds, peak


def some_rows(u, count: int) -> float:
    """Seconds of the first rows of the dense Jacobian, a chunk at a time."""
    with tf.GradientTape(persistent=True) as tape:
        flat = tf.reshape(residual_of(u), (-1,))
        parts = [flat[i : i + CHUNK] for i in range(0, count, CHUNK)]
    tape.jacobian(parts[0], u)
    start = time.process_time()
    for part in parts:
        tape.jacobian(part, u)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default="100x200", help="of the grid")
    parser.add_argument("--share", type=float, default=0.02, help="of the dense rows, which are timed")
    given = parser.parse_args()
    shape = tuple(map(int, given.cells.split("x")))
    u = tf.Variable(np.random.default_rng(0).normal(size=shape))
    cells = u.numpy().size

    def jacobian():
        tape, residual = recorded(u)
        return tape.jacobian(residual, u, sparse=True)

    found, seconds, peak = measured(jacobian)
    difference = abs(found - expected(u.numpy())).max()
    sweeps = coloring.count(coloring.coloring(found))
    print(f"sparse: {cells} cells, {found.nnz} entries, {sweeps} sweeps, {difference:.1e} from the stencil's own")
    print(f"sparse: {seconds:.2f} s, {peak / 2**20:.1f} MiB at the peak")

    rows = max(CHUNK, int(given.share * cells) // CHUNK * CHUNK)
    dense_seconds, dense_bytes = some_rows(u, rows) * cells / rows, cells * cells * u.dtype.size
    print(f"dense: {dense_seconds:.1f} s by proportion from {rows} rows, {dense_bytes / 2**20:.0f} MiB for the matrix")
    print(f"sparse / dense: 1/{dense_seconds / seconds:.0f} of the time, 1/{dense_bytes / peak:.0f} of the memory")

    u.assign(tf.ones_like(u) + 0.1 * u)
    tape, residual = recorded(u)
    step = spsolve(tape.jacobian(residual, u, sparse=True).tocsc(), residual.numpy().ravel())
    u.assign_sub(step.reshape(shape))
    print(f"one step of Newton's: |residual| from {norm(residual):.2e} to {norm(residual_of(u)):.2e}")


def norm(x) -> float:
    return float(tf.norm(x))


if __name__ == "__main__":
    main()
