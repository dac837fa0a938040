"""User-defined composite tensors in nested structures, functions, branches, loops, datasets, tapes and modules."""

import pickle

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.composites import CompositeTensor, CompositeTensorGradient, WithValuesCompositeTensorGradient
from gradtape.state.type_spec import BatchableTypeSpec, register_type_spec_from_value_converter


class Masked(CompositeTensor):
    """Values and a mask; `unit` is part of the type."""

    def __init__(self, values, mask, unit="m"):
        self.values, self.mask, self.unit = values, mask, unit

    def with_values(self, values):
        return Masked(values, self.mask, self.unit)

    @property
    def _type_spec(self):
        return MaskedSpec(tf.type_spec_from_value(self.values), self.mask.shape, self.unit)

    def _shape_invariant_to_type_spec(self, shape):
        return MaskedSpec(tf.TensorSpec(shape, self.values.dtype), shape, self.unit)

    __composite_gradient__ = WithValuesCompositeTensorGradient()


class MaskedSpec(BatchableTypeSpec):
    __slots__ = ["_mask_shape", "_unit", "_values"]
    value_type = Masked

    def __init__(self, values, mask_shape, unit):
        self._values, self._mask_shape, self._unit = values, tf.TensorShape(mask_shape), unit

    def _serialize(self):
        return self._values, self._mask_shape, self._unit

    @property
    def _component_specs(self):
        return {"values": self._values, "mask": tf.TensorSpec(self._mask_shape, tf.bool)}

    def _to_components(self, value):
        return {"values": value.values, "mask": value.mask}

    def _from_components(self, components):
        return Masked(components["values"], components["mask"], self._unit)

    def _batch(self, batch_size):
        return MaskedSpec(self._values._batch(batch_size), [batch_size, *self._mask_shape], self._unit)

    def _unbatch(self):
        return MaskedSpec(self._values._unbatch(), self._mask_shape[1:], self._unit)


def masked(values, mask=None, unit="m"):
    values = tf.constant(values)
    return Masked(values, tf.ones_like(values, tf.bool) if mask is None else tf.constant(mask), unit)


def spec(shape, unit="m"):
    return MaskedSpec(tf.TensorSpec(shape), shape, unit)


def as_list(x):
    return x.numpy().tolist()


class TestSpecs:
    def test_are_compared_by_what_they_consist_of(self):
        assert spec([2]) == spec([2]) and hash(spec([2])) == hash(spec([2]))
        assert spec([2]) != spec([3]) and spec([2]) != spec([2], "kg")
        assert repr(spec([2])) == (
            "MaskedSpec(TensorSpec(shape=(2,), dtype=tf.float32, name=None), TensorShape([2]), 'm')"
        )
        assert pickle.loads(pickle.dumps(spec([2]))) == spec([2])

    def test_know_what_they_have_in_common(self):
        assert spec([2]).is_subtype_of(spec([None])) and not spec([None]).is_subtype_of(spec([2]))
        assert spec([2]).most_specific_common_supertype([spec([3])]) == spec([None])
        assert spec([2]).most_specific_common_supertype([spec([2], "kg")]) is None
        with pytest.raises(ValueError, match="No TypeSpec is compatible with both"):
            spec([2]).most_specific_compatible_type(spec([2], "kg"))
        assert spec([None]).is_compatible_with(masked([1.0, 2.0]))
        assert not spec([3]).is_compatible_with(masked([1.0, 2.0]))
        assert not spec([2]).is_compatible_with(tf.constant([1.0, 2.0]))
        assert spec([2, 3])._with_tensor_ranks_only() == MaskedSpec(tf.TensorSpec([None, None]), [None, None], "m")

    def test_take_values_apart(self):
        x = masked([1.0, 2.0])
        mask, values = spec([2])._to_tensor_list(x)
        assert as_list(mask) == [True, True] and as_list(values) == [1.0, 2.0]
        assert as_list(spec([2])._from_tensor_list([mask, values]).values) == [1.0, 2.0]
        with pytest.raises(ValueError, match=r"item 1 .* is incompatible with the expected TypeSpec"):
            spec([3])._from_tensor_list([tf.constant([True, True, False]), values])
        with pytest.raises(ValueError, match="expects 2 items"):
            spec([2])._from_tensor_list([values])

    def test_of_other_values(self):
        assert tf.type_spec_from_value(masked([1.0])) == spec([1])
        assert tf.type_spec_from_value([masked([1.0]), masked([2.0])]) == spec([2, 1])
        assert tf.type_spec_from_value(np.zeros([2], np.float32)) == tf.TensorSpec([2])

        class Ours:
            pass

        with pytest.raises(TypeError, match="Could not build a `TypeSpec`"):
            tf.type_spec_from_value(Ours())
        register_type_spec_from_value_converter(Ours, lambda _: tf.TensorSpec([7]))
        assert tf.type_spec_from_value(Ours()) == tf.TensorSpec([7])

    def test_what_is_missing_is_named(self):
        class Incomplete(CompositeTensor):
            pass

        with pytest.raises(NotImplementedError, match="Incomplete must have a property `_type_spec`"):
            tf.nest.flatten(Incomplete(), expand_composites=True)
        with pytest.raises(NotImplementedError, match="_serialize"):
            hash(tf.TypeSpec())


