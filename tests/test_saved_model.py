"""SavedModels: written by TensorFlow, written by gradtape, and damaged."""

import json
import os
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from saved_model_cases import CASES, results

import gradtape as tf
from gradtape.api.saved_model.loading import read

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
    assert [v.name for v in module.trainable_variables] == ["b:0", "five:0", "six:0", "w:0"]
    assert [v.name for v in module.non_trainable_variables] == ["n:0", "StateVar:0"]
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
    module = one(lambda x: 2.0 * x, S([None]))
    tf.saved_model.save(module, tmp_path / "m", options=tf.saved_model.SaveOptions(function_aliases={"g": module.f}))
    options = tf.saved_model.LoadOptions(experimental_load_function_aliases=True)
    loaded = tf.saved_model.load(tmp_path / "m", options=options)
    assert loaded.function_aliases["g"](tf.constant([1.0, 2.0])).numpy().tolist() == [2, 4]


def one(function, *specs):
    module = tf.Module()
    module.f = tf.function(function, input_signature=list(specs))
    return module


@pytest.mark.parametrize(
    ("module", "error", "message"),
    [
        (lambda: one(lambda x: tf.numpy_function(np.sin, [x], tf.float32), S([2])), UNSAVED, "Python function"),
        (lambda: one(lambda x: tf.strings.unicode_transcode(x, "UTF-8", "UTF-16-BE"), S([2], tf.string)), UNSAVED,
         "a function on strings"),
        (lambda: one(lambda x: x + noise(x.shape), S([None])), UNSAVED, "a constant in it, of shape"),
        (lambda: one(lambda x: sum(tf.unstack(x)), S([None])), UNSAVED, "what it does depends on a size"),
        (lambda: one(lambda x: tf.range(0.0, x, 0.5), S([])), UNSAVED, "depends on the value of a tensor"),
        (lambda: one(lambda x: x * untracked, S([2])), AssertionError, "references an 'untracked' resource"),
        (lambda: 3, ValueError, "Expected an object of type `Trackable`"),
    ],
)  # fmt: skip
def test_what_cannot_be_saved_says_why_and_leaves_nothing(tmp_path, module, error, message):
    with pytest.raises(error, match=message):
        tf.saved_model.save(module(), tmp_path / "m")
    assert not os.listdir(tmp_path)


def test_a_failed_save_leaves_the_old_model(tmp_path):
    module = one(lambda x: 2.0 * x, S([2]))
    tf.saved_model.save(module, tmp_path / "m")
    module.g = tf.function(lambda x: tf.numpy_function(np.sin, [x], tf.float32), input_signature=[S([2])])
    with pytest.raises(tf.errors.UnimplementedError):
        tf.saved_model.save(module, tmp_path / "m")
    assert os.listdir(tmp_path) == ["m"]
    assert tf.saved_model.load(tmp_path / "m").f(tf.constant([1.0, 2.0])).numpy().tolist() == [2, 4]


def test_a_model_takes_the_place_of_an_older_one(tmp_path):
    tf.saved_model.save(one(lambda x: 2.0 * x, S([2])), tmp_path / "m")
    tf.saved_model.save(one(lambda x: 3.0 * x, S([2])), tmp_path / "m")
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


def test_a_number_that_is_a_size_stays_open(tmp_path):
    module = one(lambda n: tf.tile([[1.0]], [tf.cast(n, tf.int32), 1]), S([]))
    module.g = tf.function(lambda n, x: tf.reshape(x, [n, -1]), input_signature=[S([], tf.int32), S([12])])
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    assert [loaded.f(tf.constant(float(n))).shape for n in (0, 1, 3)] == [(0, 1), (1, 1), (3, 1)]
    assert [loaded.g(tf.constant(n), tf.zeros([12])).shape for n in (2, 6)] == [(2, 6), (6, 2)]


