"""The command line: `gradtape run train.py` and other commands, also as `python -m gradtape`."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

import gradtape

_REPORTED = 3  # exit code of `run --trace --exit-code` if any gradient problem was reported
_EXIT_CODES = "exit codes: 0 success, 1 problems were found (check, doctor), 2 invalid command line"

# The command lines at the end of each help page, with what they do.
_EXAMPLES = {
    "": (
        ("gradtape run train.py", "run a TensorFlow program without TensorFlow"),
        ("gradtape run --trace train.py", "and explain gradients that are None, zero or not finite"),
        ("gradtape check .", "list the names that the programs in a folder use and gradtape lacks"),
    ),
    "run": (
        ("gradtape run train.py --epochs 3", "pass the program its own arguments"),
        ("gradtape run --trace train.py", "explain gradients that are None, zero or not finite"),
        ("gradtape run --trace --exit-code train.py", "and exit with 3 if there were any"),
        ("gradtape run -m pytest tests", "run tests of programs that import tensorflow"),
    ),
    "launch": (
        ("gradtape launch -n 4 train.py", "start four processes on this host"),
        ("gradtape launch --hosts a,b --rank 1 train.py", "start the processes of host b"),
        ("gradtape launch -n 4 --restarts 2 -m package.train", "restart after failures, twice at most"),
    ),
    "check": (
        ("gradtape check train.py", "list names that are missing, or whose results differ"),
        ("gradtape check --all notebooks src", "list all names in folders of notebooks and scripts"),
        ("gradtape check --json train.py", "print everything for another program"),
    ),
    "compare": (
        ("gradtape compare before.tape after.tape", "show where two runs of a step diverge"),
        ("gradtape compare --tolerance 1e-5 cpu.tape gpu.tape", "ignore differences due to rounding"),
    ),
    "doctor": (
        ("gradtape doctor", "show versions, devices and extras, and test them"),
        ("gradtape doctor --no-test --json", "print them for a bug report, without tests"),
    ),
    "bench": (
        ("gradtape bench --works black_scholes --seconds 1", "measure one program for a short time"),
        ("gradtape bench --peers torch --python torch=.torch/bin/python", "compare with another environment"),
    ),
    "demo": (("gradtape demo --epochs 2 --picture loss.png", "train for two epochs and draw the losses"),),
}


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Wraps descriptions, but not the examples below the options."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:"):
            return super()._fill_text(text, width, indent)
        return argparse.HelpFormatter._fill_text(self, text, width, indent)


class _Parser(argparse.ArgumentParser):
    """An argument parser that suggests the closest command for an unknown one."""

    commands: Sequence[str] = ()
    given: str = ""

    def error(self, message: str) -> NoReturn:
        near = difflib.get_close_matches(self.given, self.commands, n=1, cutoff=0.5)
        if near and self.given not in self.commands:
            message = f"there is no command {self.given!r}. Did you mean `gradtape {near[0]}`?"
        super().error(message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    parser = _parser()
    if not words:
        parser.print_help(sys.stderr)
        raise SystemExit(2)
    parser.given = next((word for word in words if not word.startswith("-")), "")
    options = parser.parse_args(words)
    perform: Callable[[argparse.Namespace], int] = options.perform
    if perform is _run:  # exceptions of the user's program propagate
        return perform(options)
    try:
        code = perform(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader closed the pipe, as in `gradtape check . | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _end_of_help(command: str, exit_codes: str = "") -> str:
    """Returns the examples of a command, and its exit codes."""
    examples = _EXAMPLES[command]
    width = max(len(line) for line, _ in examples)
    lines = ["examples:", *(f"  {line:{width}}  {purpose}" for line, purpose in examples)]
    return "\n".join(lines + ["", exit_codes] * bool(exit_codes))


def _parser() -> _Parser:
    parser = _Parser(
        prog="gradtape",
        description="A pure-Python implementation of TensorFlow's GradientTape. No TensorFlow required.",
        epilog=_end_of_help("", _EXIT_CODES),
        formatter_class=_HelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"gradtape {gradtape.__gradtape_version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=argparse.ArgumentParser)

    run = commands.add_parser(
        "run",
        help="run a program with gradtape in place of TensorFlow",
        usage="gradtape run [--trace [--exit-code]] (SCRIPT | -m MODULE | -c COMMAND) [ARGUMENT ...]",
        description="Runs a program like `python`, but `import tensorflow` and `import keras` resolve to gradtape. "
        "Affects only this process and the processes that it starts with the same interpreter.",
        epilog=_end_of_help("run"),
        formatter_class=_HelpFormatter,
    )
    run.add_argument(
        "--trace", action="store_true", help="explain each gradient that is None, zero or not finite when it occurs"
    )
    run.add_argument(
        "--exit-code",
        action="store_true",
        help=f"with --trace: exit with {_REPORTED} if any gradient problem was reported and the program did not fail",
    )
    kind = run.add_mutually_exclusive_group()
    kind.add_argument("-m", dest="kind", action="store_const", const="module", help="SCRIPT is the name of a module")
    kind.add_argument("-c", dest="kind", action="store_const", const="command", help="SCRIPT is Python code")
    run.add_argument("target", metavar="SCRIPT", help="a file, or a folder or archive with a `__main__.py`, or -")
    arguments = run.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="for the program")
    arguments.required = False  # in error messages
    run.set_defaults(perform=_run, kind="script")

    launch = commands.add_parser(
        "launch",
        help="run a program in several processes that train together",
        usage="gradtape launch [-n N] [OPTION ...] (SCRIPT | -m MODULE | -c COMMAND) [ARGUMENT ...]",
        description="Runs a program like `gradtape run`, in several processes. Each process gets its rank from "
        "gradtape.distribute.rank(), or is a worker of MultiWorkerMirroredStrategy. Output lines are prefixed with the "
        "rank. When a process fails, the launcher ends the others and exits with its exit code.",
        epilog=_end_of_help("launch"),
        formatter_class=_HelpFormatter,
    )
    launch.add_argument("-n", dest="count", type=int, help="processes on this host (default: one per GPU, or 1)")
    launch.add_argument("--hosts", default="", help="a,b: all hosts, rank 0 first; start a launcher on each")
    launch.add_argument("--rank", type=int, default=0, help="index of this host, from 0")
    launch.add_argument("--port", type=int, help="port of rank 0 (default: a free port; with --hosts, 29400)")
    launch.add_argument("--timeout", type=float, help="seconds that processes wait for each other (default: 300)")
    launch.add_argument("--restarts", type=int, default=0, help="number of restarts after failures (default: 0)")
    launch.add_argument("--no-bind", action="store_true", help="do not bind each process to its own cores")
    kind = launch.add_mutually_exclusive_group()
    kind.add_argument("-m", dest="kind", action="store_const", const="-m", help="SCRIPT is the name of a module")
    kind.add_argument("-c", dest="kind", action="store_const", const="-c", help="SCRIPT is Python code")
    launch.add_argument("target", metavar="SCRIPT", help="a file, or a folder or archive with a `__main__.py`")
    arguments = launch.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="for the program")
    arguments.required = False  # in error messages
    launch.set_defaults(perform=_launch, kind=None)

    check = commands.add_parser(
        "check",
        help="list the TensorFlow names that programs use: supported, different, missing",
        description="Lists the TensorFlow names that programs and notebooks use, without running them.",
        epilog=_end_of_help(
            "check", "exit codes: 0 no name is missing, 1 some names are missing, 2 a file could not be read"
        ),
        formatter_class=_HelpFormatter,
    )
    check.add_argument("paths", metavar="PATH", nargs="+", help="a script, a notebook, or a folder")
    check.add_argument("--all", action="store_true", help="also list supported names")
    check.add_argument("--json", action="store_true", help="print JSON")
    check.set_defaults(perform=_check)

    compare = commands.add_parser(
        "compare",
        help="show where two recordings of a step, written by tape.save, diverge",
        description="Names the first input or op at which two recordings differ, with the values.",
        epilog=_end_of_help("compare", "exit codes: 0 identical, 1 different, 2 a file could not be read"),
        formatter_class=_HelpFormatter,
    )
    compare.add_argument("first", metavar="A.tape", help="a file written by tape.save")
    compare.add_argument("second", metavar="B.tape", help="a recording of the same step from another run")
    compare.add_argument("--tolerance", type=float, default=0.0, help="relative differences to ignore (default: 0)")
    compare.set_defaults(perform=_compare)

    doctor = commands.add_parser(
        "doctor",
        help="show versions, devices and optional dependencies, and test them",
        description="Shows what gradtape finds on this machine, and runs tests for a few seconds.",
        epilog=_end_of_help("doctor", "exit codes: 0 all tests pass, 1 a test fails"),
        formatter_class=_HelpFormatter,
    )
    doctor.add_argument("--no-test", action="store_true", help="skip the tests")
    doctor.add_argument("--json", action="store_true", help="print JSON")
    doctor.set_defaults(perform=_doctor)

    bench = commands.add_parser(
        "bench",
        help="compare the speed of gradtape with installed libraries",
        description="Runs the project's benchmark: gradtape's time divided by that of PyTorch, TensorFlow, JAX and "
        "HIPS autograd, for whichever of these are installed. Takes several minutes.",
        epilog=_end_of_help("bench"),
        formatter_class=_HelpFormatter,
    )
    bench.add_argument("--tables", help="tables to measure, separated by commas (default: all)")
    bench.add_argument("--works", help="programs to measure, separated by commas (default: all)")
    bench.add_argument("--peers", help="libraries to compare with, separated by commas (default: all installed ones)")
    bench.add_argument("--rounds", help="rounds, with one turn per library each; the result is the median")
    bench.add_argument("--seconds", help="seconds per turn")
    bench.add_argument("--python", action="append", metavar="LIBRARY=PATH", help="the Python interpreter for a library")
    bench.add_argument("--json", help="output file for the numbers (default: gradtape_bench.json)")
    bench.set_defaults(perform=_bench, usage=bench.format_usage)

    demo = commands.add_parser(
        "demo",
        help="train a small network on handwritten digits",
        description="Trains a Keras CNN on handwritten digits, with `fit` and with a GradientTape loop; without Keras, "
        "a network of three layers with a tape.",
        epilog=_end_of_help("demo"),
        formatter_class=_HelpFormatter,
    )
    demo.add_argument("--epochs", type=int, help="number of epochs")
    demo.add_argument("--picture", help="output file for the loss curves (default: gradtape_demo.png)")
    demo.set_defaults(perform=_demo)

    parser.commands = tuple(commands.choices)
    return parser


def _run(options: argparse.Namespace) -> int:
    from .run import run

    if options.exit_code and not options.trace:
        print("gradtape run: --exit-code requires --trace", file=sys.stderr)
        return 2

    def program() -> None:
        run(
            options.target,
            options.arguments,
            kind=options.kind,
            trace=options.trace,
            exit_code=_REPORTED if options.exit_code else 0,
        )

    if "GRADTAPE_LAUNCHED" in os.environ:
        from gradtape.distribute.cluster.membership import run_as_rank

        run_as_rank(program)
    else:
        program()
    return 0


def _launch(options: argparse.Namespace) -> int:
    from gradtape.distribute.cluster.membership import check_hosts

    from .launch import Job, launch

    hosts = [host for host in options.hosts.split(",") if host]
    if options.count is not None and options.count < 1:
        raise SystemExit(f"gradtape launch: -n must be 1 or more, got {options.count}")
    if not 0 <= options.rank < max(1, len(hosts)):
        raise SystemExit(f"gradtape launch: --rank must be an index into the {len(hosts)} hosts, got {options.rank}")
    try:
        check_hosts([host.partition(":")[0] for host in hosts])
    except ValueError as error:
        raise SystemExit(f"gradtape launch: {error}") from None
    program = [*([options.kind] if options.kind else []), options.target, *options.arguments]
    return launch(
        Job(program, options.count, hosts, options.rank, options.port, options.timeout, options.restarts,
            not options.no_bind)
    )  # fmt: skip


def _check(options: argparse.Namespace) -> int:
    from .check import check

    return check(options.paths, everything=options.all, as_json=options.json)


def _compare(options: argparse.Namespace) -> int:
    try:
        found = gradtape.inspect.compare(options.first, options.second, options.tolerance)
    except (gradtape.errors.OpError, OSError) as error:
        print(f"gradtape compare: {error}", file=sys.stderr)
        return 2
    print(found)
    return 0 if found.same else 1


def _doctor(options: argparse.Namespace) -> int:
    from .doctor import doctor

    return doctor(test=not options.no_test, as_json=options.json)


def _bench(options: argparse.Namespace) -> int:
    from .shipped import bench

    return bench(vars(options), options.usage())


def _demo(options: argparse.Namespace) -> int:
    from .shipped import demo

    return demo(options.epochs, options.picture)
