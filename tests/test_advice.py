"""Advice works when followed: names, options, commands and code in messages and in docs/missing-names.md exist and run.

The texts are the strings of gradtape's source that are not docstrings. A sentence is advice if it has one of the verbs
of `ADVICE`; its code is executed with the names of `CONTEXT`.
"""

import ast
import gc
import inspect
import re
import shlex
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf
from gradtape.api.missing_names import MISSING, RAISING, missing_names
from gradtape.core.extras import EXTRAS, install_command, is_installed

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
ADVICE = re.compile(
    r"\b([Uu]se|[Ii]nstead|[Cc]all|[Pp]ass|[Pp]rint|[Ww]rite|[Gg]ive|[Ss]et|[Tt]ry|[Ss]ave|[Ll]oad|[Cc]reate|[Rr]un|"
    r"[Cc]ast|[Dd]ecode|[Pp]ut|[Kk]eep|[Rr]eturn|[Ss]elect|[Ss]tart|see|with|like|returns|shows|saves|finds?|starts)\b"
)
# TensorFlow's wording, which is no advice.
TENSORFLOWS = {"tf.dispatch_for", "tf.placeholder", "tf.functions", "tf.Variables", "tf.estimator", "tf.contrib"}
NOT_MESSAGES = ("table.py", "v1_table.py")  # formulas of raw ops
HIDDEN = "\0"  # in place of what an f-string inserts


def texts_of(file):
    """Yields the strings of a file, except docstrings."""
    source = file.read_text()
    if not re.search(r"tf\.|gradtape|GRADTAPE|tape\.", source):
        return
    skipped, constants = set(), []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant):
            constants += [node] if isinstance(node.value, str) else []
        elif isinstance(node, ast.JoinedStr):
            skipped |= set(map(id, node.values))
            yield "".join(part.value if isinstance(part, ast.Constant) else HIDDEN for part in node.values)
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            skipped.add(id(getattr(node.body[0], "value", None)))
    for node in constants:
        if id(node) not in skipped:
            yield node.value


@cache
def sentences():
    """Returns the sentences with advice, and the file that each is in."""
    found = {}
    for file in sorted(SOURCE.rglob("*.py")):
        for text in () if file.name in NOT_MESSAGES else texts_of(file):
            for sentence in re.split(r"(?<=[.;:]) ", text) if " " in text and len(text) > 24 else ():
                if ADVICE.search(sentence):
                    found.setdefault(sentence, file.name)
    page = re.sub(r"```text.*?```", "", (ROOT / "docs/missing-names.md").read_text(), flags=re.DOTALL)  # signatures
    for line in page.splitlines():
        found.setdefault(line, "missing-names.md")
    return found


def matches(pattern):
    """Returns what a pattern finds in advice, and where."""
    return {match: place for sentence, place in sentences().items() for match in re.findall(pattern, sentence)}


def exists(name):
    found = tf
    for part in name.split(".")[1:]:
        try:
            found = getattr(found, part)
        except AttributeError:
            return False
    return True


@pytest.mark.skipif(not is_installed("keras"), reason="some names are Keras'")
def test_names_in_advice_exist():
    names = matches(r"\b(?:tf|gradtape)(?:\.[A-Za-z_]\w*)+") | {
        f"tf.GradientTape.{name}": place for name, place in matches(r"\btape\.([a-z_]\w*)").items()
    }
    lacking = {name for group in (*MISSING, *RAISING) for name in group.names}
    names = {name: place for name, place in names.items() if name.partition(".")[2] not in lacking}
    wrong = {name: place for name, place in names.items() if not exists(name) and name not in TENSORFLOWS}
    assert not wrong and len(names) > 120


def test_every_missing_name_has_advice_that_exists():
    for name, advice in missing_names().items():
        assert advice
        for other in re.findall(r"`(tf(?:\.[A-Za-z_]\w*)+)", advice):
            assert exists(other) or other.removeprefix("tf.") in missing_names(), (name, other)


def test_variables_and_commands_in_advice_exist():
    read = "".join(file.read_text() for file in SOURCE.rglob("*.py"))
    for variable in matches(r"\bGRADTAPE_[A-Z_]+"):
        assert f'"{variable}"' in read, variable
    commands = re.findall(r'add_parser\(\s*"(\w+)"', (SOURCE / "gradtape/cli/__init__.py").read_text())
    used = matches(r"`gradtape (\w+)[^`]*`")
    assert set(used) <= {*commands} and used


def test_messages_install_what_the_extras_add():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

    def packages(extra):
        for package in extras[extra]:
            included = re.fullmatch(r"gradtape\[(.+)\]", package)
            yield from [p for name in included[1].split(",") for p in packages(name)] if included else [package]

    assert {extra: tuple(packages(extra)) for extra in extras} == EXTRAS
    for extra in EXTRAS:
        assert shlex.split(install_command(extra)) == ["pip", "install", *EXTRAS[extra]]


# What advice calls things.
CONTEXT = """
x = logits = tf.constant([[1.0, 0.0], [0.0, 2.0]]); a, b, n, t = x, x, 2, x > 0.5
indices = ids = true_classes = labels = tf.constant([0, 1])
text, classes, mask = tf.constant("1.5"), 2, tf.constant([True, False])
gradient = tf.IndexedSlices(x, indices, (3, 2))
f = tf.function(lambda x: x + 1.0)
function = tf.function(lambda: tf.constant(1.0))
model, folder = tf.Module(), FOLDER
dataset, number_of_workers, index = tf.data.Dataset.range(4), 2, 0
strategy, op, value = tf.distribute.get_strategy(), "SUM", tf.constant([1.0])
with tf.GradientTape(persistent=True, trace=True) as tape:
    tape.watch(x)
    target, sources, path = x * x, x, FOLDER + ".tape"
"""

