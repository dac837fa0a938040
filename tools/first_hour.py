"""Installs gradtape as the README says and runs 20 programs, like a new user: `make first-hour`.

    python tools/first_hour.py [--environment FOLDER] [NAME ...]

The first block of commands in README.md that contains `pip install` runs in a fresh virtual environment in a temporary
folder, and nothing else is installed there. The programs in `tests/first_hour` are written as people write them. Those
that import TensorFlow run under `gradtape run`, the others under `python`, each as a process of its own in an empty
folder, with an empty home folder. A program passes if it ends without an error and prints what it printed under
TensorFlow, in `tests/first_hour/NAME.txt`, up to rounding. No program plots: the README's block does not install
Matplotlib.

`--environment` uses an existing virtual environment instead.

    python tools/first_hour.py --record PYTHON [NAME ...]

writes these outputs with a Python interpreter that has TensorFlow and TensorBoard.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from printed_output import difference  # noqa: E402

PROGRAMS = ROOT / "tests" / "first_hour"
IMPORTS_TENSORFLOW = re.compile(r"^import tensorflow", re.MULTILINE)
TOLERANCE = {"mixed_precision": 0.02}  # half precision, which the program prints rounded
SECONDS_BETWEEN_SIGNS_OF_LIFE = 20
# What a new user has not set, and what would lead to other installations.
UNSET = ("GRADTAPE_", "KERAS_", "PYTHONHOME", "PYTHONPATH", "TF_", "VIRTUAL_ENV")


def readme_commands(text: str) -> str:
    """Returns the first block of commands that installs gradtape with pip."""
    blocks = re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return next(block for block in blocks if "pip install" in block)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs in tests/first_hour; by default all")
    parser.add_argument("--environment", type=Path, metavar="FOLDER", help="use this virtual environment")
    parser.add_argument("--record", metavar="PYTHON", help="write the outputs with this interpreter")
    options = parser.parse_args()
    programs = [PROGRAMS / f"{name}.py" for name in options.names] or sorted(PROGRAMS.glob("*.py"))
    with tempfile.TemporaryDirectory(prefix="gradtape_first_hour_") as folder:
        if options.record:
            return record(programs, options.record, Path(folder))
        environment = options.environment and options.environment.resolve()
        if not environment:
            environment = Path(folder) / "environment"
            if not install(environment):
                return 1
        return run_all(programs, environment, Path(folder))


def install(environment: Path) -> bool:
    """Creates a virtual environment and runs the README's commands in it; returns whether all of them succeed."""
    commands = readme_commands((ROOT / "README.md").read_text())
    print(f"in a fresh virtual environment, the README's commands:\n{commands}", flush=True)
    venv.create(environment, with_pip=True)
    done = watched(["bash", "-ec", commands], ROOT, variables(environment))
    print(f"{'done' if done.returncode == 0 else 'failed'}, {done.seconds:.0f} s", flush=True)
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n")
    return done.returncode == 0


def run_all(programs: Sequence[Path], environment: Path, folder: Path) -> int:
    """Runs programs one after the other, prints a line for each, and returns the exit code."""
    passed = 0
    for program in programs:
        runner = "gradtape run" if IMPORTS_TENSORFLOW.search(program.read_text()) else "python"
        name, *arguments = runner.split()
        done = run_alone(program, [str(environment / "bin" / name), *arguments], variables(environment), folder)
        if done.returncode:
            problem = f"exit code {done.returncode}\n{done.stderr[-3000:]}"
        else:
            expected = program.with_suffix(".txt").read_text()
            problem = difference(done.stdout, expected, TOLERANCE.get(program.stem, 1e-4))
        passed += not problem
        print(f"{'failed' if problem else 'passed'}  {f'{runner} {program.name}':40} {done.seconds:4.1f} s", flush=True)
        if problem:
            print(problem, flush=True)
    print(f"{passed} of {len(programs)}")
    return int(passed < len(programs))


def record(programs: Sequence[Path], python: str, folder: Path) -> int:
    """Writes what programs print under TensorFlow, which `import gradtape` gives there, too; returns the exit code."""
    alias = folder / "alias"
    alias.mkdir()
    (alias / "gradtape.py").write_text("import sys\n\nimport tensorflow\n\nsys.modules['gradtape'] = tensorflow\n")
    path = os.pathsep.join([str(alias), *filter(None, [os.environ.get("PYTHONPATH")])])
    for program in programs:
        done = run_alone(program, [python], {**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3"}, folder)
        if done.returncode:
            print(f"{program.name} failed\n{done.stderr[-3000:]}", flush=True)
            continue
        program.with_suffix(".txt").write_text(done.stdout)
        print(f"recorded {program.name}, {done.seconds:.1f} s", flush=True)
    return int(any(not program.with_suffix(".txt").exists() for program in programs))


class Done(NamedTuple):
    """A process that has ended."""

    returncode: int
    stdout: str
    stderr: str
    seconds: float


def run_alone(program: Path, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Done:
    """Runs a copy of a program in an empty folder, with another empty folder as home."""
    work, home = folder / program.stem / "work", folder / program.stem / "home"
    for path in (work, home):
        path.mkdir(parents=True)
    shutil.copy(program, work)
    return watched([*command, program.name], work, {**environment, "HOME": str(home)})


def watched(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Done:
    """Runs a command, and prints now and then how long it has been running."""
    start = time.perf_counter()
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while True:
            try:
                out, err = process.communicate(timeout=SECONDS_BETWEEN_SIGNS_OF_LIFE)
                break
            except subprocess.TimeoutExpired:
                print(f"  still running after {time.perf_counter() - start:.0f} s", flush=True)
    return Done(process.returncode, out, err, time.perf_counter() - start)


def variables(environment: Path) -> dict[str, str]:
    """Returns the environment variables of a shell in which a virtual environment is active."""
    found = {name: value for name, value in os.environ.items() if not name.startswith(UNSET)}
    return {**found, "PATH": f"{environment / 'bin'}{os.pathsep}{found['PATH']}"}


if __name__ == "__main__":
    sys.exit(main())
