"""What `tools/compare_public.py` sees of a change."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parent.parent / "tools" / "compare_public.py"
NAMES = ("nn.crelu", "GradientTape.watch", "io.write_file", "train.Checkpoint", "sets")
CHANGE = """
import runpy, sys
import gradtape as tf

def crelu(features: float, axis=-1, name=1):
    raise ValueError("these are no features")

tf.nn.crelu = crelu
tf.GradientTape.watch.__doc__ = "Watches."
tf.sets.union = tf.nn.crelu
tf.sets.more = 3
del tf.train.Checkpoint.write
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def record(file, *program):
    command = [sys.executable, *(program or [TOOL]), "record", file, *NAMES]
    # The environment is that in which the tool records, so that it does not start the program again without the change.
    fixed = dict.fromkeys(("PYTHONDONTWRITEBYTECODE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    fixed |= {"PYTHONHASHSEED": "0", "COLUMNS": "120", "GRADTAPE_HINTS": "0"}
    return subprocess.run(command, env={**os.environ, **fixed}, check=True, capture_output=True, text=True).stdout


def compare(*files):
    return subprocess.run([sys.executable, TOOL, "compare", *files], capture_output=True, text=True)


@pytest.mark.several
def test_changes_are_reported(tmp_path):
    before, after, again = (str(tmp_path / name) for name in ("before.json", "after.json", "again.json"))
    assert "skipped: it would write a file" in record(before)
    record(again)
    assert Path(before).read_bytes() == Path(again).read_bytes()
    assert compare(before, again).returncode == 0

    record(after, "-c", CHANGE.replace("sys.argv[0]", repr(str(TOOL))))
    result = compare(before, after)
    assert result.returncode == 1
    changed = ("GradientTape.watch", "nn.crelu", "sets", "train.Checkpoint")
    assert [line for line in result.stdout.splitlines() if line[0] != " "] == [f"{name}: changed" for name in changed]
    for line in (
        "-signature: (features, axis=-1, name=None)", "+signature: (features, axis=-1, name=1)",
        "+annotations features: float",
        "-doc: Ensures that `tensor` is being traced by this tape.", "+doc: Watches.", "+dir: more", "-dir: write",
        "-raises a word for all: ", "+raises a word for all: ValueError: these are no features",
    ):  # fmt: skip
        assert f"  {line}" in result.stdout, line
    assert json.loads(Path(before).read_text())["nn.crelu"]["stub"] == "import gradtape….crelu"
