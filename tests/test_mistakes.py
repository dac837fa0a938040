"""Programs with one mistake, as people write them, end in TensorFlow's exception and in a traceback as short.

`tests/mistakes/tensorflow.json` has TensorFlow's class, frames and lines; tools/record_mistakes.py writes it, and
prints the measurements side by side.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradtape.core.extras import is_installed

ROOT = Path(__file__).parent.parent
RECORDED = json.loads((ROOT / "tests" / "mistakes" / "tensorflow.json").read_text())
OURS = re.compile(r"(^|/)(gradtape|keras_gradtape|malt)/|<gradtape ")

# Programs with another outcome than TensorFlow's, as docs/differences.md says: the class of the error, or None.
DIFFERENT = {
    "data/numpy_in_map": None,
    "data/python_error_in_map": "KeyError",  # of which TensorFlow's class is a private subclass
    "data/wrong_shape_in_map": "InvalidArgumentError",
    "functions/cond_of_different_structures": "TypeError",
    "gradients/apply_without_zip": "ValueError",
    "gradients/batch_jacobian_of_a_scalar": "ValueError",
    "keras/model_created_outside_of_the_scope": None,
}
EXPECTED = {name: DIFFERENT.get(name, theirs["error"]) for name, theirs in RECORDED.items()}

PRINTS_AS_RECORDED = sys.version_info < (3, 13)  # later Pythons print all lines of a statement; TensorFlow ran on 3.11
pytestmark = pytest.mark.skipif(not is_installed("keras"), reason="Keras is not installed")


def gradtape_run(*arguments):
    environment = {name: value for name, value in os.environ.items() if name != "KERAS_BACKEND"}
    command = [sys.executable, "-m", "gradtape", "run", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)


@pytest.fixture(scope="module")
def measured():
    """Returns the measurements of all programs, run in one process."""
    done = gradtape_run(ROOT / "tools" / "record_mistakes.py", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", EXPECTED)
def test_raises_the_class_that_tensorflow_raises(name, measured):
    mine = measured[name]
    assert mine["error"] == EXPECTED[name] or EXPECTED[name] in mine.get("bases", ()), mine
    if RECORDED[name]["error"] is None:
        assert mine["printed"] == RECORDED[name]["printed"]


@pytest.mark.parametrize("name", [name for name, error in EXPECTED.items() if error])
def test_a_traceback_is_as_short_as_tensorflows(name, measured):
    mine, theirs = measured[name], RECORDED[name]
    assert not [file for file in mine["files"] if OURS.search(file)]
    assert mine["all_frames"] <= theirs["all_frames"]
    if PRINTS_AS_RECORDED:
        assert mine["lines"] <= theirs["lines"] + 3


# Parts of messages that say what is wrong and what to do.
NAMED = {
    "gradients/apply_without_zip": "Call apply_gradients(zip(gradients, variables))",
    "keras/class_numbers_in_a_categorical_loss": "have rank 1 and no axis of 3 classes. Use tf.keras.losses.SparseCat",
    "keras/integer_labels_with_a_categorical_loss": "rank 1 and no axis of 3 classes. Use tf.keras.losses.SparseCat",
    "keras/one_hot_labels_in_a_sparse_function": "rank 2 like the output, and class numbers have one axis less. Use",
    "keras/one_hot_labels_with_a_sparse_loss": "Use tf.keras.losses.CategoricalCrossentropy for one-hot labels",
    "tensors/cast_of_text": "Use tf.strings.to_number",
    "tensors/class_numbers_in_a_cross_entropy": "Use tf.nn.sparse_softmax_cross_entropy_with_logits for labels that",
    "tensors/float32_plus_float64": "AddV2 as input #1 (the second input) was expected to be a float tensor but is a",
    "tensors/float_times_integer": "Use tf.cast(x, tf.float32) to make them agree",
    "tensors/index_by_a_list": "Use tf.gather(x, [0, 1]) to select rows",
    "tensors/one_hot_labels_of_a_sparse_cross_entropy": "Use tf.nn.softmax_cross_entropy_with_logits for one-hot",
    "tensors/text_plus_number": "Use tf.strings.to_number(text)",
}


@pytest.mark.parametrize("name", NAMED)
def test_a_message_names_the_mistake_and_what_to_do(name, measured):
    assert NAMED[name] in measured[name]["first_line"] + measured[name]["last_line"]


def test_python_prints_what_is_measured(measured):
    name = "functions/matmul_inside_an_if"
    printed = gradtape_run(ROOT / "tests" / "mistakes" / f"{name}.py").stderr
    assert len(re.findall('^  File "', printed, re.MULTILINE)) == measured[name]["all_frames"]
    if PRINTS_AS_RECORDED:
        assert len(printed.rstrip().splitlines()) == measured[name]["lines"]


def test_every_program_has_a_record():
    folder = ROOT / "tests" / "mistakes"
    names = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("*/*.py")}
    assert names == set(RECORDED)
    assert names.issuperset(DIFFERENT)
