"""SavedModels: written by TensorFlow, written by gradtape, and damaged."""

import json
import os
import shutil
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from saved_model_cases import CASES, results
from saved_modules import module_of

import gradtape as tf
from gradtape.checkpoint.object_graph import describe_objects
from gradtape.saved_model.functions import LoadedConcreteFunction
from gradtape.saved_model.interpretation import UnknownResource

RECORDED = Path(__file__).parent / "data/saved_models.zip"  # written by tools/record_saved_models.py
S = tf.TensorSpec


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    with zipfile.ZipFile(RECORDED) as file:
        file.extractall(folder)
    return folder


@pytest.fixture
def module(recorded):
    return tf.saved_model.load(recorded / "module")


def test_what_tensorflow_saved_is_there(module):
    assert module.w.numpy().tolist() == [[0, 1], [2, 3], [4, 5]] and module.w.name == "w:0"
    stored = describe_objects(module)[1].values()
    assert sorted(v.name for v in stored if v.trainable) == ["b:0", "five:0", "six:0", "w:0"]
    assert sorted(v.name for v in stored if not v.trainable) == ["StateVar:0", "n:0"]
    assert not hasattr(module, "trainable_variables")  # a loaded module is no module, as in TensorFlow
    assert float(module.parts[1]["x"]) == 6
    assert module.tensorflow_version == "2.21.0"


def test_a_loaded_object_is_called_for_any_batch(module):
    assert module(tf.constant([[1.0, 2.0, 3.0]])).numpy().tolist() == [[17, 24]]
    assert module(np.ones((4, 3), "f")).shape == (4, 2)
    assert module.__call__.input_signature == (S([None, 3]),)


def test_a_function_is_chosen_by_its_arguments(module):
    x = tf.constant([1.0, 2.0])
    assert module.poly(x)["y"].numpy().tolist() == [4, 8]
    assert module.poly(x, True)["y"].numpy().tolist() == [5, 8]
    assert module.poly(np.array([[1, 2]], "f"), training=True, scale=3.0)["y"].numpy().tolist() == [[6, 10]]
    with pytest.raises(ValueError, match=r"Could not find matching concrete function(.|\n)*3 option\(s\)(.|\n)*3.0"):
        module.poly(tf.constant([1, 2, 3]))
    with pytest.raises(TypeError, match="too many positional"):
        module.poly(x, True, 3.0)


def test_control_flow_and_assignments_of_a_loaded_function(module):
    x, n = module.control(tf.constant(4.0))
    assert (float(x), int(n), int(module.n)) == (18, 1, 1)
    module.control(tf.constant(4.0))
    assert int(module.n) == 2
    assert module.running(tf.constant([[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]])).numpy()[-1].tolist() == [5.25, 10.5]


def test_signatures_take_names_and_give_dicts(module):
    serve = module.signatures["serving_default"]
    x = tf.constant([[1.0, 2.0, 3.0]])
    assert serve(inp=x)["out"].numpy().tolist() == serve(x)["out"].numpy().tolist() == [[17, 24]]
    assert serve.structured_input_signature == ((), {"inp": S([None, 3], name="inp")})
    assert serve.structured_outputs == {"out": S([None, 2], name="out")}
    assert isinstance(serve, tf.types.experimental.ConcreteFunction) and len(serve.variables) == 2
    assert list(module.signatures) == ["serving_default"]
    with pytest.raises(TypeError, match="unexpected keyword arguments: other"):
        serve(other=x)
    with pytest.raises(TypeError, match="missing required arguments: inp"):
        serve()


def test_an_op_that_is_missing_is_named_when_it_is_called(module):
    with pytest.raises(tf.errors.UnimplementedError, match="UnicodeScript"):
        module.unsupported(tf.constant([1.0]))


@pytest.mark.parametrize("name", ["images", "words"])
def test_a_keras_model_exported_by_tensorflow(recorded, name):
    answers = json.loads((recorded / "answers.json").read_text())[name]
    model = tf.saved_model.load(recorded / name)
    x = tf.constant(answers["x"])
    np.testing.assert_allclose(model.serve(x), answers["y"], rtol=1e-5)
    np.testing.assert_allclose(model.signatures["serving_default"](x)["output_0"], answers["y"], rtol=1e-5)
    assert model.serve(x[:1]).shape[0] == 1
    found, again = slopes(model, x), slopes(model, x)
    np.testing.assert_allclose(found, again)
    if name == "words":  # batch normalization is saved in inference mode, and was recorded in it too
        np.testing.assert_allclose(found, answers["slopes"], rtol=1e-4)


