"""TensorFlow's own tests of `tf.distribute`, file by file, on TensorFlow and on gradtape.

    python tools/distribute_suite SOURCES --tensorflow path/of/tensorflow/bin/python --save results.json
    python tools/distribute_suite SOURCES --baseline results.json values tf_function    # TensorFlow's from before

SOURCES is a checkout of TensorFlow, or a git directory of it, of which `--revision` is taken: the version that is
installed. The tests are copied into a temporary folder; nothing of them is kept. `tools/tensorflow_tests` runs each
file with four logical CPUs, on both in the same way:

- The lists of strategies and the base classes of tests are TensorFlow's own files, `strategy_combinations.py` and
  `strategy_test_lib.py`, as they are. What makes tests of them, `combinations` and the decorators of `test_util`, is
  replaced: each test is run with the default strategy, one device, mirrored ones of one and two CPUs (in the place of
  GPUs too), and several workers of which there is this one, with one CPU; combinations that come out the same are run
  once. Those with graphs of TensorFlow 1, TPUs, parameter servers, central storage and no `merge_call` are left out.
- On gradtape a private module has those of its names that are public in TensorFlow, as gradtape's, what `gradtape run`
  serves to libraries, and what `COUNTERPARTS` has. The rest fails when it is used.

A test that takes more than a minute has failed. `tools/tensorflow_tests/rule.py` has the rule by which a test *relies
on private APIs*.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tensorflow_tests"))

from runner import Suite, extracted, print_failures, print_header, print_row

FILES = (
    "values", "vars", "distributed_variable", "strategy_common", "strategy_gather", "custom_training_loop_gradient",
    "custom_training_loop_input", "mirrored_strategy", "mirrored_variable", "distribute_lib", "per_replica",
    "one_device_strategy", "moving_averages", "tf_function", "input_lib", "input_lib_type_spec", "random_generator",
    "sharded_variable", "collective_util", "collective_all_reduce_strategy",
)  # the others are of TPUs, parameter servers, processes and the machinery itself, or all private  # fmt: skip


def main() -> None:
    """Runs the tests and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path, help="a checkout of TensorFlow, or its git directory")
    parser.add_argument("files", nargs="*", help="tests, as values or tf_function")
    parser.add_argument("--revision", default="HEAD", help="which of the git directory")
    parser.add_argument("--tensorflow", help="a Python that has TensorFlow")
    parser.add_argument("--baseline", type=Path, help="a file that was saved: TensorFlow's results are taken from it")
    parser.add_argument("--save", type=Path, help="write what came of each test into this JSON file")
    parser.add_argument("--show", action="store_true", help="print the tests that fail here, and why")
    arguments = parser.parse_intermixed_args()
    before = json.loads(arguments.baseline.read_text()) if arguments.baseline else {}
    results: dict[str, Any] = {}
    print_header()
    with tempfile.TemporaryDirectory() as folder:
        sources = extracted(arguments.sources.resolve(), arguments.revision, Path(folder))
        suite = Suite(sources, Path(folder), arguments.tensorflow, cpus=4)
        for file in arguments.files or FILES:
            path = f"distribute/{file}"
            results[file] = suite.compared(path, before.get(file) or suite.on_tensorflow(path))
            tests = results[file]["tests"]
            print_row(file, list(tests.values()))
            if arguments.show:
                print_failures(tests)
            if arguments.save:
                arguments.save.write_text(json.dumps(results, indent=0))
    print_row("all", [test for found in results.values() for test in found["tests"].values()])


if __name__ == "__main__":
    main()
