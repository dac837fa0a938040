"""`tools/other_pythons.py`, which lists the Pythons of `make test-pythons`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parent.parent / "tools/other_pythons.py"


@pytest.mark.skipif(os.name != "posix", reason="writes shell scripts")
def test_the_first_of_each_other_version_is_listed(tmp_path):
    """Interpreters that are scripts, of which one does not start and one has the version that runs the tool."""
    own = f"3.{sys.version_info.minor}"
    prints = {"bin/python3.27": "3 27", "bin/python3.28": "", f"bin/python{own}": own.replace(".", " ")}
    prints |= {".pyenv/versions/3.27.1/bin/python3": "3 27", ".pyenv/versions/3.29.0/bin/python3": "3 29"}
    for name, text in prints.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{f'echo {text}' if text else 'exit 1'}\n")
        path.chmod(0o755)
    environment = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path), "PYTHONS_ROOT": str(tmp_path / "none")}

    def listed(*versions):
        done = subprocess.run([sys.executable, TOOL, *versions], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return [line.split() for line in done.stdout.splitlines()], done.stderr

    of_pyenv = str(tmp_path / ".pyenv/versions/3.29.0/bin/python3")
    assert listed() == ([["3.27", "python3.27"], ["3.29", of_pyenv]], "")
    assert listed("3.29", own) == ([["3.29", of_pyenv]], "")
    rows, error = listed("3.28")
    assert rows == [] and error.startswith("no other Python 3.28 is installed besides ")
