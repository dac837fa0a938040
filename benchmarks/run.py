"""Compares gradtape with the installed peers, as ratios measured in one run: eagerly, compiled, and under Keras.

    python benchmarks/run.py [--tables eager,compiled,keras,keras2,costs] [--works lstm,crf] [--peers torch]
    python benchmarks/run.py --check      whether all libraries compute the same losses; exit code 1 if not
    python benchmarks/run.py --page       writes the numbers of the last runs into docs/performance.md, and its pictures

Each library runs in processes of its own, with the Python of `.bench/LIBRARY` if there is one (`make bench-peers`),
else with this one. Rounds are interleaved, so that a busy machine slows all alike; the tables show medians.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import check
import costs
import performance_page
from processes import Options
from tables import TABLES

HERE = Path(__file__).parent


def measure(tables: list[str], options: Options, path: Path) -> None:
    """Measures and prints the tables; the numbers are added to those in the file."""
    found = json.loads(path.read_text()) if path.exists() else {}
    for name in tables:
        if name == "costs":
            found[name] = costs.measured(options)
            print("\n".join(costs.sentences(found[name])))
            continue
        results = TABLES[name].measured(options)
        TABLES[name].show(results)
        found[name] = {**found.get(name, {}), **results}
        path.write_text(json.dumps(found, indent=1))
    path.write_text(json.dumps(found, indent=1))
    print(f"the numbers are in {path}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default=",".join([*TABLES, "costs"]), help="which, separated by commas")
    parser.add_argument("--works", default="", help="names of works, separated by commas (default: all)")
    parser.add_argument("--peers", default="", help="libraries, separated by commas (default: all that are installed)")
    parser.add_argument("--rounds", type=int, default=Options.rounds, help="in each, every library has a turn")
    parser.add_argument("--seconds", type=float, default=Options.seconds, help="of a turn")
    parser.add_argument("--busy", action="store_true", help="others use this machine: one core, processor time")
    parser.add_argument("--python", action="append", default=[], metavar="LIBRARY=PATH")
    parser.add_argument("--json", type=Path, default=HERE / "results.json")
    parser.add_argument("--check", action="store_true", help="compare losses instead, at tiny sizes")
    parser.add_argument("--record", action="store_true", help="write down PyTorch's losses for --check")
    parser.add_argument("--page", action="store_true", help="write the last numbers into docs/performance.md")
    parser.add_argument("--usage", help=argparse.SUPPRESS)  # that of `gradtape bench`, if it runs this program
    given = parser.parse_args()
    if given.usage is not None:
        parser.prog, parser.usage = "gradtape bench", given.usage.removeprefix("usage: ")

    works, peers = ([word for word in words.split(",") if word] for words in (given.works, given.peers))
    known = {work for table in TABLES.values() for work in table.titles}
    tables = given.tables.split(",")
    for word in {*tables} - {*TABLES, "costs"}:
        parser.error(f"there is no table {word!r}; there are {', '.join([*TABLES, 'costs'])}")
    for word in {*works} - known:
        parser.error(f"there is no work {word!r}; there are {', '.join(sorted(known))}")
    pythons = dict(pair.split("=", 1) for pair in given.python)
    options = Options(works, given.rounds, given.seconds, peers, pythons, given.busy)
    if given.record:
        check.record(options)
    elif given.check:
        return 0 if check.check(options) else 1
    elif given.page:
        performance_page.write(json.loads(given.json.read_text()))
    else:
        measure(tables, options, given.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
