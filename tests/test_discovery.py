"""What `dir`, `help` and misspelled names show: TensorFlow's names, with a line about each, and the nearest name."""

import pydoc
import subprocess
import sys
import typing
from operator import attrgetter
from pathlib import Path
from types import FunctionType

import pytest

import gradtape as tf
from gradtape.api.names import NAMES
from gradtape.api.namespace import KERAS, OWN, resolve, spaces

THEIRS = set((Path(__file__).parent / "data" / "tensorflow_public_names.txt").read_text().split())
ADDED = {"load_tape", "memory_budget", "numpy_on_tape", "reseed_after_fork", *OWN}
ADDED_TO = {
    "config": {"enable_repeated_row_sums", "repeated_row_sums_enabled"},
    "distribute": set(  # Horovod's functions
        """
        Average Compression DistributedGradientTape Max Min Product Sum all_reduce allgather allreduce barrier broadcast
        broadcast_object broadcast_variables describe grouped_allreduce init is_initialized local_rank local_size rank
        save shutdown size
        """.split()
    ),
}


def shown(thing):
    return pydoc.render_doc(thing, renderer=pydoc.plaintext)


def public(module):
    return [name for name in dir(module) if not name.startswith("__")]


def test_the_root_lists_its_names_only():
    roots = {name.partition(".")[0] for name in THEIRS} | {"compat", "raw_ops"}
    assert set(public(tf)) <= roots | ADDED | set(KERAS)
    assert {"math", "reduce_sum", "GradientTape", "keras", *ADDED} <= set(public(tf))
    assert set(tf.__all__) == set(public(tf)) - set(KERAS)


@pytest.mark.parametrize("space", [space for space in spaces() if not space.startswith(("compat", "raw_ops"))])
def test_a_namespace_lists_tensorflows_names_only(space):
    module = attrgetter(space)(tf)
    added = {name for name in dir(module) if f"{space}.{name}" not in THEIRS | set(spaces())}
    assert added == ADDED_TO.get(space, set())
    assert all(hasattr(module, name) for name in dir(module))


def test_lists_that_are_shared():
    assert {"v1", "v2", "as_text"} <= set(dir(tf.compat))
    assert "placeholder" in dir(tf.compat.v1) and "compat" not in dir(tf.compat.v1.math)
    assert dir(tf.inspect) == sorted(tf.inspect.__all__) and dir(tf.extend) == sorted(tf.extend.__all__)


def test_help_on_a_namespace_lists_its_functions():
    lines = shown(tf.bitwise).splitlines()
    assert any(line.split()[:3] == ["bitwise_and", "Bitwise", "AND:"] for line in lines)
    assert "tf.math" in tf.math.__doc__.partition("\n")[0]
    assert any(line.split()[:2] == ["special", "The"] for line in tf.math.__doc__.splitlines()[1:] if line)
    assert not [line for line in tf.math.__doc__.splitlines()[2:] if len(line.split()) < 2], "a name without a summary"


def test_help_on_a_function_has_signature_text_and_example():
    text = shown(tf.math.sin)
    assert "sin(x: " in text and "`y = sin(x)`" in text and "dy/dx = cos(x)" in text
    assert ">>> tf." in text and "0.841471" in text


@pytest.mark.parametrize(
    ("name", "meant"),
    {
        "softmax": "nn.softmax", "reduce_sumx": "reduce_sum", "matth": "math", "sum": "reduce_sum", "mul": "multiply",
        "log": "math.log", "nn.sin": "sin", "gradientTape": "GradientTape", "kears": "keras", "DataSet": "data.Dataset",
        "placeholder": "compat.v1.placeholder", "compat.v1.placeholdr": "compat.v1.placeholder",
        "compat.v1.softmax": "compat.v1.nn.softmax", "raw_ops.Soft_max": "raw_ops.Softmax", "inspct": "inspect",
        "experimental.numpy.summ": "experimental.numpy.sum", "math.reduce_summ": "math.reduce_sum",
        "softmax_cross_entropy": "nn.softmax_cross_entropy_with_logits", "CriticalSectoin": "CriticalSection",
    }.items(),
)  # fmt: skip
def test_a_misspelled_name_suggests_the_nearest(name, meant):
    with pytest.raises(AttributeError, match=rf"tf\.{name} is not in gradtape.* Did you mean tf\.{meant}\?"):
        attrgetter(name)(tf)


def test_python_adds_no_suggestion_of_its_own():
    done = subprocess.run([sys.executable, "-c", "import gradtape as tf\ntf.softmax"], capture_output=True, text=True)
    assert done.stderr.rstrip().endswith("Did you mean tf.nn.softmax?") and done.stderr.count("Did you mean") == 1


def test_a_name_like_no_other_refers_to_the_list():
    with pytest.raises(AttributeError, match=r"dir\(tf.math\) lists the names there are"):
        _ = tf.math.qwertyuiop


def test_star_imports_bring_public_names_and_not_keras():
    program = (
        "import sys\nfrom gradtape import *\nfrom gradtape.experimental.numpy import *\n"
        "assert 'keras' not in sys.modules and 'api' not in dir() and 'core' not in dir()\n"
        "assert callable(hstack) and reduce_sum(constant([1.0, 2.0])) == 3.0"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_type_hints_are_resolved():
    functions = {path: value for path in NAMES if isinstance(value := resolve(path), FunctionType)}
    assert len(functions) > 1800
    for path, function in functions.items():
        names = function.__annotations__.keys()
        assert typing.get_type_hints(function).keys() == names, path
    assert typing.get_type_hints(tf.math.sin)["return"] is tf.Tensor
