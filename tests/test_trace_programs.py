"""What `gradtape run --trace` says of programs as people write them: the cause, the line, the names; or nothing at all.

The programs are run in this process, by what the command uses.
"""

import contextlib
import io
import os
import sys
import warnings

import pytest

import gradtape
from gradtape.cli.run import _explanations

sys.path.insert(0, os.path.dirname(__file__))

from lost_gradients import HEALTHY, LOST


@pytest.fixture
def said(tmp_path, monkeypatch):
    """What is said on stderr while a program runs, and the reasons."""
    monkeypatch.setitem(sys.modules, "tensorflow", gradtape)

    def run(name, program, raises=False):
        file = tmp_path / f"{name}.py"
        file.write_text(program)
        ends = pytest.raises(ValueError, match="No gradients provided") if raises else contextlib.nullcontext()
        code = compile(program, str(file), "exec", dont_inherit=True)
        with contextlib.redirect_stderr(io.StringIO()) as stderr, contextlib.redirect_stdout(io.StringIO()):
            with warnings.catch_warnings(action="ignore"), ends, _explanations() as found:
                exec(code, {"__name__": "__main__"})
        return stderr.getvalue(), found

    return run


@pytest.mark.parametrize("name", LOST)
def test_a_lost_gradient_is_explained_once_with_its_line(name, said):
    kind, cause, says, program, raises = LOST[name]
    text, reasons = said(name, program, raises)
    assert [reason.cause for reason in reasons] == [cause], text
    line = next(n for n, line in enumerate(program.splitlines(), 1) if "# here" in line)
    assert text.startswith(f"gradient is {kind} for `"), text
    assert text.count("gradient is") == 1, text
    assert f"{name}.py:{line}" in text, text
    for words in says:
        assert words in text, f"{words!r} is not said: {text}"


@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_is_said_of_a_healthy_gradient(name, said):
    assert said(name, HEALTHY[name]) == ("", [])
