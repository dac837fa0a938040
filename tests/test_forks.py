"""A forked child works with what the parent has made, or says what to do; it never waits for the parent's threads.

`fork_cases.py` has the table: each kind of state, used before the fork or not, with an idle or a busy second thread.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import fork_cases
import pytest

import gradtape as tf

pytestmark = [pytest.mark.several, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")]
CASES = Path(__file__).parent / "fork_cases.py"
PAGE = (Path(__file__).parent.parent / "docs/guides/processes.md").read_text()
PROGRAM = r"^```py\n# (\w+\.py)\n(.*?)^```\n\n```console\n\$ python \1\n(.*?)^```"
PROGRAMS = re.findall(PROGRAM, PAGE, re.DOTALL | re.MULTILINE)


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


def test_children_draw_other_numbers_on_request():
    """Without the request, children repeat their parent's numbers, as in TensorFlow."""
    code = """
import os, sys, gradtape as tf
tf.random.set_seed(1)
generator, step = tf.random.Generator.from_seed(2), tf.function(lambda: tf.random.normal([]))
step()
tf.random.set_global_generator(tf.random.Generator.from_seed(3))
seeds = tf.Variable([4, 0])
if "keras" in sys.argv:
    seeds = tf.keras.random.SeedGenerator(4).state
def draws():
    normal, own = tf.random.normal([]), tf.random.normal([], seed=1)
    shared = tf.random.get_global_generator()
    return *map(float, (normal, own, generator.normal([]), step(), shared.normal([]))), int(seeds[0])
def fork():
    sys.stdout.flush()
    return os.fork() or print(*draws())
def family():
    for _ in range(2):
        child = fork()
        if not child:
            fork() or sys.exit()
            os.wait()
            sys.exit()
        os.wait()
if "reseed" in sys.argv:
    tf.reseed_after_fork()
family()
print(*draws())
"""

    def numbers(*arguments):
        command = [sys.executable, "-W", "ignore", "-c", code, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        return [line.split() for line in done.stdout.splitlines()]

    first, child, second, _, parent = numbers()
    assert first == second == parent and len({*first, *child}) == len(first) + len(child) - 1
    reseeded = numbers("reseed", "keras")
    assert reseeded == numbers("reseed", "keras")
    for kind in zip(*reseeded, strict=True):
        assert len(set(kind)) == 5
    assert reseeded[-1] == parent


@pytest.mark.parametrize("starts_xla", [False, True])
def test_children_that_exit_leave_files_and_xla_to_their_parent(tmp_path, starts_xla):
    """The child runs to the end of its program; what the parent has written, and not yet flushed, is there once."""
    if starts_xla:
        pytest.importorskip("jax")
    code = f"""
import os, sys, gradtape as tf
invert = tf.function(lambda x: tf.linalg.inv(x), jit_compile={starts_xla})
invert(tf.eye(3))
writer = tf.io.TFRecordWriter("a.tfrecord", "GZIP")
writer.write(b"1")
log = tf.compat.v1.summary.FileWriter("logs")
log.add_summary(tf.compat.v1.Summary(), 1)
elements = iter(tf.data.Dataset.range(3).cache("cache"))
next(elements)
child = os.fork()
if not child:
    list(elements)
    log.add_summary(tf.compat.v1.Summary(), 2)
    sys.exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
assert [int(x) for x in elements] == [1, 2]
writer.write(b"2")
writer.close()
log.close()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=tmp_path, timeout=120, check=True)
    records = tf.data.TFRecordDataset(str(tmp_path / "a.tfrecord"), "GZIP")
    assert [x.numpy() for x in records] == [b"1", b"2"]
    assert [int(x) for x in tf.data.Dataset.range(9).cache(str(tmp_path / "cache"))] == [0, 1, 2]
    events = [tf.data.TFRecordDataset(str(file)) for file in sorted((tmp_path / "logs").iterdir())]
    steps = [[event.step for event in map(tf.compat.v1.Event.FromString, (x.numpy() for x in file))] for file in events]
    assert steps == [[0, 1], [0, 2]]


@pytest.mark.parametrize(("name", "program", "output"), PROGRAMS, ids=[name for name, *_ in PROGRAMS])
def test_the_programs_of_the_guide_print_what_it_says(tmp_path, name, program, output):
    (tmp_path / name).write_text(program)
    command = [sys.executable, "-W", "ignore", name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == output, done.stderr[-2000:]
    assert len(PROGRAMS) == PAGE.count("```console")