class TestNests:
    def test_a_composite_is_a_leaf_or_is_expanded(self):
        x = masked([1.0, 2.0])
        assert tf.nest.flatten([x, 3]) == [x, 3]
        assert [as_list(part) for part in tf.nest.flatten(x, expand_composites=True)] == [[True, True], [1.0, 2.0]]
        doubled = tf.nest.map_structure(lambda t: tf.cast(t, tf.float32) * 2.0, x, expand_composites=True)
        assert as_list(doubled.values) == [2.0, 4.0] and doubled.unit == "m"

    def test_a_spec_is_expanded_too_and_packs_values(self):
        assert tf.nest.flatten(spec([2]), expand_composites=True) == [tf.TensorSpec([2], tf.bool), tf.TensorSpec([2])]
        x = tf.nest.pack_sequence_as(spec([2]), [tf.constant([True, True]), tf.constant([1.0, 2.0])], True)
        assert isinstance(x, Masked) and as_list(x.values) == [1.0, 2.0]

    def test_the_same_structure(self):
        tf.nest.assert_same_structure(masked([1.0]), masked([1.0, 2.0]), expand_composites=True)
        tf.nest.assert_same_structure(masked([1.0]), spec([1]), expand_composites=True)
        with pytest.raises(TypeError, match="Incompatible CompositeTensor TypeSpecs"):
            tf.nest.assert_same_structure(masked([1.0]), masked([1.0], unit="kg"), expand_composites=True)

    def test_is_tensor(self):
        assert tf.is_tensor(tf.SparseTensor([[0]], [1.0], [1])) and tf.is_tensor(tf.ragged.constant([[1]]))
        assert not tf.is_tensor(masked([1.0])) and not tf.is_tensor(spec([1]))

    def test_is_tensor_of_what_declares_itself(self):
        declared = type("Declared", (Masked,), {"is_tensor_like": True})  # as TFP's variables, which are composite
        assert tf.is_tensor(declared(tf.constant([1.0]), tf.constant([True])))
        # TensorFlow looks at whether the attribute is there, not at its value.
        values = {"a value": False, "a method": lambda self: False, "a property": property(lambda self: False)}
        assert all(tf.is_tensor(type("Declared", (), {"is_tensor_like": value})()) for value in values.values())
        assert not tf.is_tensor(type("Declared", (), {"is_tensor_like": None})())

    def test_is_tensor_is_false_of_what_only_converts(self):
        class Converts:
            pass

        tf.register_tensor_conversion_function(Converts, lambda value, *args, **kwargs: tf.constant(1.0))
        proxy = type("ObjectProxy", (), {"is_tensor_like": True})  # of wrapt
        proxy_of_tensor = type("ObjectProxy", (), {"__class__": tf.Tensor})
        others = [Converts(), proxy(), proxy_of_tensor(), tf.Variable]
        others += [tf.data.Dataset.range(2), tf.TensorArray(tf.float32, 1)]
        assert not any(map(tf.is_tensor, others))

    def test_identity_and_stop_gradient(self):
        x = masked([1.0, 2.0])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x.values)
            same, stopped = tf.identity(x), tf.stop_gradient(x)
        assert isinstance(same, Masked) and as_list(tape.gradient(same, x.values)) == [1.0, 1.0]
        assert as_list(stopped.values) == [1.0, 2.0] and tape.gradient(stopped, x.values) is None


