"""The API reference: every public name has one entry, and the search field finds it by any spelling."""

import doctest
import importlib.util
import inspect
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import gradtape as tf
from gradtape.api.names import NAMES
from gradtape.core.extras import is_installed

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


@pytest.mark.parametrize(
    ("name", "examples"),
    [("spelling", 3), ("differences", 3), ("support", 5), ("tables", 1), ("parameters", 5)],
)
def test_the_examples_of_the_tool_hold(name, examples):
    assert doctest.testmod(tool(name)) == (0, examples)


@pytest.mark.parametrize(("name", "examples"), [("pages", 1), ("name_index", 2)])
def test_the_examples_of_the_tool_that_need_griffe_hold(name, examples):
    pytest.importorskip("griffe")
    assert doctest.testmod(tool(name)) == (0, examples)


def test_every_name_has_one_entry_and_one_page():
    tool = spelling()
    names = tool.public_names()
    entries = tool.spellings(names)
    spelled = [name for first, others in entries.items() for name in (first, *others)]
    assert sorted(spelled) == sorted(names) and len(names) > 1400
    assert entries["GradientTape"] == ["autodiff.GradientTape"]
    assert "reduce_sum" in entries["math.reduce_sum"]
    pages = [tool.page_of(name) for name in entries]
    own = {page.lower() for page in pages if page.startswith("tf.")}
    assert len(own) == len([page for page in pages if page.startswith("tf.")]) > 1200, "one file on any disk"
    assert {page for page in pages if not page.startswith("tf.")} <= {tool.space_of(name) for name in entries}


def test_only_examples_are_put_into_fences():
    text = "Adds.\n\n>>> f(\n...     1)\n2\n\nMore > less.\n\n>>> g()\n"
    found = spelling().fenced(text)
    assert re.findall(r"```pycon\n(.*?)\n```", found, re.S) == [">>> f(\n...     1)\n2", ">>> g()"]
    assert "\n\nMore > less.\n\n" in found


@pytest.mark.skipif(not is_installed("keras"), reason="Keras is not installed")
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


USED_MOST = """
GradientTape.watch GradientTape.gradient GradientTape.jacobian GradientTape.batch_jacobian GradientTape.hessian
GradientTape.hvp GradientTape.explain GradientTape.diagnose GradientTape.on_gradient Variable.assign_add
Variable.assign_sub custom_gradient recompute_grad grad_pass_through gradients hessians stop_gradient clip_by_value
clip_by_norm clip_by_global_norm linalg.global_norm while_loop cond case switch_case map_fn vectorized_map scan foldl
data.Dataset.map data.Dataset.batch data.Dataset.shuffle data.Dataset.repeat data.Dataset.prefetch data.Dataset.cache
data.Dataset.from_tensor_slices data.Dataset.zip data.Dataset.take data.Dataset.filter data.Dataset.padded_batch
data.Dataset.window data.Dataset.shard math.sin math.exp math.add math.reduce_sum math.reduce_mean math.reduce_max
nn.relu nn.softmax nn.softmax_cross_entropy_with_logits nn.sigmoid_cross_entropy_with_logits nn.max_pool2d nn.avg_pool2d
nn.moments random.normal random.uniform zeros ones cast inspect.explain inspect.load_tape inspect.compare inspect.report
inspect.tracing inspect.record_steps inspect.check_gradients
""".split()
RARELY_NEEDED = set("synchronous use_unbounded_threadpool gate_gradients aggregation_method layout name self".split())


@pytest.mark.parametrize("name", USED_MOST)
def test_entries_of_common_functions_list_their_parameters(name):
    value = tf
    for part in name.split("."):
        value = getattr(value, part)
    parameters = list(inspect.signature(value).parameters)
    result = str(inspect.signature(value).return_annotation)
    text = tool("parameters").with_sections(inspect.getdoc(value) + "\n", name, parameters, result)
    described = set(tool("parameters")._own_lines(text))
    assert set(parameters) - RARELY_NEEDED <= described
    assert "\nReturns:\n" in text or name in ("GradientTape.watch", "GradientTape.on_gradient")
    again = tool("parameters").with_sections(text, name, parameters, result)
    assert again == text