# Code that is not executed as it stands: the rest of it is not in the text, or it is a name of a method.
INCOMPLETE = {
    "tf.parallel_stack()": "TensorFlow's wording", "tf.placeholder()": "TensorFlow's wording",
    "tf.add()": "a name", "tf.train.Checkpoint.save()": "a name", "tf.train.Checkpoint.write()": "a name",
    "tf.experimental.numpy.experimental_enable_numpy_behavior()": "changes the process",
    "tf.config.run_functions_eagerly(True)": "changes the process", "tf.config.set_soft_device_placement(True)":
    "changes the process", "tf.distribute.MultiWorkerMirroredStrategy()": "changes the process",
    "tf.reshape(logits, [1])": "a scalar is meant", "tf.reshape(x, [1])": "a scalar is meant",
}  # fmt: skip


def code_in_advice():
    """Returns the complete expressions that advice has."""
    found = {}
    for sentence, place in sentences().items():
        for match in re.finditer(r"\b(?:tf|tape|gradtape)(?:\.[A-Za-z_]\w*)+\(", sentence):
            end = _end_of_calls(sentence, match.end() - 1)
            if end is not None and HIDDEN not in sentence[match.start() : end]:
                found[sentence[match.start() : end]] = place
    return found


def _end_of_calls(text, start):
    """Returns where calls and attributes end that begin with a parenthesis, or None if one is not closed."""
    while start < len(text) and text[start] == "(":
        depth = 0
        for end in range(start, len(text)):
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[end], 0)
            if depth == 0:
                break
        else:
            return None
        start = end + 1
        if attribute := re.match(r"\.[A-Za-z_]\w*(?=\()", text[start:]):
            start += attribute.end()
    return start


def test_code_in_advice_runs(tmp_path):
    executed, failures = [], {}
    codes = code_in_advice()
    assert codes.keys() >= INCOMPLETE.keys()
    for code, place in sorted(codes.items(), key=lambda item: ".load(" in item[0]):  # after what saves
        if code in INCOMPLETE:
            continue
        names = {"tf": tf, "gradtape": tf, "np": np, "FOLDER": str(tmp_path / "model")}
        exec(CONTEXT, names)
        try:
            tree = ast.parse(code, mode="eval")
        except SyntaxError as error:
            failures[code] = place, repr(error)
            continue
        if any(isinstance(node, ast.Constant) and node.value is ... for node in ast.walk(tree)):
            problem = _problem_of_options(tree.body, names)
        else:
            problem = _problem_of_running(code, names)
        executed.append(code)
        if problem:
            failures[code] = place, problem
        names.clear()  # its functions keep it alive, and a live traced tape makes other tapes traced
    gc.collect()
    assert failures == {}
    assert len(executed) > 25


def _problem_of_running(code, names):
    try:
        eval(code, names)
    except Exception as error:
        return repr(error)
    return ""


def _problem_of_options(call, names):
    """Returns what is wrong with a call in which `...` stands for arguments: its options must exist."""
    function = eval(ast.unparse(call.func), names)
    known = inspect.signature(function).parameters
    lacking = [keyword.arg for keyword in call.keywords if keyword.arg not in known]
    return f"{lacking} are no parameters" if lacking else ""


def test_stages_of_the_compiler():
    pytest.importorskip("jax")
    v = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=True)
    def f(x):
        v.assign_add(x)
        return tf.sin(x) * v + tf.random.uniform([2])

    tf.random.set_seed(3)
    ir = f.experimental_get_compiler_ir(tf.constant([1.0, 1.0]))
    for stage in ("hlo", "optimized_hlo"):
        assert ir(stage).startswith("HloModule") and "sine" in ir(stage=stage)
    assert "stablehlo.sine" in ir("stablehlo") and ir("stablehlo_serialized").startswith(b"ML\xefR")
    assert ir("optimized_hlo_dot").startswith("digraph") and b"sine" in ir("hlo_serialized")
    module, proto = ir("optimized_hlo_serialized"), ir("optimized_hlo_proto_serialized")
    assert proto.startswith(b"\n") and 0 < len(proto) - len(module) < 10
    assert ir(platform_name="CPU") == ir(device_name="/device:CPU:0") == ir()
    assert v.numpy().tolist() == [1.0, 2.0]  # nothing has run
    for options, message in [
        ({"stage": "nonsense"}, "Invalid stage selected: 'nonsense'. Valid values are: .*'optimized_hlo_dot'"),
        ({"platform_name": "nonsense"}, "No JIT device registered for nonsense"),
        ({"device_name": "/device:nonsense:0"}, "No matching device found for '/device:nonsense:0'"),
        ({"device_name": "/device:CPU:0", "platform_name": "CPU"}, "cannot be provided at the same time"),
    ]:
        with pytest.raises(ValueError, match=message):
            ir(**options)
    with pytest.raises(ValueError, match="Only support static input shape"):
        f.experimental_get_compiler_ir(tf.TensorSpec([None], tf.float32))
    with pytest.raises(ValueError, match="jit_compile=True"):
        tf.function(lambda x: x).experimental_get_compiler_ir(tf.constant(1.0))
