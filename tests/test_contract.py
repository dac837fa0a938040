"""The contract with TensorFlow: names, namespaces, parameters and defaults."""

import enum
import importlib.metadata
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np
import pytest
from case_groups import by_namespace, check_cases

import gradtape as tf
from gradtape.api.missing_names import missing_names, raising_names
from gradtape.api.names import NAMES
from gradtape.api.namespace import resolve

ROOT = Path(__file__).parent.parent
TABLE = json.loads((ROOT / "tests" / "data" / "tensorflow_api.json").read_text())["names"]

# Names whose parameters differ from TensorFlow's, and why.
OTHER_PARAMETERS = {
    "Variable": "TensorFlow hides its constructor's parameters behind *args, **kwargs",
    "Tensor": "made by ops in TensorFlow, from an array here",
    "distribute.experimental.CommunicationOptions": "hidden behind *args, **kwargs, as those of Variable are",
    "experimental.numpy.ndarray": "the same as Tensor",
    "data.Dataset": "made by its static methods in TensorFlow, from a generator of elements here",
    "data.Iterator": "abstract in TensorFlow",
    **{
        f"lookup.{name}": "hidden behind *args, **kwargs, as those of Variable are"
        for name in (
            "StaticHashTable",
            "StaticVocabularyTable",
            "experimental.DenseHashTable",
            "experimental.MutableHashTable",
        )
    },
    "experimental.Optional": "abstract in TensorFlow",
    "types.experimental.distributed.Mirrored": "abstract in TensorFlow",
    "types.experimental.distributed.PerReplica": "abstract in TensorFlow",
    "data.experimental.Optional": "abstract in TensorFlow",
    **{name: "may be given a message alone" for name in TABLE if re.match(r"errors\.\w+Error$", name)},
}

# Members that unittest had until Python 3.11, under which TensorFlow's names were recorded.
DROPPED_BY_PYTHON = set(
    """
    assertAlmostEquals assertDictContainsSubset assertEquals assertNotAlmostEquals assertNotEquals
    assertNotRegexpMatches assertRaisesRegexp assertRegexpMatches assert_ failIf failIfAlmostEqual failIfEqual
    failUnless failUnlessAlmostEqual failUnlessEqual failUnlessRaises
    """.split()
)

# Members that NumPy's scalars have since NumPy 2.1.
ADDED_BY_NUMPY = {"device", "to_device"}

