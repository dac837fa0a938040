"""`gradtape bench` and `gradtape demo`: programs of the project, which a wheel contains in `gradtape/shipped`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import gradtape
from gradtape.core.extras import is_installed


def find_shipped(path: str) -> Path | None:
    """Returns the path of a project file: in the checkout that gradtape is imported from, else in the wheel."""
    package = Path(gradtape.__file__).parent
    places = package.parents[1] / path, package / "shipped" / path
    return next((place for place in places if place.exists()), None)


def bench(options: dict[str, Any], usage: str) -> int:
    """Runs the project's benchmark against the installed peers; invalid arguments print `usage`."""
    flags = [("--usage", usage), ("--json", options["json"] or "gradtape_bench.json")]
    names = "tables", "works", "peers", "rounds", "seconds"
    flags += [(f"--{name}", options[name]) for name in names if options[name]]
    flags += [("--python", pair) for pair in options["python"] or ()]
    return _run("benchmarks/run.py", flags)


def demo(epochs: int | None, picture: str | None) -> int:
    """Trains on handwritten digits: a Keras CNN or, without Keras, a small network with a tape."""
    program = "keras_digits" if is_installed("keras") else "digits"
    flags = [("--picture", picture or "gradtape_demo.png")] + ([("--epochs", str(epochs))] if epochs else [])
    return _run(f"examples/{program}.py", flags)


def _run(path: str, flags: list[tuple[str, str]]) -> int:
    program = find_shipped(path)
    if program is None:
        print(f"gradtape: {path} is not part of this installation: reinstall gradtape", file=sys.stderr)
        return 1
    words = [word for flag in flags for word in flag]
    return subprocess.run([sys.executable, str(program), *words], check=False).returncode