def slopes(model, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model.serve(x) ** 2)
    return [float(tf.reduce_sum(tf.abs(g))) for g in tape.gradient(loss, model.trainable_variables)]


def test_a_loaded_model_is_trained(module):
    x, y = tf.constant([[1.0, 2.0, 3.0]]), tf.constant([[1.0, 2.0]])
    losses = []
    for _ in range(20):
        with tf.GradientTape() as tape:
            losses.append(tf.reduce_mean((module(x) - y) ** 2))
        for variable, slope in zip([module.w, module.b], tape.gradient(losses[-1], [module.w, module.b]), strict=True):
            variable.assign_sub(0.02 * slope)
    assert losses[-1] < 1e-2 * losses[0]


class Model(tf.Module):
    """A module with all kinds of members."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
        self.count = tf.Variable(0, trainable=False, name="count")
        self.inner = [tf.Module(), {"v": tf.Variable(3.0)}]
        self.inner[0].b = tf.Variable([1.0, -1.0], name="b")
        self.nothing = []

    @tf.function(input_signature=[S([None, 2], name="x")])
    def __call__(self, x):
        return tf.nn.relu(x @ self.w + self.inner[0].b)

    @tf.function(input_signature=[S([None, None, 2])])
    def attention(self, x):
        size = tf.shape(x)[1]
        mask = tf.linalg.band_part(tf.ones([size, size]), -1, 0)
        scores = tf.where(mask > 0, tf.matmul(x, x, transpose_b=True), -1e9)
        return tf.einsum("bij,bjd->bid", tf.nn.softmax(scores), x) + tf.cast(tf.range(size), tf.float32)[:, None]

    @tf.function(input_signature=[S([None, None, None, 1])])
    def image(self, x):
        y = tf.nn.conv2d(x, tf.ones([3, 3, 1, 2]), strides=2, padding="SAME")
        y = tf.nn.max_pool2d(y, 2, 2, "SAME")
        return tf.reshape(y, [tf.shape(y)[0], -1]), tf.zeros([tf.shape(x)[0], 3])

    @tf.function(input_signature=[S([], tf.float32)])
    def control(self, x):
        self.count.assign_add(1)
        while x < 100.0:
            x = x * 2.0
        return (x - 1.0 if x > 120.0 else x + 1.0), self.count

    @tf.function(input_signature=[S([None, 2])])
    def running(self, x):
        return tf.scan(lambda total, row: 0.5 * total + row, x)

    @tf.function
    def scaled(self, x, by=2.0, *, minus=False):
        return {"a": x * by, "b": [-x if minus else x, None]}


CALLS = {
    "__call__": ([[1.0, 2.0], [-3.0, 1.0], [0.5, 0.5]],),
    "attention": (np.random.default_rng(0).normal(size=(2, 5, 2)).astype("f"),),
    "image": (np.random.default_rng(1).normal(size=(3, 21, 10, 1)).astype("f"),),
    "control": (3.0,),
    "running": (np.random.default_rng(2).normal(size=(4, 2)).astype("f"),),
}


@pytest.fixture
def saved(tmp_path):
    model = Model()
    model.scaled(tf.constant([1.0, 2.0]))
    model.scaled(tf.constant([1.0, 2.0]), 3.0, minus=True)
    tf.saved_model.save(model, tmp_path / "model")
    return model, tmp_path / "model"


@pytest.mark.parametrize("name", CALLS)
def test_what_is_saved_gives_the_same_when_loaded(saved, name):
    model, folder = saved
    given = [tf.constant(x) for x in CALLS[name]]
    wanted = getattr(model, name)(*given)
    found = getattr(tf.saved_model.load(folder), name)(*given)
    tf.nest.map_structure(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), wanted, found)


def test_traced_signatures_are_saved_with_python_values(saved):
    loaded = tf.saved_model.load(saved[1])
    assert loaded.scaled(tf.constant([1.0, 2.0]))["a"].numpy().tolist() == [2, 4]
    found = loaded.scaled(tf.constant([1.0, 2.0]), 3.0, minus=True)
    assert found["a"].numpy().tolist() == [3, 6] and found["b"][0].numpy().tolist() == [-1, -2]
    assert found["b"][1] is None
    with pytest.raises(ValueError, match="Could not find matching concrete function"):
        loaded.scaled(tf.constant([1.0, 2.0]), 4.0)


def test_gradients_of_what_was_saved(saved):
    model, folder = saved
    loaded = tf.saved_model.load(folder)
    x = tf.constant(CALLS["__call__"][0])

    def slope(f, w):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(f(x) ** 2)
        return tape.gradient(y, w)

    np.testing.assert_allclose(slope(model, model.w), slope(loaded, loaded.w))
    assert isinstance(loaded.inner, list) and float(loaded.inner[1]["v"]) == 3 and loaded.nothing == []


def test_a_loaded_object_is_saved_again(saved, tmp_path):
    loaded = tf.saved_model.load(saved[1])
    loaded.w.assign(tf.zeros([2, 2]))
    tf.saved_model.save(loaded, tmp_path / "again")
    again = tf.saved_model.load(tmp_path / "again")
    assert again(tf.constant([[5.0, 5.0]])).numpy().tolist() == [[1, 0]]
    assert list(again.signatures) == list(loaded.signatures)
    assert again.scaled(tf.constant([1.0, 2.0]))["a"].numpy().tolist() == [2, 4]


def test_random_numbers_are_drawn_anew_in_every_run(tmp_path):
    module = tf.Module()
    module.noise = tf.function(lambda x: x + tf.random.normal(tf.shape(x)), input_signature=[S([None])])
    module.dropped = tf.function(lambda x: tf.nn.dropout(x, 0.5), input_signature=[S([None])])
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    a, b = (loaded.noise(tf.zeros([1000])).numpy() for _ in range(2))
    assert not np.array_equal(a, b) and abs(a.mean()) < 0.2 and abs(a.std() - 1) < 0.1
    assert set(loaded.dropped(tf.ones([50])).numpy().tolist()) == {0.0, 2.0}


NOISE = [0.83715129, 0.71805596, 0.98093462], [0.46646512, 0.41914034], [1278, 6, 9]  # TensorFlow's


class Noise(tf.Module):
    def __init__(self):
        super().__init__()
        self.generator = tf.random.Generator.from_state([-2, 5, 9], "philox")

    @tf.function(input_signature=[S([None])])
    def noise(self, x):
        return x + self.generator.uniform(tf.shape(x))


@pytest.mark.parametrize("by", ["tensorflow", "gradtape"])
def test_a_generator_goes_on_where_it_was_saved(recorded, tmp_path, by):
    folder = recorded / "module" if by == "tensorflow" else tmp_path / "m"
    if by == "gradtape":
        tf.saved_model.save(Noise(), folder)
    loaded = tf.saved_model.load(folder)
    first, second, state = NOISE
    np.testing.assert_array_equal(loaded.noise(tf.zeros([3])), np.float32(first))
    np.testing.assert_array_equal(loaded.noise(tf.zeros([2])), np.float32(second))
    assert loaded.generator._state_var.numpy().tolist() == state  # past 64 bits of the counter


def test_signatures_that_are_given(tmp_path):
    module = tf.Module()
    module.v = tf.Variable(2.0)
    f = tf.function(lambda a, b: (a * module.v, b), input_signature=[S([]), S([None], tf.int32, name="named")])
    tf.saved_model.save(module, tmp_path / "m", signatures={"first": f, "second": f.get_concrete_function()})
    loaded = tf.saved_model.load(tmp_path / "m")
    assert sorted(loaded.signatures) == ["first", "second"]
    found = loaded.signatures["first"](a=tf.constant(4.0), named=tf.constant([1, 2]))
    assert float(found["output_0"]) == 8 and found["output_1"].numpy().tolist() == [1, 2]
    bad = tf.function(lambda x: {"y": [x]}, input_signature=[S([])])
    with pytest.raises(ValueError, match="Got a non-Tensor value"):
        tf.saved_model.save(module, tmp_path / "bad", signatures=bad)
    with pytest.raises(ValueError, match="Expected a TensorFlow function"):
        tf.saved_model.save(module, tmp_path / "bad", signatures=lambda x: x)
    assert os.listdir(tmp_path) == ["m"]


def test_an_asset_goes_along(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("a b")
    module = tf.Module()
    module.file = tf.saved_model.Asset(str(words))
    module.path = tf.function(lambda: tf.identity(module.file.asset_path), input_signature=[])
    tf.saved_model.save(module, tmp_path / "m")
    words.unlink()
    shutil.move(tmp_path / "m", tmp_path / "moved")
    loaded = tf.saved_model.load(tmp_path / "moved")
    assert Path(os.fsdecode(loaded.path().numpy())).read_text() == "a b"
    assert Path(os.fsdecode(loaded.file.asset_path.numpy())).parent == tmp_path / "moved/assets"


UNSAVED = tf.errors.UnimplementedError
untracked = tf.Variable(2.0)


def noise(shape):
    return np.random.default_rng(0).normal(size=shape).astype("f")


def test_tables_and_functions_on_strings(tmp_path):
    module = tf.Module()
    rows = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1.0, 2.0])
    module.table = tf.lookup.StaticHashTable(rows, default_value=-1.0)
    words = tf.lookup.KeyValueTensorInitializer(["x", "y"], tf.constant([0, 1], tf.int64))
    module.words = tf.lookup.StaticVocabularyTable(words, 3)

    @tf.function(input_signature=[S([None], tf.string)])
    def look(x):
        x = tf.strings.regex_replace(tf.strings.lower(tf.strings.strip(x)), "[0-9]+", "")
        return module.table.lookup(x), tf.strings.join([x, tf.strings.as_string(tf.strings.length(x))], "-")

    module.look = look
    module.number = tf.function(module.words.lookup, input_signature=[S([None], tf.string)])
    x, y = tf.constant([" A1", "b", "c"]), tf.constant(["y", "unknown", "x"])
    wanted = module.look(x), module.number(y)
    for name in ("once", "twice"):
        tf.saved_model.save(module, tmp_path / name)
        module = tf.saved_model.load(tmp_path / name)
        found = module.look(x), module.number(y)
        tf.nest.map_structure(lambda a, b: np.testing.assert_array_equal(a, b), wanted, found)
    assert wanted[0][0].numpy().tolist() == [1, 2, -1] and wanted[0][1].numpy().tolist() == [b"a-1", b"b-1", b"c-1"]


def test_functions_under_other_names(tmp_path):
    module = module_of(lambda x: 2.0 * x, S([None]))
    tf.saved_model.save(module, tmp_path / "m", options=tf.saved_model.SaveOptions(function_aliases={"g": module.f}))
    options = tf.saved_model.LoadOptions(experimental_load_function_aliases=True)
    loaded = tf.saved_model.load(tmp_path / "m", options=options)
    assert loaded.function_aliases["g"](tf.constant([1.0, 2.0])).numpy().tolist() == [2, 4]


@pytest.mark.parametrize(
    ("module", "error", "message"),
    [
        (lambda: module_of(lambda x: tf.numpy_function(np.sin, [x], tf.float32), S([2])), UNSAVED, "Python function"),
        (lambda: module_of(lambda x: tf.strings.unicode_script(x), S([2], tf.int32)), UNSAVED, "a function on strings"),
        (lambda: module_of(lambda x: x + noise(x.shape), S([None])), UNSAVED, "a constant in it, of shape"),
        (lambda: module_of(lambda x: sum(tf.unstack(x)), S([None])), UNSAVED, "what it does depends on a size"),
        (lambda: module_of(lambda x: tf.range(0.0, x, 0.5), S([])), UNSAVED, "depends on the value of a tensor"),
        (lambda: module_of(lambda x: x * untracked, S([2])), AssertionError, "references an 'untracked' resource"),
        (lambda: 3, ValueError, "Expected an object of type `Trackable`"),
    ],
)  # fmt: skip
def test_what_cannot_be_saved_says_why_and_leaves_nothing(tmp_path, module, error, message):
    with pytest.raises(error, match=message):
        tf.saved_model.save(module(), tmp_path / "m")
    assert not os.listdir(tmp_path)


def test_a_failed_save_leaves_the_old_model(tmp_path):
    module = module_of(lambda x: 2.0 * x, S([2]))
    tf.saved_model.save(module, tmp_path / "m")
    module.g = tf.function(lambda x: tf.numpy_function(np.sin, [x], tf.float32), input_signature=[S([2])])
    with pytest.raises(tf.errors.UnimplementedError):
        tf.saved_model.save(module, tmp_path / "m")
    assert os.listdir(tmp_path) == ["m"]
    assert tf.saved_model.load(tmp_path / "m").f(tf.constant([1.0, 2.0])).numpy().tolist() == [2, 4]


def test_a_model_takes_the_place_of_an_older_one(tmp_path):
    tf.saved_model.save(module_of(lambda x: 2.0 * x, S([2])), tmp_path / "m")
    tf.saved_model.save(module_of(lambda x: 3.0 * x, S([2])), tmp_path / "m")
    assert tf.saved_model.load(tmp_path / "m").f(tf.constant([1.0, 2.0])).numpy().tolist() == [3, 6]
    assert sorted(os.listdir(tmp_path / "m")) == ["assets", "saved_model.pb", "variables"]


def test_folders_without_a_model(tmp_path):
    assert not tf.saved_model.contains_saved_model(tmp_path)
    with pytest.raises(OSError, match="SavedModel file does not exist at"):
        tf.saved_model.load(tmp_path)
    (tmp_path / "saved_model.pbtxt").write_text("")
    assert tf.saved_model.contains_saved_model(str(tmp_path))
    with pytest.raises(NotImplementedError, match="written as text"):
        tf.saved_model.load(tmp_path)


def test_tags(recorded):
    assert tf.saved_model.load(recorded / "module", tags=["serve"]) is not None
    assert tf.saved_model.load(recorded / "module", tags="serve") is not None
    with pytest.raises(ValueError, match=r"incompatible argument tags=\['train'\]"):
        tf.saved_model.load(recorded / "module", tags=["train"])


def test_a_damaged_file_is_an_error(recorded, tmp_path):
    data = (recorded / "module/saved_model.pb").read_bytes()
    rng = np.random.default_rng(0)
    shutil.copytree(recorded / "module", tmp_path / "m")
    for _ in range(40):
        damaged = bytearray(data)
        for at in rng.integers(0, len(data), 4):
            damaged[at] ^= int(rng.integers(1, 256))
        (tmp_path / "m/saved_model.pb").write_bytes(bytes(damaged[: rng.integers(len(data) // 2, len(data) + 1)]))
        try:
            loaded = tf.saved_model.load(tmp_path / "m")
            loaded(tf.ones([1, 3]))
        except (OSError, ValueError, TypeError, NotImplementedError, AttributeError, tf.errors.OpError) as error:
            assert str(error)
    (tmp_path / "m/saved_model.pb").write_bytes(data[: len(data) // 2])
    with pytest.raises((OSError, tf.errors.DataLossError, NotImplementedError)):
        tf.saved_model.load(tmp_path / "m")


def test_missing_variables(recorded, tmp_path):
    shutil.copytree(recorded / "module", tmp_path / "m")
    shutil.rmtree(tmp_path / "m/variables")
    with pytest.raises(tf.errors.NotFoundError, match="has variables, and their files"):
        tf.saved_model.load(tmp_path / "m")
    options = tf.saved_model.LoadOptions(experimental_skip_checkpoint=True)
    assert float(tf.reduce_sum(tf.saved_model.load(tmp_path / "m", options=options).w)) == 0


def test_saving_inside_a_function_is_refused(tmp_path):
    with pytest.raises(AssertionError, match="inside a traced"):
        tf.function(lambda: tf.saved_model.save(tf.Module(), tmp_path / "m"))()


def test_signatures_take_their_names_in_any_order(tmp_path):
    module = module_of(lambda x, a: x - tf.cast(a, tf.float32), S([None], tf.float32, "x"), S([], tf.int32, "a"))
    tf.saved_model.save(module, tmp_path / "m")
    serve = tf.saved_model.load(tmp_path / "m").signatures["serving_default"]
    assert serve(x=tf.constant([5.0]), a=tf.constant(2))["output_0"].numpy().tolist() == [3]


@pytest.mark.parametrize("function", [tf.strings.split, lambda x: tf.strings.split(x, ",", 1)])
def test_strings_that_are_cut(tmp_path, function):
    tf.saved_model.save(module_of(function, S([None], tf.string)), tmp_path / "m")
    texts = tf.constant(["a b,c", "", "d,,e"])
    assert tf.saved_model.load(tmp_path / "m").f(texts).to_list() == function(texts).to_list()


def test_graphs_of_loaded_functions_list_their_captures(tmp_path):
    root = tf.Module()
    root.v, root.w = tf.Variable(1.0), tf.Variable(2.0)
    root.f = tf.function(lambda x: root.v + root.w + x, input_signature=[S([], tf.float32)])
    tf.saved_model.save(root, tmp_path / "m", signatures=root.f.get_concrete_function())
    loaded = tf.saved_model.load(tmp_path / "m")
    for function in (loaded.f.get_concrete_function(), loaded.signatures["serving_default"]):
        assert {*map(id, function.graph.external_captures)} == {id(loaded.v), id(loaded.w)}


@pytest.mark.parametrize("name", CASES)
def test_cases_that_tensorflow_has_recorded(recorded, tmp_path, name):
    """SavedModels of TensorFlow and of gradtape give TensorFlow's results for its own."""
    answers = json.loads((recorded / "answers.json").read_text())["cases"][name]
    case = CASES[name](tf, str(tmp_path))
    tf.saved_model.save(case.root, tmp_path / "m", **case.saving)
    live = results(tf, case.root, {call: case.calls[call] for call in case.fails_in_tensorflow})
    for folder in (recorded / "cases" / name, tmp_path / "m"):
        found = results(tf, tf.saved_model.load(folder), case.calls)
        for call, values in {**answers, **live}.items():
            assert_same(found[call], values)


