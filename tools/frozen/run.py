"""Programs on gradtape, frozen by PyInstaller: builds those of this folder, runs them, and checks what they print.

    python tools/frozen/run.py [program ...]

Requires PyInstaller beside gradtape: `make frozen` installs both.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent


class Build(NamedTuple):
    """A program, the options of PyInstaller, the lines that it prints, and a part of a warning."""

    options: tuple[str, ...]
    lines: tuple[str, ...]
    warning: str = ""


# The sources of two of the three modules are added: AutoGraph reads the source of the functions that it converts.
SOURCES = tuple(f"--add-data={HERE / name}:." for name in ("whole_program.py", "with_source.py"))
WITHOUT_JAX = ("--exclude-module=jax", "--exclude-module=jaxlib")
BUILDS = {
    "whole_program": Build(
        ("--onedir", *SOURCES),
        (
            "[2.] None True", "[2.] [4.]", "OperatorNotAllowedInGraphError", "[1.] 3.0", "[1.]", "gradtape (1, 1)",
            "[1, 2, 3]", "['whole_program.py']",
        ),
        "--add-data=without_source.py:.",
    ),
    "keras_only": Build(("--onefile", "--hidden-import=gradtape", *WITHOUT_JAX), ("gradtape (1, 1)",)),
}  # fmt: skip


def main() -> int:
    """Builds and runs the programs; returns the number of those that failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", default=list(BUILDS), help=f"of {', '.join(BUILDS)}")
    failed = 0
    for program in parser.parse_args().programs:
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            difference = differences(program, BUILDS[program], Path(folder))
        failed += bool(difference)
        print(f"{program:16} {difference or 'as expected'}  ({time.perf_counter() - began:.0f} s)", flush=True)
    return failed


def differences(program: str, build: Build, folder: Path) -> str:
    """Returns how what the frozen program prints differs from what is expected; an empty string if it does not."""
    command = [sys.executable, "-m", "PyInstaller", "--log-level=WARN", *build.options, str(HERE / f"{program}.py")]
    subprocess.run(command, cwd=folder, check=True)
    frozen = folder / "dist" / program
    done = subprocess.run([frozen / program if frozen.is_dir() else frozen], cwd=folder, capture_output=True, text=True)
    if tuple(done.stdout.splitlines()) != build.lines or build.warning not in done.stderr or done.returncode:
        return f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return ""


if __name__ == "__main__":
    sys.exit(main())
