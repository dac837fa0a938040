"""Debuggers and coverage see the functions that AutoGraph converts as their source."""

import bdb
import functools
import json
import logging
import os
import signal
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import gradtape as tf
from gradtape.autograph.on_demand import convert

pytestmark = pytest.mark.several

FILE = __file__
PROGRAM = '''
import functools, os, signal, sys
import gradtape as tf

def logged(f):
    @functools.wraps(f)
    def call(*args):
        return f(
            *args)
    return call

@logged
def scaled(x, by=2.0):
    if by is None:
        return x  # never
    try:
        y = x * \\
            by
        assert y.shape == x.shape, \\
            "a shape"
    except ValueError as error:  # never
        y = x  # never
        raise RuntimeError(str(error))  # never
    return y

class Layer:
    @tf.function(
        jit_compile=False)
    def step(self, x, n, training):
        """Branches and loops on tensors and on Python's values."""
        for i in tf.range(n):
            if x > 0:
                x = scaled(x)
            elif x < -100:
                x = -x
                continue
            else:
                x = tf.where(
                    x > 0,
                    x,
                    x - 1.0)
        if training:
            for j in range(2):
                x = x + 1.0
        else:
            x = x - 1.0  # never
            while x > 3:  # never
                x = x / 2.0  # never
        total = [
            k * x
            for k in range(2)
        ]
        pick = lambda a: (
            a if a > 0
            else -a)
        def unused(x):
            return x  # never
        with tf.name_scope("sum"):
            x = x + tf.add_n(total)
        while x > 3:
            x = x / 2.0
            if x > 1000:
                break
        return pick(x)

@tf.function
def another(x):
    return x if x > 0 else -x  # never

print(float(Layer().step(tf.constant(1.0), 3, True)))
if len(sys.argv) > 1:
    os.kill(os.getpid(), signal.SIGKILL)  # never
'''


def test_coverage_counts_the_lines_that_have_been_traced(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    run = functools.partial(subprocess.run, cwd=tmp_path, check=True, capture_output=True, text=True)
    coverage = [sys.executable, "-m", "coverage"]
    assert float(run([*coverage, "run", "program.py"]).stdout) > 0
    run([*coverage, "json"])
    lines = json.loads((tmp_path / "coverage.json").read_text())["files"]["program.py"]
    marked = [n for n, line in enumerate(PROGRAM.split("\n"), 1) if "# never" in line]
    assert lines["missing_lines"] == marked


def test_a_killed_process_leaves_no_files(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "temporary").mkdir()
    command = [sys.executable, tmp_path / "program.py", "killed"]
    done = subprocess.run(command, env={**os.environ, "TMPDIR": str(tmp_path / "temporary")}, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done
    assert not list((tmp_path / "temporary").iterdir())


def doubled(x):
    y = x + x
    return y  # stop 2


@tf.function
def branching(x, n):
    for _ in tf.range(n):
        if x > 0:
            x = doubled(x)  # stop 1
        else:
            x = \
                x - 1.0  # stop 3
    return x


class Debugger(bdb.Bdb):
    """Stops at the lines of this file that say so."""

    def __init__(self):
        super().__init__()
        self.stops = []
        for number, line in enumerate(Path(FILE).read_text().split("\n"), 1):
            if "# stop" in line and "in line" not in line:
                assert self.set_break(FILE, number) is None

    def user_line(self, frame):
        if self.get_all_breaks().get(FILE) and frame.f_lineno in self.get_all_breaks()[FILE]:
            code = frame.f_code
            names = frame.f_locals
            self.stops.append((code.co_filename, code.co_name, "y" in names, "x" in names))
        self.set_continue()


def test_debuggers_stop_in_converted_functions():
    debugger = Debugger()
    result = debugger.runcall(lambda: branching(tf.constant(1.0), tf.constant(2)))
    assert float(result) == 4.0
    assert debugger.stops == [
        (FILE, "branching", False, True), (FILE, "doubled", True, True), (FILE, "branching", False, True),
    ]  # fmt: skip


def test_breakpoints_stop_at_their_own_lines(monkeypatch, caplog):
    stops = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: stops.append(sys._getframe(1)))

    @tf.function
    def f(x):
        if x > 0:
            x = x + 1.0
            breakpoint()
        return x

    with caplog.at_level(logging.WARNING):
        assert float(f(tf.constant(1.0))) == 2.0
    (frame,) = stops
    assert (frame.f_code.co_filename, frame.f_code.co_name) == (FILE, "f")
    assert frame.f_code.co_qualname.startswith("test_breakpoints_stop_at_their_own_lines.<locals>.f")
    assert not caplog.records


def wrapped(f):
    @functools.wraps(f)
    def call(x):
        text = "a" \
            "b"
        return f(text and x)  # the line of the wrapper

    return call


@wrapped
def failing(x):
    return x + (
        1.0 /
        (x - x))  # the line of the function


def test_tracebacks_show_lines_and_columns():
    def lines(call):
        with pytest.raises(ZeroDivisionError) as caught:
            call()
        entries = traceback.extract_tb(caught.value.__traceback__)
        return [(entry.name, entry.lineno, entry.colno) for entry in entries if entry.filename == FILE], caught.value

    as_it_is, _ = lines(lambda: failing(2.0))
    tf.debugging.disable_traceback_filtering()
    try:
        converted, error = lines(lambda: convert(failing)(2.0))
    finally:
        tf.debugging.enable_traceback_filtering()
    assert converted[-2:] == as_it_is[-2:]
    for name, line, _ in as_it_is[-2:]:
        assert f'File "{FILE}", line {line}, in {name}  *' in str(error)


def test_functions_are_told_apart(tmp_path):
    """Lambdas that share a line, and functions at the same lines of two files."""
    first, second, third = lambda x: x if x > 0 else x - 1.0, lambda x: x if x > 0 else x - 2.0, lambda: lambda x: -x
    assert [float(tf.function(f)(tf.constant(-1.0))) for f in (first, second, third())] == [-2.0, -3.0, 1.0]
    assert tf.autograph.to_code(third).count("lambda") == 3  # of the scope, too
    for name in ("one.py", "two.py"):
        scope = {"tf": tf}
        (tmp_path / name).write_text("def f(x):\n    if x > 0:\n        raise KeyError(x)\n    return x\n")
        exec(compile((tmp_path / name).read_text(), tmp_path / name, "exec"), scope)
        with pytest.raises(KeyError, match=name):
            tf.function(scope["f"])(tf.constant(1.0))
    (tmp_path / "two.py").write_text("\n\n" + (tmp_path / "one.py").read_text())
    with pytest.raises(NotImplementedError, match="has changed since"):
        tf.autograph.to_code(scope["f"])
