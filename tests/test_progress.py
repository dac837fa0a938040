"""Lines on standard error about work that takes long."""

import io
import threading

import pytest

import gradtape as tf
from gradtape.data import order
from gradtape.engine.run import progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal, and notes when the second line or update comes."""

    def __init__(self, is_terminal=True):
        super().__init__()
        self._is_terminal, self.refreshed = is_terminal, threading.Event()

    def isatty(self):
        return self._is_terminal

    def write(self, text):
        self.refreshed.set()
        return super().write(text)


@pytest.fixture
def terminal(monkeypatch):
    def replace(is_terminal=True):
        stream = Terminal(is_terminal)
        monkeypatch.setattr(progress.sys, "stderr", stream)
        return stream

    for name in ("TERMINAL_DELAY_SECONDS", "PLAIN_DELAY_SECONDS", "_REFRESH_SECONDS"):
        monkeypatch.setattr(progress, name, 0.001)
    monkeypatch.delenv("GRADTAPE_PROGRESS", raising=False)
    return replace


def test_a_line_is_updated_and_stays(terminal):
    stream = terminal()
    with progress.reporting("doing much", 3) as work:
        assert stream.refreshed.wait(10)
        work.advance(2)
    updates = stream.getvalue().split("\r\x1b[K")
    assert updates[1].startswith("gradtape: doing much, 0 of 3, ") and "\n" not in "".join(updates[:-1])
    assert updates[-1].startswith("gradtape: doing much, 2 of 3, ") and updates[-1].endswith(" s\n")


def test_inner_work_shows_in_the_line_of_the_outer(terminal):
    stream = terminal()
    with progress.reporting("outer") as outer, progress.reporting("inner"):
        assert outer.what == "inner" and stream.refreshed.wait(10)
    assert outer.what == "outer" and stream.getvalue().count("\n") == 1


def test_a_log_gets_one_plain_line(terminal):
    stream = terminal(is_terminal=False)
    with progress.reporting("doing much"):
        assert stream.refreshed.wait(10)
    assert stream.getvalue() == "gradtape: doing much takes longer than 0 s\n"


def test_short_or_silenced_work_shows_nothing(terminal, monkeypatch):
    stream = terminal()
    monkeypatch.setattr(progress, "TERMINAL_DELAY_SECONDS", 60.0)
    before = threading.active_count()
    with progress.reporting("doing little"):
        pass
    monkeypatch.setenv("GRADTAPE_PROGRESS", "0")
    with progress.reporting("doing much"):
        assert threading.active_count() <= before + 1  # the thread of the first may not have ended yet
    assert stream.getvalue() == ""


def test_a_stream_that_cannot_be_written_is_ignored(terminal, monkeypatch):
    terminal().close()
    with progress.reporting("doing much"):
        pass
    monkeypatch.setattr(progress.sys, "stderr", None)
    progress._write("text")
    assert not progress._is_terminal()


def test_what_reports_itself(monkeypatch):
    pytest.importorskip("jax")
    said = []
    monkeypatch.setattr(progress.Progress, "show", lambda self: said.append(self.what))
    monkeypatch.setattr(order, "_LARGE_BUFFER", 3)
    monkeypatch.delenv("GRADTAPE_PROGRESS", raising=False)
    assert sorted(int(x) for x in tf.data.Dataset.range(4).shuffle(3)) == [0, 1, 2, 3]

    @tf.function(jit_compile=True)
    def squared(x):
        return x * x

    assert squared(tf.constant(3.0)) == 9.0
    assert said[0] == "filling a shuffle buffer" and "compiling function squared with XLA" in said