@pytest.mark.usefixtures("quick_compilation")
@pytest.mark.parametrize("jit_compile", [False, True])
class TestFunctions:
    def test_take_and_return_composites(self, jit_compile):
        @tf.function(jit_compile=jit_compile)
        def double(x):
            return {"twice": x.with_values(x.values * 2.0), "unit": x.unit == "m"}

        for _ in range(3):
            found = double(masked([1.0, 2.0], [True, False]))
            assert isinstance(found["twice"], Masked) and found["twice"].unit == "m"
            assert as_list(found["twice"].values) == [2.0, 4.0] and as_list(found["twice"].mask) == [True, False]
        assert double.experimental_get_tracing_count() == 1
        assert double(masked([1.0, 2.0], unit="kg"))["twice"].unit == "kg"
        assert double.experimental_get_tracing_count() == 2

    def test_an_input_signature(self, jit_compile):
        @tf.function(input_signature=[spec([None])], jit_compile=jit_compile)
        def total(x):
            return tf.reduce_sum(x.values)

        assert float(total(masked([1.0, 2.0]))) == 3.0
        assert float(total(masked([1.0, 2.0, 3.0]))) == 6.0
        assert total.experimental_get_tracing_count() == 1
        with pytest.raises(TypeError, match="Can not cast"):
            total(masked([1.0], unit="kg"))

    def test_a_concrete_function(self, jit_compile):
        f = tf.function(lambda x: x.with_values(x.values + 1.0), jit_compile=jit_compile)
        concrete = f.get_concrete_function(spec([None]))
        assert as_list(concrete(masked([1.0, 2.0])).values) == [2.0, 3.0]
        assert concrete.structured_input_signature[0] == (spec([None]),)
        assert isinstance(concrete.structured_outputs, MaskedSpec)
        assert as_list(f(masked([1.0, 2.0, 3.0])).values) == [2.0, 3.0, 4.0]
        assert f.experimental_get_tracing_count() == 1

    def test_relaxed_shapes(self, jit_compile):
        f = tf.function(lambda x: tf.reduce_sum(x.values), reduce_retracing=True, jit_compile=jit_compile)
        assert [float(f(masked([1.0] * n))) for n in (1, 2, 3, 4)] == [1.0, 2.0, 3.0, 4.0]
        assert f.experimental_get_tracing_count() == 2

    def test_gradients_through_them(self, jit_compile):
        f = tf.function(lambda x: x.with_values(x.values**2), jit_compile=jit_compile)
        v = tf.Variable([2.0, 3.0])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(f(Masked(v * 1.0, tf.constant([True, False]))).values)
        assert as_list(tape.gradient(y, v)) == [4.0, 6.0]

    def test_a_branch(self, jit_compile):
        @tf.function(jit_compile=jit_compile)
        def f(x, flag):
            return tf.cond(flag, lambda: x.with_values(x.values * 2.0), lambda: x)

        assert as_list(f(masked([1.0, 2.0]), tf.constant(True)).values) == [2.0, 4.0]
        assert as_list(f(masked([1.0, 2.0]), tf.constant(False)).values) == [1.0, 2.0]

    def test_branches_of_different_types_are_refused(self, jit_compile):
        @tf.function(jit_compile=jit_compile)
        def f(x, flag):
            return tf.cond(flag, lambda: Masked(x.values, x.mask, "kg"), lambda: x)

        with pytest.raises(TypeError, match="same number, type, and overall structure"):
            f(masked([1.0, 2.0]), tf.constant(True))

    def test_case(self, jit_compile):
        @tf.function(jit_compile=jit_compile)
        def f(x, n):
            return tf.switch_case(n, [lambda: x, lambda: x.with_values(-x.values)])

        assert as_list(f(masked([1.0]), tf.constant(1)).values) == [-1.0]

    def test_a_loop(self, jit_compile):
        @tf.function(jit_compile=jit_compile)
        def f(x):
            return tf.while_loop(
                lambda i, x: i < 3, lambda i, x: (i + 1, x.with_values(x.values * 2.0)), (tf.constant(0), x)
            )[1]

        assert as_list(f(masked([1.0, 3.0])).values) == [8.0, 24.0]

    def test_a_written_loop(self, jit_compile):
        @tf.function(jit_compile=jit_compile)
        def f(x, n):
            for _ in tf.range(n):
                x = x.with_values(x.values * 2.0)
            return x

        assert as_list(f(masked([1.0, 3.0]), tf.constant(2)).values) == [4.0, 12.0]


