"""A forked child works with what the parent has made, or says what to do; it never waits for the parent's threads.

`fork_cases.py` has the table: each kind of state, used before the fork or not, with an idle or a busy second thread.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import fork_cases
import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
CASES = Path(__file__).parent / "fork_cases.py"


def children(group, **environment):
    """Returns the rows that the children of a group's process leave: name, whether used, thread, outcome."""
    command = [sys.executable, str(CASES), group]
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("group", ["core", "xla", "keras"])
def test_children_work_or_say_what_to_do(group):
    if group != "core":
        pytest.importorskip("jax")
    cases = fork_cases.groups[group]
    rows = children(group)
    assert {name for name, *_ in rows} == cases.keys()
    assert {thread for _, _, thread, _ in rows} > {"idle", "holds locks"}
    assert not [row for row in rows if not fork_cases.is_expected(cases[row[0]], *row[1:])]


def test_children_that_wait_are_found():
    rows = children("broken", FORK_PATIENCE="1")
    hanging = {(name, used, thread) for name, used, thread, outcome in rows if outcome.startswith("hangs")}
    assert hanging == {("waiting", True, "idle"), ("waiting", True, "holds locks")} | {
        ("unsafe_lock", used, "holds locks") for used in (False, True)
    }