def test_a_rank_that_is_open_stays_open(tmp_path):
    class Scaled(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = tf.Variable(2.0)

        @tf.function
        def __call__(self, x):
            return {"y": self.v * x + 1.0}

        @tf.function(input_signature=[S(None, tf.float32), S(None, tf.float32)])
        def product(self, x, y):
            return x * y

    module = Scaled()
    call = module.__call__.get_concrete_function(S(None, tf.float32))
    tf.saved_model.save(module, tmp_path / "model", signatures=call)
    loaded = tf.saved_model.load(tmp_path / "model")
    for x in (tf.constant(3.0), tf.range(2.0), tf.ones([2, 3]), tf.ones([1, 2, 3, 4])):
        for y in (loaded(x)["y"], loaded.signatures["serving_default"](x)["y"]):
            assert y.numpy().tolist() == (2.0 * x + 1.0).numpy().tolist()
        assert loaded.product(x, x).numpy().tolist() == (x * x).numpy().tolist()
    assert loaded.signatures["serving_default"].structured_outputs == {"y": S(None, tf.float32, "y")}


@pytest.mark.parametrize(
    ("function", "lowest_rank"),
    [
        (tf.reduce_sum, 0), (lambda x: x - tf.reduce_mean(x), 0), (lambda x: tf.clip_by_norm(x, 0.5), 0),
        (lambda x: tf.reduce_max(x, keepdims=True), 0), (tf.size, 0), (tf.rank, 0), (tf.reduce_logsumexp, 0),
        (lambda x: tf.cond(tf.reduce_sum(x) > 0.0, lambda: x, lambda: -x), 0), (tf.nn.softmax, 1),
        (lambda x: tf.reduce_sum(x, axis=-1), 1), (lambda x: tf.reduce_sum(x, axis=0), 1), (tf.transpose, 0),
    ],
)  # fmt: skip
def test_all_axes_of_an_open_rank(tmp_path, function, lowest_rank):
    tf.saved_model.save(one(function, S(None, tf.float32)), tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    for x in (tf.constant(-3.0), tf.constant([1.0, -2.0]), tf.ones([2, 3, 1, 2]))[lowest_rank:]:
        np.testing.assert_allclose(loaded.f(x), function(x), rtol=1e-6)


def test_what_depends_on_an_open_rank_is_refused(tmp_path):
    module = tf.Module()
    module.turned = tf.function(lambda x: tf.tile(x, tf.fill([tf.rank(x)], 2)), input_signature=[S(None, tf.float32)])
    with pytest.raises(tf.errors.UnimplementedError, match="cannot be saved in a SavedModel"):
        tf.saved_model.save(module, tmp_path / "model")


def test_shapes_that_depend_on_values(tmp_path):
    module = one(lambda x: tf.boolean_mask(x, x > 0) - 1.0, S([None]))
    module.g = tf.function(lambda x: tf.reshape(tf.where(x > 0), [-1]), input_signature=[S([4])])
    module.h = tf.function(lambda x: tf.zeros_like(tf.boolean_mask(x, x > 0))[:, None] + tf.ones([1, 2]), [S([None])])
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    assert loaded.f(tf.constant([3.0, -1.0, 2.0])).numpy().tolist() == [2, 1]
    assert loaded.f(tf.constant([-1.0] * 5)).shape == (0,)
    assert loaded.g(tf.constant([1.0, 0.0, 0.0, 2.0])).numpy().tolist() == [0, 3]
    assert loaded.h(tf.constant([1.0, 0.0, 3.0])).shape == (2, 2)


def test_a_matrix_that_must_have_an_inverse(tmp_path):
    module = one(lambda x: tf.linalg.inv(x), S([None, None]))
    tf.saved_model.save(module, tmp_path / "m")
    found = tf.saved_model.load(tmp_path / "m").f(tf.constant([[2.0, 0.0], [0.0, 4.0]]))
    np.testing.assert_allclose(found, [[0.5, 0], [0, 0.25]])


@pytest.mark.parametrize(
    "function, shapes, given",
    [
        (lambda x: x - np.arange(9, dtype=np.float32), [[None, None]], [[[2, 9]], [[5, 1]], [[1, 9]]]),
        (lambda x: (x - np.ones(9, np.float32)) @ np.ones([9, 4], np.float32), [[None, None]], [[[2, 9]], [[3, 1]]]),
        (lambda x: x * tf.cast(tf.shape(x)[1], tf.float32) - np.ones(9, np.float32), [[None, None]],
         [[[2, 9]], [[2, 1]]]),
        (lambda x, y: x - np.ones(9, np.float32) + y, [[None, None], [None]],
         [[[2, 9], [9]], [[2, 1], [9]], [[2, 9], [1]]]),
    ],
)  # fmt: skip
def test_open_sizes_that_a_constant_determines(tmp_path, function, shapes, given):
    module = one(function, *[S(shape, tf.float32) for shape in shapes])
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    rng = np.random.default_rng(0)
    for sizes in given:
        xs = [tf.constant(rng.normal(size=size).astype(np.float32)) for size in sizes]
        np.testing.assert_array_equal(loaded.f(*xs), module.f(*xs))
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        loaded.f(*[tf.ones([7 for _ in shape]) for shape in shapes])


@tf.custom_gradient
def exponential(x):
    y = tf.exp(x)
    return tf.identity(y), lambda dy: dy * 7.0 * y


@tf.custom_gradient
def pair(x, n):
    def rule(a, b):
        return a * 2.0 + b * tf.cast(n, tf.float32), None

    return (x * x, x + 1.0), rule


@tf.custom_gradient
def looked_up(rows):
    where = tf.constant([0, 2, 2])
    return tf.gather(rows, where), lambda dy: tf.IndexedSlices(3.0 * dy, where, tf.shape(rows))


def scaled_by(v):
    @tf.custom_gradient
    def call(x):
        return x * v, lambda dy, variables: (5.0 * dy * v, [tf.reduce_sum(dy * x) * 11.0])

    return call


class WithGradients(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable(2.0)

    @tf.function(input_signature=[S([None])])
    def simple(self, x):
        return exponential(x) * 2.0

    @tf.function(input_signature=[S([None])])
    def of_two(self, x):
        a, b = pair(x, tf.constant(3))
        return a * b * self.v

    @tf.function(input_signature=[S([None])])
    def inside_a_branch(self, x):
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: exponential(x), lambda: -x)

    @tf.function(input_signature=[S([None])])
    def inside_a_loop(self, x):
        return tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, tf.sin(exponential(x))), [0, x])[1]

    @tf.function(input_signature=[S([4])])
    def slices(self, x):
        return looked_up(x)

    @tf.function(input_signature=[S([None])])
    def of_a_variable(self, x):
        return scaled_by(self.v)(x)

    @tf.function(input_signature=[S([None])])
    def recomputed(self, x):
        return tf.recompute_grad(lambda x: tf.sin(x) * x)(x)

    @tf.function(input_signature=[S([None])])
    def passed_through(self, x):
        return tf.grad_pass_through(tf.round)(x * 2.0)


