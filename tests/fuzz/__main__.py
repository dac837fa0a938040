"""`python -m fuzz [FEATURE ...] --count N --seed SEED --jobs J`: random cases of every or of the named features."""

from __future__ import annotations

import argparse
import sys
import time
import traceback

from seed_blocks import Block, blocks, run_blocks

from . import check, features


def main() -> int:
    """Prints every disagreement and a count per feature; the exit code is 1 if there were any."""
    known = features()
    parser = argparse.ArgumentParser(prog="fuzz", description="random cases against slow, obvious implementations")
    parser.add_argument("features", nargs="*", metavar="FEATURE", help=f"default: all of {', '.join(sorted(known))}")
    parser.add_argument("--count", type=int, default=200, help="cases per feature")
    parser.add_argument("--seed", type=int, default=0, help="of the first case")
    parser.add_argument("--tensorflow", help="an interpreter that has TensorFlow, for the features compared with it")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    options = parser.parse_args()
    unknown = set(options.features) - set(known)
    if unknown:
        parser.error(f"no such feature: {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    if options.jobs > 1:
        return _in_processes(options.features or sorted(known), options)
    failed = False
    for name in options.features or sorted(known):
        failures, start = 0, time.monotonic()
        for seed in range(options.seed, options.seed + options.count):
            try:
                found = check(known[name], seed, options.tensorflow)
            except Exception:
                found = [traceback.format_exc()]
            if found:
                failures += 1
                print(f"\n=== {name} {seed}: " + "\n    ".join(found), flush=True)
            if (seed + 1 - options.seed) % 100 == 0:
                passed = f"{name}: {seed + 1 - options.seed} cases, {failures} failures"
                print(f"{passed}, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
        print(f"{name}: {options.count} cases from seed {options.seed}, {failures} failures", flush=True)
        failed |= failures > 0
    return int(failed)


def _in_processes(names: list[str], options: argparse.Namespace) -> int:
    """Runs the features with `--jobs` processes and prints a line for each."""
    tensorflow = ["--tensorflow", options.tensorflow] if options.tensorflow else []

    def command(block: Block) -> list[str]:
        return ["fuzz", block.name, "--count", str(block.count), "--seed", str(block.seed), *tensorflow]

    # Block by block of all features, so that the slow features do not come last.
    work = sorted((b for name in names for b in blocks(name, options.seed, options.count)), key=lambda b: b.seed)
    failed = run_blocks(work, command, options.jobs)
    for name, bad in failed.items():
        outcome = f"failures in {len(bad)} blocks of seeds" if bad else "0 failures"
        print(f"{name}: {options.count} cases from seed {options.seed}, {outcome}", flush=True)
    return int(any(failed.values()))


if __name__ == "__main__":
    sys.exit(main())
