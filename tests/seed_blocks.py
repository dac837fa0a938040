"""Blocks of seeds in processes of their own, so that random cases use all cores and an abort costs one block."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

SEEDS_PER_BLOCK = 100


@dataclass(frozen=True)
class Block:
    """Some seeds of one generator."""

    name: str
    seed: int
    count: int


def blocks(name: str, seed: int, count: int) -> list[Block]:
    """Returns the blocks of `count` seeds from `seed`."""
    end = seed + count
    return [Block(name, first, min(SEEDS_PER_BLOCK, end - first)) for first in range(seed, end, SEEDS_PER_BLOCK)]


def run_blocks(work: Sequence[Block], command: Callable[[Block], list[str]], jobs: int) -> dict[str, list[Block]]:
    """Runs `command` with Python for each block, `jobs` at a time, and prints the output of those that fail.

    Returns the failed blocks by name. The processes have one thread for arithmetic each.
    """
    failed: dict[str, list[Block]] = {block.name: [] for block in work}
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    lock, start, done = threading.Lock(), time.monotonic(), 0

    def run(block: Block) -> None:
        nonlocal done
        words = [sys.executable, "-m", *command(block)]
        process = subprocess.run(words, env=environment, text=True, capture_output=True, check=False)
        with lock:
            done += 1
            if process.returncode:
                failed[block.name].append(block)
                last = block.seed + block.count - 1
                print(f"\n=== {block.name}, seeds {block.seed} to {last}, exit code {process.returncode}")
                print(process.stdout, *([process.stderr[-4000:]] if process.returncode != 1 else []), flush=True)
            if sys.stderr.isatty() or done % 20 == 0 or done == len(work):
                print(f"{done} of {len(work)} blocks, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        for future in [pool.submit(run, block) for block in work]:
            future.result()
    return failed
