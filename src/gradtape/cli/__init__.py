"""The command line: `gradtape run train.py` and other commands, also as `python -m gradtape`."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

import gradtape

_REPORTED = 3  # exit code of `run --trace --exit-code` when a gradient was explained
_EXIT_CODES = "exit codes: 0 all is well, 1 something was found (check, doctor), 2 the command was not understood"


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


def _parser() -> _Parser:
    parser = _Parser(
        prog="gradtape",
        description="TensorFlow's GradientTape system, made anew in Python, without TensorFlow.",
        epilog=_EXIT_CODES,
    )
    parser.add_argument("--version", action="version", version=f"gradtape {gradtape.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=argparse.ArgumentParser)

    run = commands.add_parser(
        "run",
        help="run a program with gradtape in the place of TensorFlow",
        usage="gradtape run [--trace [--exit-code]] (SCRIPT | -m MODULE | -c COMMAND) [ARGUMENT ...]",
        description="Runs a program as `python` does, but `import tensorflow` and `import keras` find gradtape. "
        "Nothing outside of the program's process, and the processes it spawns by multiprocessing, changes.",
    )
    run.add_argument(
        "--trace", action="store_true", help="explain each gradient that is None, zero or not finite, as it happens"
    )
    run.add_argument(
        "--exit-code",
        action="store_true",
        help=f"with --trace: exit with {_REPORTED} if something was explained and the program itself did not fail",
    )
    kind = run.add_mutually_exclusive_group()
    kind.add_argument("-m", dest="kind", action="store_const", const="module", help="SCRIPT is the name of a module")
    kind.add_argument("-c", dest="kind", action="store_const", const="command", help="SCRIPT is Python code")
    run.add_argument("target", metavar="SCRIPT", help="a file, or a folder or archive with a `__main__.py`, or -")
    run.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="the program's own arguments")
    run.set_defaults(perform=_run, kind="script")

    launch = commands.add_parser(
        "launch",
        help="run a program in several processes, which train together",
        usage="gradtape launch [-n N] [OPTION ...] (SCRIPT | -m MODULE | -c COMMAND) [ARGUMENT ...]",
        description="Runs a program as `gradtape run` does, several times at once. Each process finds its rank by "
        "gradtape.distribute.rank(), or is a worker of MultiWorkerMirroredStrategy. What they print has the rank in "
        "front; when one fails, the others are ended, and its exit code is that of the launcher.",
    )
    launch.add_argument("-n", dest="count", type=int, help="processes on this host (default: one for each GPU, or 1)")
    launch.add_argument("--hosts", default="", help="a,b: all hosts, the first has rank 0; start a launcher on each")
    launch.add_argument("--rank", type=int, default=0, help="which of the hosts this is, from 0")
    launch.add_argument("--port", type=int, help="where rank 0 listens (default: a free one; with --hosts, 29400)")
    launch.add_argument("--timeout", type=float, help="seconds that processes wait for each other (default: 300)")
    launch.add_argument("--restarts", type=int, default=0, help="how often all begin again after a failure")
    launch.add_argument("--no-bind", action="store_true", help="do not give each process cores of its own")
    kind = launch.add_mutually_exclusive_group()
    kind.add_argument("-m", dest="kind", action="store_const", const="-m", help="SCRIPT is the name of a module")
    kind.add_argument("-c", dest="kind", action="store_const", const="-c", help="SCRIPT is Python code")
    launch.add_argument("target", metavar="SCRIPT", help="a file, or a folder or archive with a `__main__.py`")
    launch.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="the program's own arguments")
    launch.set_defaults(perform=_launch, kind=None)

    check = commands.add_parser(
        "check",
        help="list the TensorFlow names that programs use: supported, different, missing",
        description="Reads programs and notebooks, without running them, and lists the TensorFlow names they use.",
        epilog="exit codes: 0 all names are there, 1 some are missing, 2 a file could not be read",
    )
    check.add_argument("paths", metavar="PATH", nargs="+", help="a script, a notebook, or a folder of them")
    check.add_argument("--all", action="store_true", help="list the names that are supported too")
    check.add_argument("--json", action="store_true", help="print JSON, for programs")
    check.set_defaults(perform=_check)

    compare = commands.add_parser(
        "compare",
        help="say where two recordings of a step, made by tape.save, part",
        description="Names the first input or op in which two recordings differ, with the values.",
        epilog="exit codes: 0 they are the same, 1 they part, 2 a file could not be read",
    )
    compare.add_argument("first", metavar="A.tape", help="a file that tape.save has written")
    compare.add_argument("second", metavar="B.tape", help="another one, of the same step elsewhere")
    compare.add_argument("--tolerance", type=float, default=0.0, help="relative differences that do not count")
    compare.set_defaults(perform=_compare)

    doctor = commands.add_parser(
        "doctor",
        help="show versions, devices and optional parts, and test them",
        description="Shows what gradtape finds on this machine, and tests it for some seconds.",
        epilog="exit codes: 0 all tests pass, 1 one fails",
    )
    doctor.add_argument("--no-test", action="store_true", help="only look, test nothing")
    doctor.add_argument("--json", action="store_true", help="print JSON, for programs")
    doctor.set_defaults(perform=_doctor)

    bench = commands.add_parser(
        "bench",
        help="measure gradtape against the libraries that are installed beside it",
        description="The project's benchmark on this machine: gradtape's time divided by that of PyTorch, TensorFlow, "
        "JAX and HIPS autograd, as far as they are installed. Takes minutes.",
    )
    bench.add_argument("--tables", help="which, separated by commas (default: all)")
    bench.add_argument("--works", help="names, separated by commas (default: all)")
    bench.add_argument("--peers", help="libraries, separated by commas (default: all that are installed)")
    bench.add_argument("--rounds", help="in each, every library has a turn; the median counts")
    bench.add_argument("--seconds", help="of a turn")
    bench.add_argument("--python", action="append", metavar="LIBRARY=PATH", help="the Python that has a library")
    bench.add_argument("--json", help="where the numbers are written (default: gradtape_bench.json)")
    bench.set_defaults(perform=_bench, usage=bench.format_usage)

    demo = commands.add_parser(
        "demo",
        help="train a small network on handwritten digits",
        description="Trains a Keras CNN on handwritten digits, by `fit` and by a GradientTape loop; without Keras, a "
        "network of three layers by a tape alone.",
    )
    demo.add_argument("--epochs", type=int, help="how often all digits are seen")
    demo.add_argument("--picture", help="where the loss curves are drawn (default: gradtape_demo.png)")
    demo.set_defaults(perform=_demo)

    parser.commands = tuple(commands.choices)
    return parser


def _run(options: argparse.Namespace) -> int:
    from .run import run

    if options.exit_code and not options.trace:
        print("gradtape run: --exit-code says whether --trace has explained something: give both", file=sys.stderr)
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
        from gradtape.distribution.cluster import run_as_rank

        run_as_rank(program)
    else:
        program()
    return 0


def _launch(options: argparse.Namespace) -> int:
    from .launch import Job, launch

    hosts = [host for host in options.hosts.split(",") if host]
    if options.count is not None and options.count < 1:
        raise SystemExit(f"gradtape launch: -n must be 1 or more, got {options.count}")
    if not 0 <= options.rank < max(1, len(hosts)):
        raise SystemExit(f"gradtape launch: --rank must name one of the {len(hosts)} hosts from 0, got {options.rank}")
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