GRADIENTS = [
    "simple", "of_two", "inside_a_branch", "inside_a_loop", "slices", "of_a_variable", "recomputed", "passed_through",
]  # fmt: skip


def derivatives(module, name):
    x = tf.constant([0.5, 1.5, -1.0, 2.0])
    with tf.GradientTape() as outer, tf.GradientTape(persistent=True) as tape:
        outer.watch(x)
        tape.watch(x)
        y = getattr(module, name)(x)
        by_x = tf.convert_to_tensor(tape.gradient(y, x))
    return [y, by_x, tape.gradient(y, module.v), outer.gradient(by_x, x)]


@pytest.mark.parametrize("name", GRADIENTS)
def test_custom_gradients_are_saved(tmp_path, name):
    module = WithGradients()
    wanted = derivatives(module, name)
    for folder in ("once", "twice"):
        tf.saved_model.save(module, tmp_path / folder)
        module = tf.saved_model.load(tmp_path / folder)
        for a, b in zip(wanted, derivatives(module, name), strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                np.testing.assert_allclose(a, b, rtol=1e-6)


def test_custom_gradients_that_are_not_saved(tmp_path):
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    tf.saved_model.save(WithGradients(), tmp_path / "m", options=options)
    loaded = tf.saved_model.load(tmp_path / "m")
    x = tf.constant([0.5])
    np.testing.assert_allclose(loaded.simple(x), 2 * np.exp([0.5]), rtol=1e-6)
    with pytest.raises(LookupError, match="experimental_custom_gradients"), tf.GradientTape() as tape:
        tape.watch(x)
        tape.gradient(loaded.simple(x), x)


def test_signatures_take_their_names_in_any_order(tmp_path):
    module = one(lambda x, a: x - tf.cast(a, tf.float32), S([None], tf.float32, "x"), S([], tf.int32, "a"))
    tf.saved_model.save(module, tmp_path / "m")
    serve = tf.saved_model.load(tmp_path / "m").signatures["serving_default"]
    assert serve(x=tf.constant([5.0]), a=tf.constant(2))["output_0"].numpy().tolist() == [3]


def test_an_open_size_that_a_product_or_a_branch_determines(tmp_path):
    def folded(x):
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.reshape(tf.reshape(x, [-1]), [tf.shape(x)[0], 3]), lambda: -x)

    module = one(folded, S([None, None]))
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    for sign in (1.0, -1.0):
        np.testing.assert_array_equal(loaded.f(sign * tf.ones([4, 3])), tf.ones([4, 3]))


