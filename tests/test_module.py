"""Modules find their variables and submodules in TensorFlow's order."""

import copy
import pickle
import threading

import pytest

import gradtape as tf


class Inner(tf.Module):
    def __init__(self, name=None):
        super().__init__(name)
        self.w = tf.Variable(1.0, name="w")

    @tf.Module.with_name_scope
    def __call__(self, x):
        if not hasattr(self, "late"):
            self.late = tf.Variable(2.0, name="late")
        return x * self.late * self.w


class Outer(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.z = tf.Variable(1.0, name="z")
        self.a = tf.Variable(2.0, name="a", trainable=False)
        self.sub = Inner()
        self.b = [tf.Variable(3.0, name="b0"), Inner()]
        self.d = {"y": tf.Variable(4.0, name="dy"), "x": tf.Variable(5.0, name="dx")}
        self.same = self.z
        self._h = tf.Variable(9.0, name="h")
        self.t = (tf.Variable(6.0, name="t0"),)


def names(variables):
    return [v.name.removesuffix(":0") for v in variables]


def test_variables_come_by_attribute_and_own_ones_first():
    m = Outer()
    assert names(m.variables) == ["h", "a", "b0", "dx", "dy", "z", "t0", "w", "w"]
    assert names(m.trainable_variables) == ["h", "b0", "dx", "dy", "z", "t0", "w", "w"]
    assert names(m.non_trainable_variables) == ["a"]
    assert isinstance(m.variables, tuple)
    assert m.submodules == (m.b[1], m.sub)


def test_order_inside_containers():
    m = tf.Module()
    m.d = {2: tf.Variable(1.0, name="two"), 10: tf.Variable(1.0, name="ten")}
    m.l = [tf.Variable(1.0, name=f"l{i}") for i in range(11)]
    m.B = tf.Variable(1.0, name="B")
    m._A = tf.Variable(1.0, name="_A")
    m.deep = [[{"a": (tf.Variable(2.0, name="deep"),)}]]
    assert names(m.variables) == ["B", "_A", "two", "ten", "deep", *(f"l{i}" for i in range(11))]


def test_a_dict_whose_keys_have_no_order_is_an_error_that_names_the_attribute():
    m = tf.Module()
    m.mixed = {1: tf.Variable(1.0), "b": tf.Variable(1.0)}
    with pytest.raises(ValueError, match=r"Error processing property 'mixed'.*sortable keys"):
        _ = m.variables


def test_a_module_has_one_name_scope():
    m = tf.Module("m")
    assert m.name_scope is m.name_scope
    with m.name_scope, tf.name_scope("inner"), m.name_scope:
        assert tf.get_current_name_scope() == "m"
    assert tf.get_current_name_scope() == ""


def test_each_is_found_once_and_cycles_end():
    m, other = tf.Module("m"), tf.Module("other")
    m.me, m.all, m.other, other.back = m, [m, other], other, m
    m.v = other.v = tf.Variable(1.0)
    assert len(m.variables) == 1
    assert m.submodules == (other,)


def test_submodules_are_followed_in_depth():
    a, b, c, d = (tf.Module(name) for name in "abcd")
    a.first, a.second, b.below = b, c, d
    for m in (a, b, c, d):
        m.v = tf.Variable(1.0, name=m.name)
    assert names(a.variables) == ["a", "b", "d", "c"]
    assert [m.name for m in a.submodules] == ["b", "c", "d"]


def test_a_module_without_super_init_still_finds_its_variables():
    class Bare(tf.Module):
        def __init__(self):
            self.v = tf.Variable(1.0)

    assert len(Bare().variables) == 1
    with pytest.raises(AttributeError, match="_name"):
        Bare().name  # noqa: B018


@pytest.mark.parametrize("name", ["1 bad", "a/b", "", "foo-bar"])
def test_names_are_identifiers(name):
    with pytest.raises(ValueError, match="is not a valid module name"):
        tf.Module(name)


def test_name_scopes_of_modules():
    inner = Inner("foo")
    inner(1.0)
    assert (inner.name, inner.name_scope.name, inner.late.name, inner.w.name) == ("foo", "foo/", "foo/late:0", "w:0")
    with tf.name_scope("outer"):
        nested = Inner()
    nested(1.0)
    assert nested.late.name == "outer/inner/late:0"


def test_name_scopes():
    with tf.name_scope("outer") as outer:
        with tf.name_scope("inner") as inner:
            v = tf.Variable(1.0, name="v")
        with tf.name_scope("a/b/") as absolute, tf.name_scope("") as root:
            w = tf.Variable(1.0)
        u = tf.Variable(1.0)
    assert (outer, inner, absolute, root) == ("outer/", "outer/inner/", "a/b/", "")
    assert (v.name, w.name, u.name) == ("outer/inner/v:0", "Variable:0", "outer/Variable:0")


def test_a_scope_ends_with_an_exception_and_can_be_entered_again():
    scope = tf.name_scope("s")
    for _ in range(2):
        with pytest.raises(KeyError), scope:
            raise KeyError
    with scope, scope:
        assert tf.Variable(1.0, name="v").name == "s/s/v:0"
    assert tf.Variable(1.0, name="v").name == "v:0"


def test_scopes_are_of_one_thread():
    found = []
    with tf.name_scope("main"):
        thread = threading.Thread(target=lambda: found.append(tf.Variable(1.0, name="v").name))
        thread.start()
        thread.join()
    assert found == ["v:0"]


def test_training_step_through_a_module():
    m = Inner()
    with tf.GradientTape() as tape:
        y = m(3.0)
    assert [float(g) for g in tape.gradient(y, m.trainable_variables)] == [3.0, 6.0]


def test_deepcopy_keeps_sharing():
    m = Outer()
    other = copy.deepcopy(m)
    assert other.same is other.z
    other.z.assign(10.0)
    assert float(m.z) == 1.0
    assert names(other.variables) == names(m.variables)
    assert names(pickle.loads(pickle.dumps(m)).variables) == names(m.variables)


class Named(tf.Module):
    _TF_MODULE_IGNORED_PROPERTIES = frozenset({"hidden"})

    def words(self, **options):
        return list(self._flatten(predicate=lambda value: isinstance(value, str) and len(value) == 1, **options))


def test_subclasses_collect_what_they_like():
    outer, inner = Named("outer"), Named("inner")
    outer.parts, outer.z, outer.hidden = [{"k": inner}, "b"], "a", "h"
    inner.own = ("c", "b")
    assert outer.words() == ["b", "a", "c"]
    assert outer.words(recursive=False) == ["b", "a"]
    assert outer.words(attribute_traversal_key=lambda name: name != "z") == ["a", "b", "c"]


def test_each_module_says_which_of_its_attributes_are_skipped():
    outer, inner = tf.Module(), Named("inner")
    outer.part, outer.hidden, inner.hidden = inner, tf.Variable(1.0), {None: 1, "keys that cannot be sorted": 2}
    assert outer.variables == (outer.hidden,)


def test_every_way_to_a_thing_through_a_cycle():
    outer, inner = Named("outer"), Named("inner")
    outer.parts, inner.own, inner.back = [{"k": inner}], ("c",), outer
    outer.z = "a"
    assert dict(outer.words(with_path=True)) == {
        ("z",): "a", ("parts", 0, "k", "own", 0): "c", ("parts", 0, "k", "back", "z"): "a",
    }  # fmt: skip


def test_trainable_variables_do_not_ask_variables():
    """As in TensorFlow: a class that rejects `variables` still has trainable ones."""

    class Refusing(tf.Module):
        @property
        def variables(self):
            raise ValueError("not these")

    module = Refusing()
    module.v, module.w = tf.Variable(1.0), tf.Variable(2.0, trainable=False)
    assert module.trainable_variables == (module.v,) and module.non_trainable_variables == (module.w,)
