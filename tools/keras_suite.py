"""Keras' own tests on gradtape, and on another backend for comparison.

    python tools/keras_suite.py ops layers/core            # a table: passed, failed, skipped by folder
    python tools/keras_suite.py models --against jax       # the same beside JAX
    python tools/keras_suite.py ops/nn_test.py --show -k relu

The wheel of Keras has its tests. Its `conftest.py` is in its repository only; this file is the plugin that does the
same.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

FOLDERS = (
    "activations", "backend", "callbacks", "constraints", "dtype_policies", "initializers", "layers", "losses",
    "metrics", "models", "ops", "optimizers", "random", "regularizers", "saving", "trainers",
)  # fmt: skip
PLACES = ("passed", "failed", "error", "skipped")


def pytest_configure(config: Any) -> None:
    """What Keras' own conftest sets up."""
    config.addinivalue_line("markers", "requires_trainable_backend: mark test for trainable backend only")
    config.addinivalue_line("markers", "multi_device: mark test for several devices")
    conftest: Any = types.ModuleType("conftest")
    conftest.skip_if_backend = _skip_if_backend
    sys.modules.setdefault("conftest", conftest)


def _skip_if_backend(backend: str, reason: str) -> Any:
    """The one name that Keras' tests import from their conftest."""
    import pytest

    return pytest.mark.skipif(os.environ["KERAS_BACKEND"] == backend, reason=reason)


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Skips what needs several devices."""
    import pytest

    for item in items:
        if "multi_device" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="needs several devices"))


def pytest_pycollect_makemodule(module_path: Path, parent: Any) -> None:
    """`trainer_test.py` looks up its trainer and its device by the backend's name, and knows only Keras' own names."""
    if module_path.name != "trainer_test.py":
        return
    from keras.src import backend

    known = backend.backend
    told = {"<module>": "numpy", "__getitem__": "jax"}

    def name() -> str:
        asked_by = sys._getframe(1).f_code
        here = asked_by.co_filename == str(module_path) and known() == "gradtape"
        return told.get(asked_by.co_name, known()) if here else known()

    backend.backend = name


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Writes the counts where the caller wants them."""
    wanted = os.environ.get("KERAS_SUITE_COUNTS")
    if wanted:
        stats = terminalreporter.stats
        Path(wanted).write_text(json.dumps({place: len(stats.get(place, [])) for place in PLACES}))


def source() -> Path:
    """Where the tests are."""
    spec = importlib.util.find_spec("keras")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("Keras is not installed: pip install 'gradtape[keras]'")
    return Path(spec.submodule_search_locations[0]) / "src"


def run(folder: str, backend: str, options: list[str], show: bool) -> dict[str, int]:
    """The counts of one folder on one backend."""
    here = Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as scratch:
        counts = Path(scratch) / "counts.json"
        paths = [str(here), str(here.parent / "src"), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ, "KERAS_BACKEND": backend, "KERAS_SUITE_COUNTS": str(counts), "TF_CPP_MIN_LOG_LEVEL": "3",
            "KERAS_HOME": scratch, "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        }  # fmt: skip
        early = ["-p", "gradtape.keras_loader"] if backend == "gradtape" else []
        command = [
            sys.executable, "-m", "pytest", *early, "-p", "keras_suite", "-p", "no:cacheprovider", "-q", "--tb=short",
            "--rootdir", scratch, str(source() / folder), *options,
        ]  # fmt: skip
        done = subprocess.run(command, cwd=scratch, env=environment, text=True, capture_output=not show)
        if not counts.exists():
            print(done.stdout or "", done.stderr or "", file=sys.stderr)
            return dict.fromkeys(PLACES, 0)
        if not show:
            for line in re.findall(r"^(?:FAILED|ERROR) .*$", done.stdout, re.M):
                print(f"  {backend}: {line.replace(str(source()), '')[:200]}")
        return json.loads(counts.read_text())


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    parser.add_argument("--backend", default="gradtape")
    parser.add_argument("--against", help="another backend to compare with")
    parser.add_argument("--show", action="store_true", help="let pytest print")
    arguments, options = parser.parse_known_args()
    for folder in arguments.folders:
        for backend in filter(None, (arguments.backend, arguments.against)):
            counts = run(folder, backend, options, arguments.show)
            print(f"{folder:30} {backend:10}", *(f"{counts[place]:6} {place}" for place in PLACES), flush=True)


if __name__ == "__main__":
    main()
