"""`python -m random_programs --count N --seed SEED`: generates and checks programs.

With `--tensorflow PYTHON`, an interpreter that has TensorFlow, each program is also compared with TensorFlow. With
`--kernels`, programs on larger arrays are compared with gradtape without PyTorch's kernels instead.
"""

from __future__ import annotations

import argparse
import sys
import time

from seed_blocks import Block, blocks, run_blocks

from .comparison import disagreements
from .generator import generate
from .other_processes import numpy_kernels, tensorflow
from .shrinking import shrunk


def main() -> int:
    """Prints the number of failures; the exit code is 1 if there are any."""
    parser = argparse.ArgumentParser(prog="random_programs", description="eager ≡ function ≡ XLA on random programs")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--xla", type=int, default=3, help="one in so many programs is compiled by XLA too; 0: none")
    parser.add_argument("--keep", action="store_true", help="failures are not made smaller")
    parser.add_argument("--tensorflow", help="an interpreter that has TensorFlow, to compare with as well")
    parser.add_argument("--kernels", action="store_true", help="compare PyTorch's kernels with NumPy's instead")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    given = parser.parse_args()
    if given.jobs > 1:
        return _in_processes(given)
    processes = {"numpy": numpy_kernels()} if given.kernels else {}
    if given.tensorflow:
        processes["tensorflow"] = tensorflow(given.tensorflow)
    failures, start = 0, time.monotonic()
    for seed in range(given.seed, given.seed + given.count):
        program = generate(seed, is_large=given.kernels)
        ways = [] if given.kernels else ["function"] + ["xla"] * (given.xla and seed % given.xla == 0)
        found = disagreements(program, (*ways, *processes), processes)
        if found:
            failures += 1
            print(f"\n=== program {seed} ({program.mode}): " + "\n    ".join(found), flush=True)
            if not given.keep:
                way = tuple(words.partition(":")[0] for words in found[:1])
                smaller = shrunk(program, lambda p, way=way: bool(disagreements(p, way, processes)))
                print("\n".join(disagreements(smaller, way, processes)))
                print(smaller.source(alone=True), flush=True)
        done = seed + 1 - given.seed
        if done % 50 == 0:
            print(
                f"{done} programs, {failures} failures, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True
            )
    print(f"{given.count} programs from seed {given.seed}: {failures} failures")
    return int(failures > 0)


def _in_processes(given: argparse.Namespace) -> int:
    """Runs the programs with `--jobs` processes."""
    flags = [f"--{name}" for name in ("keep", "kernels") if getattr(given, name)]
    flags += ["--tensorflow", given.tensorflow] if given.tensorflow else []

    def command(block: Block) -> list[str]:
        seeds = ["--count", str(block.count), "--seed", str(block.seed), "--xla", str(given.xla)]
        return [block.name, *seeds, *flags]

    bad = run_blocks(blocks("random_programs", given.seed, given.count), command, given.jobs)["random_programs"]
    outcome = f"failures in {len(bad)} blocks of seeds" if bad else "0 failures"
    print(f"{given.count} programs from seed {given.seed}: {outcome}")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