def turned_once(x, y):
    return tf.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, tf.concat([z[:, 1:3], y[:, :1]], 1)), [0, x])[1]


def branches_apart(x, y):
    z = tf.cond(tf.reduce_sum(x) > 0.0, lambda: (y + tf.reduce_mean(x, 1, keepdims=True)) * tf.ones([1, 3]), lambda: x)
    return y + tf.reduce_mean(z, 0, keepdims=True)


def never_run(x, y):
    def goes_on(i, z):
        return tf.logical_and(i < 2, tf.reduce_sum(z) < -100.0)

    return tf.while_loop(goes_on, lambda i, z: (i + 1, z * tf.ones([1, 3]) + y), [0, x])[1]


@pytest.mark.parametrize("function", [turned_once, branches_apart, never_run])
def test_open_sizes_that_a_loop_or_branches_determine(tmp_path, function):
    """Some sizes follow from shapes that a loop must keep, others from branches, or a body that never ran."""
    module = one(function, S([None, None]), S([None, None]))
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    rng = np.random.default_rng(0)
    for rows in (2, 5):
        x, y = (tf.constant(rng.normal(size=[rows, 3]).astype("f")) for _ in range(2))
        for sign in (1.0, -1.0):
            np.testing.assert_allclose(loaded.f(sign * x, y), module.f(sign * x, y), rtol=1e-6)