def test_raw_ops_and_the_names_of_tensorflow_1_have_tables():
    tables = tool("tables")
    entries = spelling().spellings(spelling().public_names())
    raw, old = tables.raw_lines(), tables.v1_lines()
    text = tables.table_text("raw_ops", raw, entries)
    assert "`Sin(x, name=None)` | [`tf.math.sin`](tf.math.sin.md#gradtape.math.sin) |" in text
    text = tables.table_text("compat.v1", old, entries)
    assert "## tf.compat.v1.train" in text and "[`tf.random.gamma`](tf.random.gamma.md#gradtape.random.gamma)" in text
    names = {line.name for line in raw + old}
    assert {name for name in NAMES if name.startswith(("raw_ops.", "compat.v1."))} <= names


needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="the search field's script runs in Node.js")
ROWS = [
    ["math", "reference/math.html", "2 names"], ["math.sin", "", "The sine.", "sin"],
    ["math.asin", "", "The inverse of the sine.", "asin"],
    ["raw_ops.Sin", "reference/raw_ops.html#gradtape.raw_ops.Sin", ""],
    ["nn.sparse_softmax_cross_entropy_with_logits", "", "The loss of a classifier."],
    ["dtypes.float32", "reference/dtypes.html#gradtape.dtypes.float32", "", "float32"],
    ["GradientTape", "", "Records operations.", "autodiff.GradientTape"],
    ["GradientTape.gradient", "#", "Computes gradients."], ["data.Dataset", "", "A sequence of elements."],
    ["data.Dataset.batch", "#", "Stacks elements."], ["keras", "keras.html", "Keras 3 runs unchanged"],
    ["queue.FIFOQueue", "missing-names.html#queues", "Missing. Python's queue.Queue connects threads."],
]  # fmt: skip
TAPE = "reference/tf.GradientTape.html#gradtape.GradientTape.gradient"
BATCH = "reference/tf.data.Dataset.html#gradtape.data.Dataset.batch"
SECTIONS = [
    ["guides/loops.html", "Training loops", "", "A loop of your own takes batches from a dataset."],
    ["guides/loops.html#sines", "Training loops", "Learn a sine", "A network learns sines."],
]


@needs_node
def test_the_search_field_finds_names_first():
    expected = {
        "sin": "reference/tf.math.sin.html", "tf.math.sin": "reference/tf.math.sin.html",
        "gradtape.math.sin": "reference/tf.math.sin.html", " TF.SIN ": "reference/tf.math.sin.html",
        "math.asin(x)": "reference/tf.math.asin.html", "tf.math": "reference/math.html",
        "tf.raw_ops.Sin": "reference/raw_ops.html#gradtape.raw_ops.Sin",
        "float32": "reference/dtypes.html#gradtape.dtypes.float32", "Dataset.batch": BATCH,
        "tf.data.dataset.Batch": BATCH,
        "cross entropy": "reference/tf.nn.sparse_softmax_cross_entropy_with_logits.html",
        "tf.GradientTape.gradient": TAPE, "autodiff.GradientTape.gradient": TAPE,
        "tf.queue.FIFOQueue": "missing-names.html#queues", "tf.keras.layers.Dense": "keras.html",
        "training loop": "guides/loops.html", "learning sines": "guides/loops.html#sines",
        "inverse": "reference/tf.math.asin.html", "no such thing": None, "tf.": None,
    }  # fmt: skip
    script = f"""
        const {{ find, prepared }} = require({json.dumps(str(ROOT / "tools/theme/search/search.js"))});
        const [rows, sections, queries] = {json.dumps([ROWS, SECTIONS, list(expected)])};
        const address = (hit) => hit === undefined ? null : hit.entry ? hit.entry.address : hit.section[0];
        console.log(JSON.stringify(queries.map((query) => address(find(query, prepared(rows), sections)[0]))));
    """
    run = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    assert dict(zip(expected, json.loads(run.stdout), strict=True)) == expected
