"""Compares gradtape with the installed peers, as ratios measured in one run: eagerly, compiled, and under Keras.

    python benchmarks/run.py [--tables eager,compiled,keras] [--rounds 16] [--seconds 0.25] [--only mlp,cnn]
                             [--python torch=PATH ...] [--json FILE]

Each library runs in processes of its own, with the Python of `.bench/LIBRARY` if there is one (`make bench-peers`),
else with this one. Rounds are interleaved, so that a busy machine slows all alike; the tables show medians.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import compiled
import eager
import keras_table

HERE = Path(__file__).parent
TABLES = {"eager": eager.report, "compiled": compiled.report, "keras": keras_table.report}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default=",".join(TABLES), help="which, separated by commas")
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=0.25, help="for each work, library and round")
    parser.add_argument("--only", default="", help="names of works, separated by commas")
    parser.add_argument("--python", action="append", default=[], metavar="LIBRARY=PATH")
    parser.add_argument("--json", type=Path, default=HERE / "results.json")
    options = parser.parse_args()

    only = [work for work in options.only.split(",") if work]
    pythons = dict(pair.split("=", 1) for pair in options.python)
    found = json.loads(options.json.read_text()) if options.json.exists() else {}
    for table in options.tables.split(","):
        found |= TABLES[table](only, options.rounds, options.seconds, pythons)
    options.json.write_text(json.dumps(found, indent=1))
    print(f"the numbers are in {options.json}")


if __name__ == "__main__":
    main()