WEIGHTS = np.arange(12, dtype=np.float32).reshape(3, 4)
RELATED_SIZES = {
    "stack": (lambda x, y: tf.stack([x @ WEIGHTS, y]), [2, 2], [[[5, 3], [5, 4]]]),
    "stack of columns": (lambda x, y: tf.stack([x[:, 0], y[:, 1]]), [2, 2], [[[4, 3], [4, 2]]]),
    "concat": (lambda x, y: tf.concat([x @ WEIGHTS, y], 1), [2, 2], [[[5, 3], [5, 2]]]),
    "concat with a constant": (lambda x: tf.concat([x, WEIGHTS], 0), [2], [[[2, 4]]]),
    "reshape": (lambda x, y: tf.reshape(tf.reshape(x, [-1]), tf.shape(y)), [2, 2],
                [[[4, 3], [4, 3]], [[2, 6], [3, 4]]]),
    "reshape of a product": (lambda x, y: tf.reshape(tf.reshape(x @ WEIGHTS, [-1]), tf.shape(y)), [2, 2],
                             [[[5, 3], [5, 4]]]),
    "reshape in pairs": (lambda x: tf.reshape(x, [-1, 2]), [2], [[[4, 3]], [[3, 2]]]),
    "reshape in halves": (lambda x: tf.reshape(x, [tf.shape(x)[0] // 2, 2, tf.shape(x)[1]]), [2], [[[4, 3]]]),
    "matmul": (lambda x, y: tf.matmul(x, y, transpose_a=True) @ WEIGHTS, [2, 2], [[[4, 5], [4, 3]]]),
    "square": (lambda x: x @ x, [2], [[[5, 5]]]),
    "where": (lambda x, y: tf.where(x > 0, x @ tf.ones([3, 3]), y), [2, 2], [[[4, 3], [4, 3]]]),
    "einsum": (lambda x, y: tf.einsum("bi,ij,bj->b", x, WEIGHTS, y), [2, 2], [[[5, 3], [5, 4]]]),
    "attention": (lambda q, k, v: tf.einsum("bqk,bkd->bqd", tf.nn.softmax(tf.einsum("bqd,bkd->bqk", q, k)), v),
                  [3, 3, 3], [[[2, 4, 3], [2, 5, 3], [2, 5, 7]]]),
    "tensordot": (lambda x, y: tf.tensordot(x, y, [[0, 1], [1, 0]]), [2, 2], [[[4, 3], [3, 4]]]),
    "cross entropy": (lambda x, y: tf.nn.softmax_cross_entropy_with_logits(y, x), [2, 2], [[[2, 5], [2, 5]]]),
    "scatter": (lambda x, y: tf.tensor_scatter_nd_add(x, [[0], [0]], y), [2, 2], [[[3, 5], [2, 5]]]),
    "cross": (tf.linalg.cross, [2, 2], [[[4, 3], [4, 3]]]),
    "split": (lambda x: tf.split(x, 3, axis=1)[1], [2], [[[3, 6]]]),
    "diagonal": (tf.linalg.set_diag, [2, 1], [[[4, 4], [4]], [[4, 6], [4]]]),
    "trace": (lambda x: tf.linalg.trace(x @ WEIGHTS), [2], [[[4, 3]]]),
    "blocks": (lambda x: tf.nn.space_to_depth(x, 2), [4], [[[1, 4, 6, 3]]]),
    "repeated": (lambda x, y: tf.concat([tf.repeat(x, 2, 1), y], -1), [3, 3], [[[1, 4, 2], [1, 8, 3]]]),
    "sparse": (lambda x: tf.sparse.sparse_dense_matmul(tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 4]), x), [2],
               [[[4, 2]]]),
    "stitch": (lambda x, y: tf.dynamic_stitch([[0, 2], [1, 3]], [x, y]), [2, 2], [[[2, 3], [2, 3]]]),
    "five": (lambda a, b, c, d, e: (a @ b + c) @ d + e, [2] * 5, [[[2, 8], [8, 3], [2, 3], [3, 5], [2, 5]]]),
}  # fmt: skip


@pytest.mark.parametrize("name", RELATED_SIZES)
def test_open_sizes_that_an_op_relates(tmp_path, name):
    """The invented sizes clash in each; the loaded function takes every size that the live one does."""
    function, ranks, given = RELATED_SIZES[name]
    module = one(function, *[S([None] * rank, tf.float32) for rank in ranks])
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    rng = np.random.default_rng(0)
    for shapes in given:
        xs = [tf.constant(rng.normal(size=shape).astype(np.float32)) for shape in shapes]
        np.testing.assert_allclose(loaded.f(*xs), module.f(*xs), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("function", [tf.strings.split, lambda x: tf.strings.split(x, ",", 1)])
def test_strings_that_are_cut(tmp_path, function):
    tf.saved_model.save(one(function, S([None], tf.string)), tmp_path / "m")
    texts = tf.constant(["a b,c", "", "d,,e"])
    assert tf.saved_model.load(tmp_path / "m").f(texts).to_list() == function(texts).to_list()


def functions_of(folder):
    """Returns the functions in the file, by name."""
    library = read(str(folder)).meta_graphs[0].graph_def.library
    return {function.signature.name: function for function in library.function}


def nodes_of(folder, *ops):
    return [(name, node) for name, f in functions_of(folder).items() for node in f.node_def if node.op in ops]


def test_a_branch_is_given_every_tensor_once(tmp_path):
    """TensorFlow's gradient of the node looks up its inputs by tensor, and fails on a duplicate."""
    half = tf.constant(0.5)
    module = one(lambda x: tf.cond(x[0] > 0.0, lambda: x * half + half, lambda: half * x), S([None]))
    tf.saved_model.save(module, tmp_path / "m")
    ((_, node),) = nodes_of(tmp_path / "m", "Case", "StatelessCase", "If", "StatelessIf")
    assert len(set(node.input)) == len(node.input)


def test_a_custom_gradient_captures_arguments_of_its_function_alone(tmp_path):
    """TensorFlow finds captured tensors for the gradient of a call, but not for that of a branch or a loop's body."""
    tf.saved_model.save(WithGradients(), tmp_path / "m")
    graph, functions = read(str(tmp_path / "m")).meta_graphs[0], functions_of(tmp_path / "m")
    captured = [node.captured_tensor for node in graph.object_graph_def.nodes if "captured_tensor" in node]
    assert captured
    for tensor in captured:
        arguments = [argument.name for argument in functions[tensor.concrete_function].signature.input_arg]
        assert tensor.name.partition(":")[0] in arguments
    callers = {node.attr["f"].func.name for _, node in nodes_of(tmp_path / "m", "PartitionedCall")}
    assert {name for name, _ in nodes_of(tmp_path / "m", "IdentityN")} <= callers


@pytest.mark.parametrize("shape", [[], [None]])
def test_a_loop_that_would_not_end_for_made_up_values_is_saved(tmp_path, shape):
    def f(x):
        y = tf.constant(1.0)
        while y < 100.0:
            y *= tf.reduce_sum(x)  # for input 1 the loop never ends
        return y

    module = tf.Module()
    module.f = tf.function(f, input_signature=[tf.TensorSpec(shape, tf.float32)])
    tf.saved_model.save(module, tmp_path)
    three = tf.fill([1] * len(shape), 3.0)
    assert float(tf.saved_model.load(tmp_path).f(three)) == float(module.f.get_concrete_function()(three)) == 243.0


def test_a_loop_begins_with_its_counter_and_its_limit(tmp_path):
    """TensorFlow's gradient of a loop expects the limit as its second input: if there is none, it is -1."""
    module = one(lambda x: tf.while_loop(lambda y: y < 100.0, lambda y: (y + x * x + 1.0,), [x])[0], S([]))
    tf.saved_model.save(module, tmp_path / "m")
    ((name, loop),) = nodes_of(tmp_path / "m", "While", "StatelessWhile")
    nodes = {node.name: node for node in functions_of(tmp_path / "m")[name].node_def}
    first, second = (nodes[reference.partition(":")[0]].attr["value"].tensor for reference in loop.input[:2])
    assert (int(tf.io.parse_tensor(first, tf.int32)), int(tf.io.parse_tensor(second, tf.int32))) == (0, -1)


def test_the_shape_of_a_ragged_result_stays_open(tmp_path):
    module = one(lambda r: r * 2.0, tf.RaggedTensorSpec([None, None], tf.float32))
    tf.saved_model.save(module, tmp_path / "m")
    (concrete,) = tf.saved_model.load(tmp_path / "m").f.concrete_functions
    assert concrete.structured_outputs.shape.as_list() == [None, None]


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
