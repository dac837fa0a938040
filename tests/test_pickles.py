"""Pickles and copies of namespaces, functions and loaded models: they work, or the error says what to pickle."""

import copy
import pickle

import pytest

import gradtape as tf
from gradtape.api.namespace import Namespace, spaces


class Scale(tf.Module):
    def __init__(self):
        super().__init__()
        self.factor = tf.Variable(2.0)
        self.own = tf.function(self.plain)

    def plain(self, x):
        return self.factor * x

    @tf.function
    def traced(self, x):
        return self.factor * x


@tf.function
def found_by_name(x):
    return tf.nn.relu(x)


def double(x):
    return 2.0 * x


COPIES = {
    **{f"protocol {n}": lambda x, n=n: pickle.loads(pickle.dumps(x, n)) for n in range(2, pickle.HIGHEST_PROTOCOL + 1)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
all_copies = pytest.mark.parametrize("again", COPIES.values(), ids=COPIES)


@all_copies
def test_namespaces_are_pickled_by_name(again):
    for space in spaces():
        value = tf
        for name in space.split("."):
            value = getattr(value, name)
        if isinstance(value, Namespace):  # the others are plain modules
            assert again(value) is value, space


@all_copies
@pytest.mark.parametrize("is_used", [False, True])
def test_functions_are_pickled_without_their_traces(again, is_used):
    x = tf.constant([1.0])
    function = tf.function(
        double, input_signature=[tf.TensorSpec([None], tf.float32)], autograph=False, reduce_retracing=True
    )
    module = Scale()
    if is_used:
        assert [float(f(x)[0]) for f in (function, module.traced, module.own, found_by_name)] == [2.0, 2.0, 2.0, 1.0]
    other = again(function)
    assert other is not function and other.experimental_get_tracing_count() == 0
    assert float(other(x)[0]) == 2.0 and other.input_signature == function.input_signature
    assert other._options == function._options
    assert again(found_by_name) is found_by_name
    for method in (module.traced, module.own):
        other = again(method)
        module.factor.assign(3.0)
        assert float(other(x)[0]) == (3.0 if again is copy.copy else 2.0)
        module.factor.assign(2.0)


@all_copies
@pytest.mark.parametrize("is_used", [False, True])
def test_modules_with_functions(again, is_used):
    module, x = Scale(), tf.constant(1.0)
    if is_used:
        module.traced(x), module.own(x)
    other = again(module)
    module.factor.assign(5.0)
    expected = 5.0 if again is copy.copy else 2.0
    assert [float(f(x)) for f in (other.traced, other.own)] == [expected, expected]


def test_graphs_say_what_to_pickle(tmp_path):
    module = Scale()
    concrete = module.traced.get_concrete_function(tf.TensorSpec([], tf.float32))
    tf.saved_model.save(module, str(tmp_path), signatures=concrete)
    loaded = tf.saved_model.load(str(tmp_path))
    for value, remedy in [
        (concrete, "call get_concrete_function where it is loaded"),
        (loaded, r"call tf.saved_model.load\(folder\)"),
        (loaded.traced, r"call tf.saved_model.load\(folder\)"),
        (loaded.signatures, r"call tf.saved_model.load\(folder\)"),
    ]:
        for again in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match=remedy):
                again(value)


def test_symbolic_tensors_have_no_value_to_pickle():
    def body(x):
        assert copy.copy(x) is copy.deepcopy(x) is x
        with pytest.raises(TypeError, match=r"no value until the function runs\. Pickle the tf\.function"):
            pickle.dumps(x)
        return tf.cond(tf.reduce_sum(x) > 0, lambda: x, lambda: -x)

    assert tf.function(body)(tf.constant([-3.0])).numpy().tolist() == [3.0]
