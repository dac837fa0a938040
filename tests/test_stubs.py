"""The type stubs of the public namespaces, which `tools/write_stubs.py` writes, match the code."""

import importlib.util
from pathlib import Path

import pytest

from gradtape.core.extras import is_installed

TOOL = Path(__file__).parent.parent / "tools" / "write_stubs.py"


def is_stale(stub, expected):
    """Returns whether a stub differs, unless it was written for another version of Keras."""
    header, new_header = stub.partition("\n")[0], expected.partition("\n")[0]
    return stub != expected and (header == new_header or "for Keras" not in header)


@pytest.mark.skipif(not is_installed("keras"), reason="the stub of `tf.keras` lists Keras' names")
def test_stubs_are_up_to_date():
    spec = importlib.util.spec_from_file_location("write_stubs", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    expected = dict(tool.stubs())
    stubs = {path: path.read_text("utf-8") if path.is_file() else "" for path in expected}
    stale = [str(path) for path, text in expected.items() if is_stale(stubs[path], text)]
    assert not stale, "run `python tools/write_stubs.py`"
    assert set(tool.SOURCE.parent.rglob("*.pyi")) == set(expected), "a namespace is gone: its stub goes, too"
