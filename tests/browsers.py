"""The browser that tests use, if there is one: see `tools/browser.py`."""

import importlib.util
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location("browser", Path(__file__).parent.parent / "tools" / "browser.py")
browser = importlib.util.module_from_spec(_SPEC)
if importlib.util.find_spec("fcntl"):  # not on Windows
    _SPEC.loader.exec_module(browser)
PROGRAM = browser.find_browser() if hasattr(browser, "find_browser") else None
needs_browser = pytest.mark.skipif(
    PROGRAM is None, reason="needs Chromium: `python tools/browser.py` says how to get one"
)