class TestLoops:
    def test_shape_invariants(self):
        def grown(x, invariant):
            f = tf.function(
                lambda x: tf.while_loop(
                    lambda x: tf.size(x.values) < 4,
                    lambda x: [Masked(tf.concat([x.values, [0.0]], 0), tf.concat([x.mask, [False]], 0))],
                    [x],
                    shape_invariants=[invariant],
                )[0]
            )
            return f(x)

        assert as_list(grown(masked([1.0]), tf.TensorShape([None])).values) == [1.0, 0.0, 0.0, 0.0]
        assert as_list(grown(masked([1.0]), spec([None])).mask) == [True, False, False, False]
        with pytest.raises(TypeError, match="is not compatible with"):
            grown(masked([1.0]), spec([None], "kg"))
        with pytest.raises(ValueError, match="enters the loop with shape"):
            grown(masked([1.0]), tf.TensorShape([1]))

    def test_eagerly(self):
        x = tf.while_loop(
            lambda x: tf.reduce_sum(x.values) < 10.0, lambda x: [x.with_values(x.values * 2.0)], [masked([1.0])]
        )[0]
        assert as_list(x.values) == [16.0]
        assert as_list(tf.cond(tf.constant(True), lambda: x, lambda: x).values) == [16.0]

    @pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
    def test_map_fn(self, wrap):
        @wrap
        def f(x):
            return tf.map_fn(lambda row: row.with_values(row.values * 2.0), x)

        found = f(masked([[1.0, 2.0], [3.0, 4.0]]))
        assert isinstance(found, Masked) and as_list(found.values) == [[2.0, 4.0], [6.0, 8.0]]
        sums = tf.map_fn(lambda row: tf.reduce_sum(row.values), masked([[1.0, 2.0]]), fn_output_signature=tf.float32)
        assert as_list(sums) == [3.0]
        made = tf.map_fn(lambda n: masked([0.0]), tf.range(3), fn_output_signature=spec([1]))
        assert as_list(made.values) == [[0.0]] * 3
        with pytest.raises(ValueError, match="Expected `fn` to return a"):
            tf.map_fn(lambda n: masked([0.0]), tf.range(3), fn_output_signature=spec([2]))


    @pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
    def test_vectorized_map(self, wrap):
        @wrap
        def f(x):
            return tf.vectorized_map(lambda row: {"row": row.with_values(row.values * 2.0), "one": row.values[0]}, x)

        found = f(masked([[1.0, 2.0], [3.0, 4.0]]))
        assert as_list(found["row"].values) == [[2.0, 4.0], [6.0, 8.0]] and as_list(found["one"]) == [1.0, 3.0]
        made = tf.vectorized_map(lambda x: masked([0.0]).with_values(x[None]), tf.constant([1.0, 2.0]))
        assert as_list(made.values) == [[1.0], [2.0]] and as_list(made.mask) == [[True], [True]]
        one_by_one = tf.vectorized_map(lambda row: row.with_values(row.values * float(row.values[0])), masked([[2.0]]))
        assert as_list(one_by_one.values) == [[4.0]]


