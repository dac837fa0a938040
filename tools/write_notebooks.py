"""Runs the notebooks of the documentation and rewrites their outputs, or checks them: `make notebooks`.

    python tools/write_notebooks.py [--check] [docs/notebooks/keras.ipynb ...]

A notebook runs in its own folder, in a process of its own, by IPython's shell: magics and displays work as in Jupyter.
That needs neither a Jupyter kernel nor its messages over sockets (`nbclient` needs both, and twenty packages for them).
`tools/run_notebook.py` runs TensorFlow's notebooks instead, of which no outputs are kept.

`--check` compares the text of outputs with the text in the file: words exactly, numbers within 2%. The tag `varies` of
a cell says that its numbers depend on the machine; then only the words are compared.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "docs" / "notebooks"
VARIES = "varies"
TOLERANCE = 0.02  # relative: BLAS libraries round differently, and training amplifies that
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # another one in every run
_DRAWN = re.compile(r"[▁-█⠀-⣿─\s]+")  # bars, dots, rules and columns, which change with the numbers

Cell = dict[str, Any]
Output = dict[str, Any]


class Collector:
    """Collects the outputs of one cell in order: printed text, displays and the result."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []

    def add_text(self, stream: str, text: str) -> None:
        last = self.outputs[-1] if self.outputs else {}
        if last.get("name") == stream:
            last["text"] += text
        else:
            self.outputs.append({"name": stream, "output_type": "stream", "text": text})

    def add_display(self, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        self.outputs.append({"data": dict(data), "metadata": dict(metadata), "output_type": "display_data"})

    def add_result(self, data: dict[str, Any], metadata: dict[str, Any], count: int) -> None:
        data, metadata = dict(data), dict(metadata)
        result = {"data": data, "execution_count": count, "metadata": metadata, "output_type": "execute_result"}
        self.outputs.append(result)


class Stream(io.TextIOBase):
    """Standard output or standard error of a cell."""

    def __init__(self, name: str, collector: Collector) -> None:
        self._name, self._collector = name, collector

    def write(self, text: str) -> int:
        if text:
            self._collector.add_text(self._name, text)
        return len(text)


def create_shell() -> Any:
    """Creates an IPython shell whose `collector` gets what cells show."""
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets import Type

    class ResultHook(DisplayHook):
        def write_output_prompt(self) -> None: ...

        def write_format_data(self, format_dict: dict[str, Any], md_dict: dict[str, Any] | None = None) -> None:
            self.shell.collector.add_result(format_dict, md_dict or {}, self.prompt_count)

        def finish_displayhook(self) -> None: ...

    class DisplayCollector(DisplayPublisher):
        def publish(self, data: dict[str, Any], metadata: dict[str, Any] | None = None, **others: Any) -> None:
            self.shell.collector.add_display(data, metadata or {})

    class Shell(InteractiveShell):
        collector = Collector()
        displayhook_class, display_pub_class = Type(ResultHook), Type(DisplayCollector)

        def enable_gui(self, gui: str | None = None) -> None: ...  # `%matplotlib inline` needs no event loop

    return Shell.instance(colors="nocolor")


def run_cell(shell: Any, cell: Cell, count: int) -> None:
    """Runs a cell and replaces its outputs; raises what it raises."""
    shell.collector = collector = Collector()
    out, error = Stream("stdout", collector), Stream("stderr", collector)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        result = shell.run_cell("".join(cell["source"]), store_history=True)
    if not result.success:
        raise RuntimeError("".join(text(output) for output in collector.outputs))
    cell["execution_count"] = count
    cell["outputs"] = [in_lines(output) for output in collector.outputs]


def run_notebook(path: Path) -> dict[str, Any]:
    """Returns the notebook with the outputs of a new run."""
    notebook: dict[str, Any] = json.loads(path.read_text())
    os.chdir(path.parent)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IPYTHONDIR"] = folder
        os.environ["GRADTAPE_HINTS"] = "0"  # the notebooks themselves explain their None gradients
        shell = create_shell()
        for count, cell in enumerate(code_cells(notebook), 1):
            run_cell(shell, cell, count)
        shell.history_manager.end_session()
    return notebook


def code_cells(notebook: dict[str, Any]) -> list[Cell]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def in_lines(output: Output) -> Output:
    """Returns an output as files have it: text as lists of lines, images as one line."""

    def split(value: Any) -> Any:
        return _ADDRESS.sub(" at 0x…", value).splitlines(keepends=True) if isinstance(value, str) else value

    if "text" in output:
        return {**output, "text": split(output["text"])}
    return {**output, "data": {kind: split(value) for kind, value in sorted(output["data"].items())}}


def text(output: Output) -> str:
    """Returns what an output says in a terminal."""
    return "".join(output["text"] if "text" in output else output["data"].get("text/plain", ""))


def differences(kept: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Returns a line for each cell whose outputs differ."""
    found = []
    for number, (old, cell) in enumerate(zip(code_cells(kept), code_cells(new), strict=True), 1):
        varies = VARIES in cell["metadata"].get("tags", ())
        for before, after in itertools.zip_longest(old["outputs"], cell["outputs"]):
            if before is None or after is None:
                found.append(f"In[{number}] shows {len(cell['outputs'])} outputs, the file has {len(old['outputs'])}")
                break
            if sorted(before.get("data", ())) != sorted(after.get("data", ())):
                found.append(f"In[{number}] shows {sorted(after['data'])}, the file has {sorted(before['data'])}")
            elif not is_same_text(text(before), text(after), varies):
                found.append(f"In[{number}] shows\n{text(after)}\nthe file has\n{text(before)}")
    return found


def is_same_text(before: str, after: str, varies: bool) -> bool:
    """Whether two texts have the same words and, unless it `varies`, the same numbers within the tolerance."""
    if varies:
        return _varying_words(before) == _varying_words(after)
    words = [_DRAWN.sub(" ", _NUMBER.sub("#", each)).strip() for each in (before, after)]
    numbers = [[float(number.replace(",", "")) for number in _NUMBER.findall(each)] for each in (before, after)]
    pairs = zip(*numbers, strict=False)
    return words[0] == words[1] and all(math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-6) for a, b in pairs)


def _varying_words(shown: str) -> list[str]:
    """Returns the words of each line without numbers and units; of lines that then are alike, as rows are, one."""
    lines = [_DRAWN.sub(" ", _NUMBER.sub("#", line)).strip() for line in shown.splitlines()]
    return [line for line, _ in itertools.groupby(re.sub(r"# (?:[kMG]?B|[nµm]?s)\b", "#", line) for line in lines)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(FOLDER.glob("*.ipynb")))
    parser.add_argument("--check", action="store_true", help="compare the outputs with those in the file")
    given = parser.parse_args()
    if len(given.notebooks) != 1:
        flags = ["--check"] if given.check else []
        return max(subprocess.call([sys.executable, __file__, *flags, str(path)]) for path in given.notebooks)
    path, began = given.notebooks[0].resolve(), time.perf_counter()
    kept = json.loads(path.read_text())
    new = run_notebook(path)
    found = differences(kept, new) if given.check else []
    if not given.check:
        path.write_text(json.dumps(new, indent=1, ensure_ascii=False) + "\n")
    print(*found, f"{path.name}: {'differs' if found else 'ok'}, {time.perf_counter() - began:.1f} s", sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
