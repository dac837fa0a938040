"""Runs the cells of TensorFlow's notebooks with gradtape, or with TensorFlow, and says which of them fail.

    python tools/run_notebook.py docs/site/en/tutorials/distribute/*.ipynb
    path/of/tensorflow/bin/python tools/run_notebook.py --tensorflow ...

Cells run as they are, but for downloads: what `pip` would install is taken to be there, MNIST and its like are random
images of few classes, and /tmp is a folder of the run. Of Jupyter's commands there are `%%writefile`, `%%bash`, with
`--bg`, `%killbgscripts` and `!command`; a line of any other is left out. A `python` that a cell starts is the same.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import linecache
import multiprocessing.util
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import traceback
from pathlib import Path
from typing import Any

STAND_IN = '''"""Datasets that would be downloaded: random images, whose class can be seen."""
import importlib.abc, importlib.util, os, sys, types


def arrays(classes=10):
    import numpy as np
    def part(count, seed):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, classes, count).astype("uint8")
        x = rng.integers(0, 100, (count, 28, 28)).astype("uint8")
        x[np.arange(count), 2 * y + 2] += 150
        return x, y
    count = int(os.environ["NOTEBOOK_ROWS"])
    return part(count, 0), part(count // 6, 1)


def load(name, as_supervised=False, with_info=False, **options):
    import tensorflow as tf
    parts = dict(zip(("train", "test"), arrays()))
    found = {k: tf.data.Dataset.from_tensor_slices((x[..., None], y.astype("int64"))) for k, (x, y) in parts.items()}
    splits = {k: types.SimpleNamespace(num_examples=len(x)) for k, (x, _) in parts.items()}
    return (found, types.SimpleNamespace(splits=splits)) if with_info else found


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        known = ("keras.src.datasets.mnist", "keras.src.datasets.fashion_mnist", "tensorflow_datasets")
        return importlib.util.spec_from_loader(name, self) if name in known else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.load_data, module.load = lambda *args, **kwargs: arrays(), load


sys.meta_path.insert(0, Finder())
'''


class Notebook:
    """One run of a notebook, in a folder of its own."""

    def __init__(self, path: Path, real: bool, folder: Path) -> None:
        self.cells = json.loads(path.read_text())["cells"]
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []
        stand_in, programs = folder / "stand_in", folder / "bin"
        for made in (stand_in, programs, folder / "tmp", folder / "work"):
            made.mkdir()
        (stand_in / "sitecustomize.py").write_text(STAND_IN)
        command = f'exec {sys.executable} {"" if real else "-m gradtape run "}"$@"\n'
        (programs / "python").write_text("#!/bin/sh\n" + command)
        (programs / "python").chmod(0o755)
        os.environ["PYTHONPATH"] = os.pathsep.join([str(stand_in), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
        os.environ["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"
        os.environ["TMPDIR"] = str(folder / "tmp")
        tempfile.tempdir = None
        os.chdir(folder / "work")
        exec(compile(STAND_IN, "sitecustomize.py", "exec"), {"__name__": "stand_in"})
        if not real:
            from gradtape_tensorflow.stand_in import serve

            serve()

    def run(self, show: bool, limit: int) -> tuple[int, int]:
        """Runs the cells one after the other; how many went through, and how many there are."""
        fine = total = 0
        for i, cell in enumerate(self.cells):
            if cell["cell_type"] != "code":
                continue
            total += 1
            since, out = time.perf_counter(), io.StringIO()
            try:
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                    self._run_cell(i, "".join(cell["source"]).replace("/tmp", str(self.folder / "tmp")))
                fine += 1
                failed = ""
            except Exception as error:
                inside = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith("<cell")]
                failed = f"{type(error).__name__}: {str(error)[:limit]!r} at: {inside[-1].line if inside else ''}"
                if show:
                    out.write(traceback.format_exc())
            if show or failed:
                print(f"  cell {i} ({time.perf_counter() - since:.1f} s): {failed or 'ok'}", flush=True)
            if show and out.getvalue():
                print(textwrap.indent(out.getvalue()[-4000:], "    | "), flush=True)
        self.end_started()
        return fine, total

    def _run_cell(self, number: int, source: str) -> None:
        source = textwrap.dedent(source.strip("\n"))
        first, _, rest = source.partition("\n")
        if first.startswith("%%writefile"):
            Path(first.split()[1]).write_text(rest + "\n")
        elif first.startswith("%%bash"):
            self._bash(rest, background="--bg" in first)
        else:
            lines = [re.sub(r"^(\s*)((?:!|%[a-z]).*)$", self._command, line) for line in source.split("\n")]
            text, name = "\n".join(lines), f"<cell {number}>"
            linecache.cache[name] = (len(text), None, text.splitlines(True), name)
            space = vars(sys.modules["__main__"])
            exec(compile(text, name, "exec"), {**space, "_notebook": self} if "_notebook" not in space else space)

    @staticmethod
    def _command(found: re.Match[str]) -> str:
        space, line = found.groups()
        if line.startswith("!") and "pip" not in line:
            return f"{space}_notebook._bash(f{line[1:]!r})"
        return f"{space}_notebook.end_started()" if line.startswith("%killbgscripts") else f"{space}pass"

    def _bash(self, script: str, background: bool = False) -> None:
        out: Any = subprocess.DEVNULL if background else subprocess.PIPE
        child = subprocess.Popen(["bash", "-c", script], stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        self.started.append(child)
        if background:
            return
        print(child.communicate()[0].decode(), end="")
        if child.returncode:
            raise subprocess.CalledProcessError(child.returncode, "bash")

    def end_started(self) -> None:
        """Ends what runs in the background."""
        for child in self.started:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGTERM)
                child.wait()
        self.started = []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="+", type=Path)
    parser.add_argument("--tensorflow", action="store_true", help="run them with TensorFlow itself")
    parser.add_argument("--rows", default="9000", help="how many rows the datasets have that are not downloaded")
    parser.add_argument("--show", action="store_true", help="print what cells print")
    given = parser.parse_args()
    if len(given.notebooks) > 1:  # each in a process of its own
        rest = sys.argv[1:]
        flags = [x for x in rest if Path(x) not in given.notebooks]
        return max([subprocess.call([sys.executable, __file__, *flags, str(path)]) for path in given.notebooks])
    os.environ["NOTEBOOK_ROWS"] = given.rows
    path = given.notebooks[0].resolve()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        notebook = Notebook(path, given.tensorflow, Path(folder))
        vars(sys.modules["__main__"])["_notebook"] = notebook
        fine, total = notebook.run(given.show, 300)
        print(f"{path.stem}: {fine} of {total} cells", flush=True)
        os.chdir("/")
        multiprocessing.util._exit_function()  # removes what it has in the folder, while that is there
    return int(fine < total)


if __name__ == "__main__":
    sys.exit(main())