class TestDatasets:
    def test_rows_and_batches(self):
        data = tf.data.Dataset.from_tensor_slices(masked([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        assert data.element_spec == spec([2])
        assert [as_list(x.values) for x in data] == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
        batches = data.map(lambda x: x.with_values(x.values * 2.0)).batch(2)
        assert [as_list(x.values) for x in batches] == [[[2.0, 4.0], [6.0, 8.0]], [[10.0, 12.0]]]
        assert batches.element_spec == spec([None, 2])
        assert [as_list(x.values) for x in batches.unbatch()] == [[2.0, 4.0], [6.0, 8.0], [10.0, 12.0]]

    def test_in_structures(self):
        data = tf.data.Dataset.from_tensors({"x": masked([1.0]), "y": 3}).repeat(2).batch(2)
        (element,) = data
        assert as_list(element["x"].values) == [[1.0], [1.0]] and as_list(element["y"]) == [3, 3]

    def test_from_a_generator(self):
        data = tf.data.Dataset.from_generator(lambda: iter([masked([1.0])]), output_signature=spec([None]))
        assert [as_list(x.values) for x in data] == [[1.0]]

    def test_what_has_no_rows(self):
        x = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
        with pytest.raises(TypeError, match="no BatchableTypeSpec"):
            tf.data.Dataset.from_tensors(x).batch(2).element_spec  # noqa: B018


class TestTapes:
    def test_a_source_and_a_target(self):
        x = masked([2.0, 3.0])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x.with_values(x.values**2)
        grad = tape.gradient(y, x)
        assert isinstance(grad, Masked) and as_list(grad.values) == [4.0, 6.0]
        (inner,) = tape.gradient([y], [x.values])
        assert as_list(inner) == [4.0, 6.0]
        weighted = tape.gradient(y, {"x": x}, output_gradients=masked([1.0, 10.0]))
        assert as_list(weighted["x"].values) == [4.0, 60.0]
        assert tape.gradient(tf.constant(1.0), x) is None

    def test_one_that_has_no_rule(self):
        class Plain(Masked):
            __composite_gradient__ = property()

        x = Plain(tf.constant([1.0]), tf.constant([True]))
        with tf.GradientTape() as tape:
            y = tf.constant(1.0)
        with pytest.raises(ValueError, match="Plain is not supported as a gradient source"):
            tape.gradient(y, x)

    def test_components_in_a_nest(self):
        class Both(CompositeTensorGradient):
            def get_gradient_components(self, value):
                return [value.values, (value.mask,)]

            def replace_gradient_components(self, value, component_grads):
                values, (mask,) = component_grads
                return Masked(values, mask)

        class Pair(Masked):
            __composite_gradient__ = Both()

        x = Pair(tf.Variable([1.0, 2.0]), masked([3.0]))
        with tf.GradientTape() as tape:
            tape.watch(x.mask)
            y = tf.reduce_sum(x.values * x.mask.values)
        grad = tape.gradient(y, x)
        assert as_list(grad.values) == [3.0, 3.0] and as_list(grad.mask.values) == [3.0]


class TestModules:
    def test_variables_in_composites_are_found(self):
        class Model(tf.Module):
            def __init__(self):
                super().__init__()
                self.b = masked([0.0]).with_values(tf.Variable([1.0], name="in_b"))
                self.a = [tf.Variable(2.0, trainable=False, name="in_a")]

        model = Model()
        assert [v.name for v in model.variables] == ["in_a:0", "in_b:0"]
        assert [v.name for v in model.trainable_variables] == ["in_b:0"]
        assert [v.name for v in model.non_trainable_variables] == ["in_a:0"]
        with tf.GradientTape() as tape:
            y = model.b.values * 3.0
        assert as_list(tape.gradient(y, model.trainable_variables)[0]) == [3.0]

    def test_a_function_is_given_one_that_holds_a_variable(self):
        x = masked([0.0]).with_values(tf.Variable([1.0]))

        @tf.function
        def f(x):
            return x.values * 2.0

        with tf.GradientTape() as tape:
            y = f(x)
        assert as_list(y) == [2.0] and as_list(tape.gradient(y, x.values)) == [2.0]
        x.values.assign([5.0])
        assert as_list(f(x)) == [10.0]


def test_the_spec_of_a_variable():
    v = tf.Variable([1.0, 2.0], trainable=False)
    assert repr(tf.type_spec_from_value(v)) == (
        "VariableSpec(shape=(2,), dtype=tf.float32, trainable=False, alias_id=None)"
    )


def test_a_composite_without_tensors_comes_out_of_a_concrete_function_as_it_is():
    class Named(CompositeTensor):
        def __init__(self, name):
            self.name = name

        @property
        def _type_spec(self):
            return NamedSpec(self.name)

    class NamedSpec(tf.TypeSpec):
        value_type = Named

        def __init__(self, name):
            self._name = name

        def _serialize(self):
            return (self._name,)

        _component_specs = ()

        def _to_components(self, value):
            return ()

        def _from_components(self, components):
            return Named(self._name)

    concrete = tf.function(lambda x: [x, Named("a")]).get_concrete_function(tf.TensorSpec([2]))
    assert [type(x) for x in concrete.structured_outputs] == [tf.TensorSpec, Named]
    assert concrete.structured_outputs[1].name == "a"


def test_the_value_of_a_composite_is_not_static():
    assert tf.get_static_value(masked([1.0, 2.0])) is None
    assert tf.get_static_value([1, 2]) == [1, 2]


def test_the_spec_of_an_array_of_tensors():
    array = tf.TensorArray(tf.float32, 3, element_shape=[2])
    spec = tf.TensorArraySpec([None])
    assert tf.type_spec_from_value(array) == tf.TensorArraySpec([2]) == tf.TensorArraySpec.from_value(array)
    assert spec.is_compatible_with(array) and not tf.TensorArraySpec([3]).is_compatible_with(array)
    assert not tf.TensorArraySpec([2], tf.int32).is_compatible_with(array)
    assert not spec.is_compatible_with(tf.constant(1.0))
    assert tf.TensorArraySpec([2]).most_specific_common_supertype([tf.TensorArraySpec([3])]) == tf.TensorArraySpec([2])
    assert tf.TensorArraySpec([2]).most_specific_common_supertype([tf.TensorArraySpec([2], tf.int32)]) is None
    with pytest.raises(TypeError, match="Expected value to be a TensorArray"):
        tf.TensorArraySpec.from_value(3)


def test_the_specs_of_an_optional_and_of_none():
    some = tf.experimental.Optional.from_value({"a": tf.constant([1.0, 2.0])})
    spec = tf.type_spec_from_value(some)
    assert spec == tf.OptionalSpec({"a": tf.TensorSpec([2])}) and some.element_spec == {"a": tf.TensorSpec([2])}
    assert repr(tf.OptionalSpec(tf.TensorSpec([]))) == (
        "OptionalSpec(TensorSpec(shape=(), dtype=tf.float32, name=None),)"
    )
    assert tf.OptionalSpec(tf.TensorSpec([2])).is_subtype_of(tf.OptionalSpec(tf.TensorSpec([None])))
    assert spec.value_type is tf.experimental.Optional
    assert tf.experimental.Optional.empty(tf.TensorSpec([])).element_spec == tf.TensorSpec([])
    assert iter(tf.data.Dataset.range(2)).get_next_as_optional().element_spec == tf.TensorSpec([], tf.int64)
    assert tf.NoneTensorSpec().is_compatible_with(None) and repr(tf.NoneTensorSpec()) == "NoneTensorSpec()"
    assert not tf.NoneTensorSpec().is_compatible_with(tf.TensorSpec([]))
    assert tf.type_spec_from_value(tf.data.Dataset.range(2)) == tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
