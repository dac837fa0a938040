"""Programs with one mistake, as people write them, end in TensorFlow's exception and in a traceback as short.

`tests/mistakes/tensorflow.json` has TensorFlow's class, frames and lines; tools/record_mistakes.py writes it, and
prints the measurements side by side.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RECORDED = json.loads((ROOT / "tests" / "mistakes" / "tensorflow.json").read_text())
OURS = re.compile(r"(^|/)(gradtape|keras_gradtape|malt)/|<gradtape ")

# Programs with another outcome than TensorFlow's, as docs/differences.md says: the class of the error, or None.
DIFFERENT = {
    "data/numpy_in_map": None,
    "data/python_error_in_map": "KeyError",  # of which TensorFlow's class is a private subclass
    "data/wrong_shape_in_map": "InvalidArgumentError",
    "functions/cond_of_different_structures": "TypeError",
    "gradients/batch_jacobian_of_a_scalar": "ValueError",
    "keras/model_created_outside_of_the_scope": None,
}
EXPECTED = {name: DIFFERENT.get(name, theirs["error"]) for name, theirs in RECORDED.items()}

# Programs that raise another class today, and that end in longer tracebacks: both lists shall become empty.
WRONG_CLASS = ["keras/error_in_a_layer"]
LONG = """
    data/batch_of_different_sizes data/failing_op_in_map data/generator_of_wrong_type data/generator_that_raises
    data/missing_text_file data/next_after_the_end data/py_function_that_raises_in_map
    data/python_error_in_map data/slices_of_different_lengths data/wrong_shape_in_map
    distribution/reduce_inside_a_replica files/checkpoint_of_other_names files/checkpoint_of_other_shapes
    files/missing_checkpoint files/missing_image files/missing_saved_model files/text_instead_of_an_image
    files/unknown_signature functions/assertion_that_fails functions/cond_of_different_dtypes
    functions/cond_of_different_structures functions/failing_op_at_run_time functions/gradient_inside_a_function
    functions/loop_that_changes_dtype functions/loop_that_grows functions/map_fn_without_signature
    functions/matmul_in_a_called_function functions/matmul_inside_an_if functions/missing_argument
    functions/numpy_method functions/numpy_of_a_symbolic_tensor functions/py_function_that_raises
    functions/python_if_without_autograph functions/return_in_one_branch_only
    functions/tensor_kept_for_another_function functions/tensor_kept_in_a_list functions/unexpected_argument
    functions/value_in_one_branch_only functions/variable_at_every_call functions/while_loop_that_grows
    functions/wrong_dtype_for_the_signature functions/wrong_shape_for_the_signature gradients/apply_of_none
    gradients/apply_without_zip gradients/batch_jacobian_of_a_scalar gradients/batch_jacobian_of_other_rows
    gradients/custom_gradient_with_one_too_few gradients/error_in_a_custom_gradient gradients/loss_is_none
    gradients/output_gradient_of_wrong_shape gradients/second_gradient_of_a_tape gradients/watch_of_a_number
    keras/embedding_out_of_range keras/error_in_a_callback keras/error_in_a_layer keras/error_in_train_step
    keras/fit_of_lists keras/fit_without_compile keras/image_without_batch
    keras/integer_labels_with_a_categorical_loss keras/labels_above_the_classes keras/labels_of_different_length
    keras/labels_of_wrong_shape keras/numpy_in_a_loss
    keras/one_hot_labels_with_a_sparse_loss keras/tensorflow_op_on_a_keras_tensor keras/unknown_loss
    tensors/array_of_lists tensors/assertion_that_fails tensors/assign_of_wrong_shape tensors/assign_to_an_item
    tensors/broadcast_of_wrong_shapes tensors/cast_of_text tensors/concat_of_wrong_shapes
    tensors/constant_of_uneven_lists tensors/conv2d_of_wrong_channels tensors/einsum_of_wrong_equation
    tensors/ensure_shape_that_fails tensors/float32_plus_float64 tensors/float_times_integer
    tensors/gather_out_of_range tensors/index_by_a_list tensors/matmul_of_wrong_shapes tensors/matrix_without_inverse
    tensors/none_as_a_value tensors/one_axis_too_many tensors/reshape_to_wrong_size tensors/split_into_uneven_parts
    tensors/text_plus_number tensors/truth_of_a_vector tensors/variable_without_value
""".split()

pytestmark = pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="Keras is not installed")


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


def programs(names, failing):
    return [pytest.param(name, marks=[pytest.mark.xfail] if name in failing else []) for name in names]


@pytest.mark.parametrize("name", programs(EXPECTED, WRONG_CLASS))
def test_raises_the_class_that_tensorflow_raises(name, measured):
    mine = measured[name]
    assert mine["error"] == EXPECTED[name] or EXPECTED[name] in mine.get("bases", ()), mine
    if RECORDED[name]["error"] is None:
        assert mine["printed"] == RECORDED[name]["printed"]


@pytest.mark.parametrize("name", programs([name for name, error in EXPECTED.items() if error], LONG))
def test_a_traceback_is_as_short_as_tensorflows(name, measured):
    mine, theirs = measured[name], RECORDED[name]
    assert not [file for file in mine["files"] if OURS.search(file)]
    assert mine["all_frames"] <= theirs["all_frames"]
    assert mine["lines"] <= theirs["lines"] + 3


def test_python_prints_what_is_measured(measured):
    name = "functions/matmul_inside_an_if"
    printed = gradtape_run(ROOT / "tests" / "mistakes" / f"{name}.py").stderr
    assert len(re.findall('^  File "', printed, re.MULTILINE)) == measured[name]["all_frames"]
    assert len(printed.rstrip().splitlines()) == measured[name]["lines"]


def test_every_program_has_a_record():
    folder = ROOT / "tests" / "mistakes"
    names = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("*/*.py")}
    assert names == set(RECORDED)
    assert names.issuperset([*DIFFERENT, *WRONG_CLASS, *LONG])