# Members of TensorFlow's classes that gradtape omits, and why.
PROTOBUF = "there are no protocol buffers"
TRACING = "part of TensorFlow's own tracing protocol"
OF_STRATEGIES = dict.fromkeys(["configure", "update_config_proto"], "deprecated: of sessions")
DESCRIBED = dict.fromkeys(
    ["ClearExtension", "DESCRIPTOR", "Extensions", "HasExtension", "UnknownFields"],
    "of protocol buffers that describe themselves and may be extended",
)
NO_BUILDING = "of a graph that is built op by op, which there is none"
LEFT_OUT = {
    "Graph": dict.fromkeys(
        """
        Dismantle colocate_with container create_op get gradient_override_map graph_def_versions is_feedable
        is_fetchable new_operations num_operations op_def_for_type operations prevent_feeding prevent_fetching
        """.split(),
        NO_BUILDING,
    ),
    "ClusterSpec": {"as_cluster_def": PROTOBUF},
    "Operation": dict.fromkeys(
        "colocation_groups experimental_set_type from_node_def node_def op_def run traceback".split(), NO_BUILDING
    ),
    **{
        f"train.{name}": DESCRIBED
        for name in ("BytesList", "Example", "Feature", "FeatureList", "FloatList", "Int64List", "SequenceExample")
    },
    "train.Features": {**DESCRIBED, "FeatureEntry": "the entry of a map is not a message of its own"},
    "train.FeatureLists": {**DESCRIBED, "FeatureListEntry": "the entry of a map is not a message of its own"},
    **{
        f"{kind}Strategy": OF_STRATEGIES
        for kind in ("", "CentralStorage", "Mirrored", "MultiWorkerMirrored", "OneDevice", "ParameterServer", "TPU")
    },
    "distribute.TPUStrategy": {
        **OF_STRATEGIES,
        **dict.fromkeys(
            """
            experimental_assign_to_logical_device experimental_replicate_to_logical_devices
            experimental_split_to_logical_devices
            """.split(),
            "of the cores of a TPU",
        ),
    },
    "TPUClusterResolver": dict.fromkeys(
        """
        cluster_spec environment get_coordination_service_leader get_job_name get_master
        get_tpu_system_metadata master num_accelerators set_tpu_topology task_id task_type
        tpu_hardware_feature
        """.split(),
        "of a TPU that was found, and there is none",
    ),
    "DType": {
        **dict.fromkeys(["experimental_as_proto", "experimental_from_proto", "experimental_type_proto"], PROTOBUF),
        **dict.fromkeys(["cast", "flatten", "from_tensors", "placeholder_value", "to_tensors"], TRACING),
    },
    "TensorShape": {
        **dict.fromkeys(["experimental_as_proto", "experimental_from_proto", "experimental_type_proto"], PROTOBUF),
        **dict.fromkeys(["cast", "flatten", "from_tensors", "placeholder_value", "to_tensors"], TRACING),
    },
    "TensorSpec": {
        **dict.fromkeys(["experimental_as_proto", "experimental_from_proto", "experimental_type_proto"], PROTOBUF),
        "placeholder_value": TRACING,
    },
    "TestCase": dict.fromkeys(
        """
        assertCommandFails assertCommandSucceeds assertContainsExactSubsequence assertContainsInOrder
        assertContainsSubsequence assertDataclassEqual assertIsSubclass assertJsonEqual assertMappingEqual
        assertNoCommonElements assertNotEndsWith assertNotIsSubclass assertNotStartsWith assertProtoEquals
        assertProtoEqualsVersion assertRaisesWithLiteralMatch assertRegexMatch assertSequenceStartsWith
        assertTotallyOrdered assertUrlEqual enter_context
        evaluate_if_both_tensors get_recorded_properties record_property tempfile_cleanup
        """.split(),
        "of absl's test case, which gradtape's is not built on",
    ),
    "SparseTensor": {"eval": "there are no sessions"},
    "SparseTensorSpec": {
        **dict.fromkeys(["experimental_as_proto", "experimental_from_proto", "experimental_type_proto"], PROTOBUF),
        "placeholder_value": TRACING,
    },
    "RaggedTensorSpec": {
        **dict.fromkeys(["experimental_as_proto", "experimental_from_proto", "experimental_type_proto"], PROTOBUF),
        "placeholder_value": TRACING,
    },
    **{
        name: {
            **dict.fromkeys(["experimental_as_proto", "experimental_from_proto", "experimental_type_proto"], PROTOBUF),
            "placeholder_value": TRACING,
        }
        for name in ("ExtensionTypeSpec", "IteratorSpec", "NoneTensorSpec", "OptionalSpec", "TensorArraySpec")
    },
    "DatasetSpec": {
        **dict.fromkeys(["experimental_as_proto", "experimental_from_proto", "experimental_type_proto"], PROTOBUF),
        "placeholder_value": TRACING,
    },
    "NumpyIterator": dict.fromkeys(["restore", "save"], "tf.train.Checkpoint saves and restores its position"),
    "DVariable": {"create": "a variable is created with its value"},
}

PRESENT = sorted(set(TABLE) & set(NAMES))
CALLABLE = [name for name in PRESENT if TABLE[name]["parameters"] is not None]
# TensorFlow classes whose instances are plain datasets in gradtape.
MADE_BY_FUNCTIONS = {
    "data.FixedLengthRecordDataset",
    "data.TFRecordDataset",
    "data.TextLineDataset",
    "data.experimental.CsvDataset",
    "data.experimental.RandomDataset",
    "data.experimental.SqlDataset",
}
CLASSES = [name for name in PRESENT if TABLE[name]["kind"] == "class" and name not in MADE_BY_FUNCTIONS]
WITH_ATTRIBUTES = {
    "data.Options",
    "data.ThreadingOptions",
    "data.experimental.AutotuneOptions",
    "data.experimental.OptimizationOptions",
    "data.experimental.ServiceOptions",
    "data.experimental.ThreadingOptions",
    "train.CheckpointOptions",
}  # members are on the instances
FUNCTIONS = [name for name in PRESENT if TABLE[name]["kind"] == "function"]


