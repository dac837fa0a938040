"""The API reference: every public name has one entry, under a familiar spelling, and a summary line."""

import doctest
import importlib.util
import re
from pathlib import Path

import pytest

from gradtape.api.names import NAMES

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def path(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools" / "reference")


def tool(name):
    # Under a name of its own: doctest skips the functions of a module when `sys.modules` holds another one of its name.
    spec = importlib.util.spec_from_file_location(f"reference_{name}", ROOT / f"tools/reference/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def spelling():
    return tool("spelling")


@pytest.mark.parametrize(("name", "examples"), [("spelling", 2), ("differences", 3), ("support", 5), ("tables", 1)])
def test_the_examples_of_the_tool_hold(name, examples):
    assert doctest.testmod(tool(name)) == (0, examples)


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


def test_an_entry_says_what_supports_a_function():
    support = tool("support")
    facts = support.facts_of("math.sin", ["sin"])
    assert facts == {
        "Engines": "eager, `tf.function`, XLA", "Derivatives": "reverse and forward mode, any order",
        "Batched": "one pass", "Per-example gradients": "one pass", "SavedModel": "written, read",
        "Raw op": "`tf.raw_ops.Sin`", "TensorFlow 1": "`tf.compat.v1.sin`", "NumPy": "`tf.experimental.numpy.sin`",
        "Keras": "`keras.ops.sin`", "Composite tensors": "`RaggedTensor`, `SparseTensor`",
    }  # fmt: skip
    assert support.facts_of("unique", [])["Engines"] == "eager, `tf.function`, XLA (`unique` on the host)"
    assert support.facts_of("strings.lower", [])["Engines"] == "eager, `tf.function`"
    assert support.facts_of("math.floor", ["floor"])["Derivatives"] == "none"
    assert "not written" in support.facts_of("signal.dct", [])["SavedModel"]
    assert "own parameters" in support.facts_of("math.reduce_sum", ["reduce_sum"])["TensorFlow 1"]
    assert "Engines" not in support.facts_of("nest.flatten", [])


def test_entries_refer_to_the_differences_that_name_them():
    entries = spelling().spellings(spelling().public_names())
    found = tool("differences").differences((ROOT / "docs/differences.md").read_text("utf-8"), entries)
    assert {item.anchor for item in found["math.cumprod"]} == {"more-exact"}
    assert {"sparse.split", "signal.irfft3d", "image.adjust_hue", "linalg.norm"} <= set(found)
    assert "random.shuffle" not in found, "the page means the method of datasets"
    assert len(found) > 60


def test_raw_ops_and_the_names_of_tensorflow_1_have_tables():
    tables = tool("tables")
    entries = spelling().spellings(spelling().public_names())
    pages = {page: text for page, (_, text) in tables.texts(entries).items()}
    assert '`Sin(x, name=None)` | [`tf.math.sin`](math.md#gradtape.math.sin) |' in pages["raw_ops"]
    assert "## gradtape.compat.v1.train" in pages["compat.v1"]
    assert "[`tf.random.gamma`](random.md#gradtape.random.gamma)" in pages["compat.v1"]
    names = {line.name for line in tables.raw_lines() + tables.v1_lines()}
    assert {name for name in NAMES if name.startswith(("raw_ops.", "compat.v1."))} <= names
