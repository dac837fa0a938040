"""The API reference: every public name has one entry, under a familiar spelling, and a summary line."""

import doctest
import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def spelling():
    spec = importlib.util.spec_from_file_location("spelling", ROOT / "tools/reference/spelling.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_examples_of_the_tool_hold():
    assert doctest.testmod(spelling()) == (0, 2)


def test_every_name_has_one_entry_and_one_page():
    tool = spelling()
    names = tool.public_names()
    entries = tool.spellings(names)
    spelled = [name for first, others in entries.items() for name in (first, *others)]
    assert sorted(spelled) == sorted(names) and len(names) > 1400
    assert entries["GradientTape"] == ["autodiff.GradientTape"]
    assert "reduce_sum" in entries["math.reduce_sum"]
    assert {tool.page_of(name) for name in ("GradientTape", "nn.relu")} == {"gradtape", "nn"}


def test_only_examples_are_put_into_fences():
    text = "Adds.\n\n>>> f(\n...     1)\n2\n\nMore > less.\n\n>>> g()\n"
    found = spelling().fenced(text)
    assert re.findall(r"```pycon\n(.*?)\n```", found, re.S) == [">>> f(\n...     1)\n2", ">>> g()"]
    assert "\n\nMore > less.\n\n" in found