DATA = ROOT / "tests" / "data"
PUBLIC = set((DATA / "tensorflow_public_names.txt").read_text().split())


def test_no_name_is_missing():
    assert not set(TABLE) - set(NAMES) - set(missing_names())
    assert not PUBLIC - set(NAMES) - set(missing_names()), "put them into NAMES, or into gradtape.api.missing_names"


def test_what_is_said_to_be_absent_is():
    assert not set(missing_names()) & set(NAMES)
    assert all(name in PUBLIC or name.startswith("compat.v1.") for name in missing_names())
    assert not set(raising_names()) - set(NAMES)


def test_the_index_of_names_is_up_to_date():
    spec = importlib.util.spec_from_file_location("index_names", ROOT / "tools" / "index_names.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    index, wrong = tool.index(TABLE)
    assert not wrong
    assert index == NAMES, "run tools/index_names.py"
    page = tool.missing_page(PUBLIC, NAMES)
    assert (ROOT / "docs" / "missing-names.md").read_text() == page, "run tools/index_names.py"


def for_each_namespace(names):
    """Parametrizes a test with the names of each namespace."""
    groups = by_namespace(names)
    return pytest.mark.parametrize("names", groups.values(), ids=groups)


def check_names(check, names):
    check_cases(check, {name: (name,) for name in names})


@for_each_namespace(PRESENT)
def test_the_front_door_opens(names):
    check_names(check_front_door, names)


def check_front_door(name):
    space, value = None, tf
    for part in name.split("."):
        space, value = value, getattr(value, part)
    assert value is resolve(name)
    assert part in dir(space)


def addressless(default):
    """Returns a default as both libraries show it: a function without its address."""
    return re.sub(r" at 0x\w+>", ">", default)


def is_enum(name):
    """An enumeration's parameters are Python's, and differ between versions."""
    value = resolve(name)
    return isinstance(value, type) and issubclass(value, enum.Enum)


@for_each_namespace(name for name in CALLABLE if name not in OTHER_PARAMETERS)
def test_parameters_are_those_of_tensorflow(names):
    check_names(check_parameters, [name for name in names if not is_enum(name) and not has_no_signature(name)])


def has_no_signature(name):
    """Returns whether the name is one of NumPy's types, which have signatures since NumPy 2.4."""
    return np.lib.NumpyVersion(np.__version__) < "2.4.0" and is_numpys(resolve(name))


def is_numpys(value):
    return isinstance(value, type) and value.__module__ == "numpy"


def check_parameters(name):
    expected = [(p, kind, default and addressless(default)) for p, kind, default in TABLE[name]["parameters"]]
    mine = [
        (p.name, p.kind.name, None if p.default is p.empty else addressless(repr(p.default)))
        for p in inspect.signature(resolve(name)).parameters.values()
    ]
    names = {p for p, _, _ in expected}
    own = [p for p in mine if p[0] not in names and p[1] == "KEYWORD_ONLY" and p[2] is not None]
    assert [p for p in mine if p not in own] == expected


@for_each_namespace(CLASSES)
def test_members_of_classes_are_there(names):
    check_names(check_members, names)


def check_members(name):
    value = resolve(name)
    declared = {name for base in value.__mro__ for name in inspect.get_annotations(base)}
    holder = value() if name in WITH_ATTRIBUTES else value
    absent = {member for member in TABLE[name]["members"] if not hasattr(holder, member)} - declared
    if name == "test.TestCase":
        absent -= DROPPED_BY_PYTHON
    if np.lib.NumpyVersion(np.__version__) < "2.1.0" and is_numpys(value):
        absent -= ADDED_BY_NUMPY
    left_out = set(LEFT_OUT.get(name, LEFT_OUT.get(name.rpartition(".")[2], {})))
    if name == "test.TestCase":
        left_out -= set(dir(unittest.TestCase))  # which has some of TensorFlow's assertions from Python 3.14 on
    assert absent == left_out


@for_each_namespace(FUNCTIONS)
def test_functions_are_documented_with_an_example(names):
    check_names(check_docstring, names)


def check_docstring(name):
    text = inspect.getdoc(resolve(name)) or ""
    assert text, "no docstring"
    assert text.splitlines()[0].endswith((".", ":")), "the first line is a sentence"
    assert ">>>" in text, "no example"


def test_classes_are_documented():
    classes = {*CLASSES} - {"compat.v1.SummaryMetadata"}  # tensorboardX's
    assert not [name for name in sorted(classes) if not resolve(name).__doc__]


def test_the_version_is_that_of_tensorflow():
    assert tf.__version__ == tf.version.VERSION == tf.compat.v2.__version__ == "2.21.0"
    assert (tf.__git_version__, tf.__cxx11_abi_flag__) == (tf.version.GIT_VERSION, tf.sysconfig.CXX11_ABI_FLAG)
    assert {"__version__", "__git_version__", "__gradtape_version__"} <= set(dir(tf))
    assert tf.__gradtape_version__ == importlib.metadata.version("gradtape")


def test_importing_gradtape_is_light():
    code = "import sys, gradtape; print(*{name.split('.')[0] for name in sys.modules})"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not set(printed.split()) & {"scipy", "keras", "jax", "cupy", "matplotlib", "tensorflow", "rich", "torch"}


def test_a_first_step_imports_only_what_it_needs():
    code = """
import sys, gradtape as tf
step = lambda x: tf.reduce_mean(tf.square(tf.matmul(x, w)))
x, w = tf.ones([1, 2]), tf.Variable([[1.0], [2.0]])
for choose in (lambda: step, lambda: tf.function(step)):
    with tf.GradientTape() as tape:
        loss = choose()(x)
    w.assign_sub(tape.gradient(loss, w))
    print(*sys.modules)
"""
    environment = {name: value for name, value in os.environ.items() if name != "KERAS_BACKEND"}  # which loads a hook
    printed = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout
    eager, traced = [set(line.split()) for line in printed.splitlines()]
    rare = {
        "gradtape.engine.derivatives", "gradtape.engine.memory", "gradtape.graph.executors.xla", "gradtape.ops.nn",
        "gradtape.ops.random", "gradtape.ragged.tensor", "logging", "numpy.random", "tempfile",
    }  # fmt: skip
    assert not (eager | traced) & rare
    assert not eager & {"gradtape.graph", "gradtape.engine.run.randomness", "gradtape.engine.tape.forward"}


@pytest.mark.skipif(sys.platform != "linux", reason="needs glibc")
@pytest.mark.parametrize(
    ("chosen", "printed"), [({}, "imported mallopt recorded"), ({"GRADTAPE_MALLOC": "default"}, "imported recorded")]
)
def test_the_first_recording_asks_malloc_to_keep_memory_and_importing_does_not(chosen, printed):
    code = """
import ctypes
class Watched(ctypes.CDLL):
    def __getattr__(self, name):
        if name == "mallopt":
            print(name)
        return super().__getattr__(name)
ctypes.CDLL = Watched
import gradtape as tf
tf.ones(3) + 1
print("imported")
for _ in range(2):
    with tf.GradientTape() as tape:
        pass
print("recorded")
"""
    environment = {name: value for name, value in os.environ.items() if name != "GRADTAPE_MALLOC"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**environment, **chosen})
    assert (done.stdout.split(), done.returncode) == (printed.split(), 0)


def test_importing_gradtape_silences_nothing_but_its_own_kernels():
    code = """
import warnings, numpy as np
before = list(warnings.filters)
import gradtape as tf
added = [f for f in warnings.filters if f not in before]
assert [f[3].pattern for f in added] == ["gradtape\\\\."], added
with warnings.catch_warnings(record=True) as said:
    tf.math.log(0.0)
    assert not said
    np.log(np.zeros(1))
    assert len(said) == 1
"""
    subprocess.run([sys.executable, "-c", code], check=True)