def assert_same(found, wanted):
    if isinstance(wanted, list) and isinstance(found, list):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            assert_same(a, b)
    elif isinstance(wanted, int | float):
        assert found == pytest.approx(wanted, rel=1e-5, abs=1e-6)
    else:
        assert found == wanted


def test_functions_in_a_list_are_loaded(tmp_path):
    root = tf.train.Checkpoint(v=tf.Variable(3.0))
    root.losses = [
        tf.function(lambda: root.v * 2.0, input_signature=[]),
        tf.function(lambda: root.v + 1.0, input_signature=[]),
    ]
    tf.saved_model.save(root, str(tmp_path))
    assert [loss().numpy() for loss in tf.saved_model.load(str(tmp_path)).losses] == [6.0, 4.0]


def test_traces_that_a_file_cannot_hold_are_left_out(tmp_path):
    module = tf.Module()
    module.v = tf.Variable([1.0, 2.0])
    module.scaled = tf.function(lambda x, other=None: 2.0 * x)
    module.scaled(module.v, other=object())
    module.scaled(module.v)
    tf.saved_model.save(module, tmp_path / "module")
    loaded = tf.saved_model.load(tmp_path / "module")
    assert len(loaded.scaled.concrete_functions) == 1
    assert loaded.scaled(loaded.v).numpy().tolist() == loaded.scaled([1.0, 2.0]).numpy().tolist() == [2.0, 4.0]


def test_a_function_that_captures_a_dataset_fails_only_when_it_is_called():
    """The definition of a dataset's capture is `variant`; an op that gradtape does not have creates it."""
    unknown = UnknownResource(tf.errors.UnimplementedError(None, None, "no op TensorSliceDataset"))
    definition = SimpleNamespace(name="f", inputs=["x"], dtypes=[tf.float32, tf.variant], output_dtypes=[])
    LoadedConcreteFunction(definition, [unknown], ((S([]),), {}), []).check()
    with pytest.raises(tf.errors.UnimplementedError, match="TensorSliceDataset"):
        _ = unknown.dtype
