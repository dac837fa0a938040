"""Copies and pickles of an object of every public class, before and after its first use.

Each works, or raises a TypeError that says what to pickle instead.
"""

import copy
import enum
import os
import pickle
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from pickle_cases import (
    CASES,
    CLASSES,
    COPIED_AS_THEMSELVES,
    NOT_CREATED,
    UNPICKLABLE,
    UNPICKLABLE_AFTER_USE,
    create,
    state,
)  # fmt: skip

import gradtape as tf
from gradtape.api.names import NAMES
from gradtape.api.namespace import resolve
from gradtape.core.extras import is_installed

SHALLOW = {"copy": copy.copy}
DEEP = {"deepcopy": copy.deepcopy}
DATASETS = ("data.Dataset", "data.experimental.DatasetInitializer")
PICKLED = {f"protocol {n}": lambda x, n=n: pickle.loads(pickle.dumps(x, n)) for n in range(2, 6)}
if find_spec("cloudpickle"):
    import cloudpickle

    PICKLED["cloudpickle"] = lambda x: pickle.loads(cloudpickle.dumps(x))
if find_spec("dill") and sys.version_info < (3, 15):  # dill 0.4 reads `co_lnotab`, which code objects lack from 3.15 on
    import dill

    PICKLED["dill"] = lambda x: dill.loads(dill.dumps(x))
COPIES = SHALLOW | DEEP | PICKLED
SAYS_WHAT_TO_DO = r"^cannot pickle .+: .*\b([Pp]ickle|[Cc]reate|[Ww]rite|[Pp]ass|[Ss]ave|[Cc]all) \w+"
needs_cloudpickle = pytest.mark.skipif(not find_spec("cloudpickle"), reason="cloudpickle is not installed")
names = sorted(CLASSES.keys() - NOT_CREATED.keys())


def test_every_public_class_is_in_the_table():
    assert CASES.keys() | UNPICKLABLE | COPIED_AS_THEMSELVES | NOT_CREATED.keys() <= CLASSES.keys()
    assert not CASES.keys() & NOT_CREATED.keys()
    for name in NOT_CREATED:
        with pytest.raises((TypeError, NotImplementedError, AttributeError, AssertionError, ValueError, RuntimeError,
                            ImportError, tf.errors.OpError)):  # fmt: skip
            state(CLASSES[name]().use())


def test_classes_name_a_public_namespace():
    """Pickles then do not depend on where a class is implemented."""
    own = {f"{kind.__module__}.{kind.__qualname__}": kind for kind in CLASSES.values()}
    paths = {path.partition(".")[2]: kind for path, kind in own.items() if path.startswith("gradtape.")}
    internal = {kind.__name__ for path, kind in paths.items() if path not in NAMES or resolve(path) is not kind}
    assert internal == {"Function"}  # which has other public names


@pytest.mark.parametrize("name", names)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_copies(name):
    if name.startswith("nn.RNNCell") and not is_installed("keras"):
        pytest.skip("Keras is not installed")
    kind = CLASSES[name]
    if not kind.__module__.startswith("tensorflow.core") and not kind.__module__.startswith("tensorflow.compiler"):
        assert pickle.loads(pickle.dumps(kind)) is kind  # `import gradtape` has no modules of messages
    for title, again in COPIES.items():
        for is_used in (False, True):
            if name in DATASETS and title in PICKLED and not find_spec("cloudpickle"):
                continue
            (value, use), (reference, _) = create(name), create(name)
            if is_used:
                use(value), use(reference)
            raises = name in UNPICKLABLE or (name in UNPICKLABLE_AFTER_USE and is_used)
            if raises or (name in COPIED_AS_THEMSELVES and title in PICKLED):
                with pytest.raises(TypeError, match=SAYS_WHAT_TO_DO):
                    again(value)
                continue
            other = again(value)
            expected = use(reference)
            assert type(other) is type(value), title
            assert use(other) == expected, (title, is_used)
            if title not in SHALLOW:
                assert use(value) == expected, f"{title}: the copy is not independent"


@pytest.mark.parametrize("again", COPIES.values(), ids=COPIES)
def test_constants_and_errors_keep_their_identity_and_attributes(again):
    for name, kind in CLASSES.items():
        if issubclass(kind, enum.Enum):
            assert all(again(member) is member for member in kind), name
    for dtype in {value for value in vars(tf.dtypes).values() if isinstance(value, tf.DType)} | {tf.float32, tf.string}:
        assert again(dtype) is dtype
    with pytest.raises(tf.errors.InvalidArgumentError) as info:
        tf.reshape(tf.zeros([3]), [2])
    other = again(info.value)
    assert (type(other), other.message, str(other)) == (type(info.value), info.value.message, str(info.value))
    assert (other.op, other.node_def, other.error_code) == (None, None, info.value.error_code)
    empty = again(tf.experimental.Optional.empty(tf.TensorSpec([2])))
    assert not empty.has_value() and empty.element_spec == tf.TensorSpec([2])


@needs_cloudpickle
@pytest.mark.parametrize("again", COPIES.values(), ids=COPIES)
def test_datasets_with_state(again, tmp_path):
    variable = tf.Variable(3, dtype=tf.int64)

    def datasets():
        numbers = tf.data.Dataset.range(20)
        return (
            numbers.shuffle(5, seed=3),
            numbers.shuffle(5, seed=3, reshuffle_each_iteration=False).cache(),
            numbers.cache(str(tmp_path / "cache")).prefetch(2),
            numbers.map(lambda x: x * variable).batch(3).repeat(2),
            tf.data.Dataset.zip((numbers, numbers.interleave(lambda x: tf.data.Dataset.range(x), cycle_length=2))),
            tf.data.Dataset.from_generator(lambda: iter(range(3)), output_signature=tf.TensorSpec([], tf.int64)),
            numbers.group_by_window(lambda x: x % 2, lambda _, group: group.batch(4), 4),
        )

    for dataset, reference in zip(datasets(), datasets(), strict=True):
        other = again(dataset)
        assert other.element_spec == dataset.element_spec and int(other.cardinality()) == int(dataset.cardinality())
        assert [state(x) for x in other] == [state(x) for x in reference]


def test_datasets_without_cloudpickle_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(TypeError, match="pip install cloudpickle, or pickle the function that creates the dataset"):
        pickle.dumps(tf.data.Dataset.range(3))


@pytest.mark.several
@pytest.mark.several
def test_the_table_under_gradtape_run():
    """`gradtape run` gives classes TensorFlow's modules."""
    if "tensorflow" in sys.modules:
        pytest.skip("this is that run")
    program = "import sys, pytest, tensorflow; sys.exit(pytest.main(sys.argv[1:]))"
    words = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", "not under_gradtape_run"]
    files = [__file__, str(Path(__file__).with_name("test_pickles.py"))]
    command = [sys.executable, "-m", "gradtape", "run", "-c", program, *words, *files]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTEST_ADDOPTS": ""})
    assert done.returncode == 0, done.stdout[-3000:]
