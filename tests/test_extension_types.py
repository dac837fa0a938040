"""Extension types: fields, specs, batches, and dispatch on them."""

import abc
import inspect
import pickle
import typing
from collections.abc import Mapping
from typing import Optional, Union

import numpy as np
import pytest

import gradtape as tf


class MaskedTensor(tf.experimental.BatchableExtensionType):
    values: tf.Tensor
    mask: tf.Tensor

    shape = property(lambda self: self.values.shape)

    def with_values(self, values):
        return MaskedTensor(values, self.mask)

    class Spec:
        def __init__(self, shape, dtype=tf.float32):
            self.values = tf.TensorSpec(shape, dtype)
            self.mask = tf.TensorSpec(shape, tf.bool)

        shape = property(lambda self: self.values.shape)


class Player(tf.experimental.ExtensionType):
    name: tf.Tensor
    attributes: Mapping[str, tf.Tensor]


class Node(tf.experimental.ExtensionType):
    value: tf.Tensor
    children: tuple["Node", ...] = ()


def as_list(x):
    return x.numpy().tolist()


def masked(values, mask=None):
    return MaskedTensor(values, tf.ones(np.shape(values), tf.bool) if mask is None else mask)


class TestFields:
    def test_are_converted(self):
        x = MaskedTensor([1, 2], mask=[True, False])
        assert x.values.dtype is tf.int32 and as_list(x.mask) == [True, False]
        assert repr(x) == (
            "MaskedTensor(values=<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>, "
            "mask=<tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>)"
        )
        with pytest.raises(TypeError, match="mask: expected a Tensor, got 'NoneType'"):
            MaskedTensor([1], None)
        with pytest.raises(TypeError, match="missing a required argument: 'mask'"):
            MaskedTensor([1])

    @pytest.mark.parametrize(
        ("annotation", "given", "found"),
        [
            (int, 3, 3),
            (float, 3.5, 3.5),
            (str, "a", "a"),
            (bytes, b"a", b"a"),
            (bool, True, True),
            (None, None, None),
            (Optional[int], None, None),  # noqa: UP045
            (Union[int, str], "a", "a"),  # noqa: UP007
            (int | None, 4, 4),
            (tf.DType, "float32", tf.float32),
            (tf.TensorShape, [1, None], tf.TensorShape([1, None])),
            (tuple[int, ...], [1, 2, 3], (1, 2, 3)),
            (typing.Tuple[int, str], [1, "a"], (1, "a")),  # noqa: UP006
            (Mapping[str, tuple[int, ...]], {"a": [1]}, {"a": (1,)}),
        ],
    )
    def test_kinds(self, annotation, given, found):
        kind = type("Kind", (tf.experimental.ExtensionType,), {"__annotations__": {"x": annotation}})
        assert kind(given).x == found
        assert tf.type_spec_from_value(kind(given)).x == found

    @pytest.mark.parametrize(
        ("annotation", "given", "message"),
        [
            (int, 3.0, "x: expected 'int', got 'float'"),
            (None, 3, "x: expected 'NoneType', got 'int'"),
            (tuple[int, int], (1,), "x: expected tuple with length 2"),
            (tuple[int, ...], 1, "x: expected tuple, got 'int'"),
            (tuple[int, ...], (1, "a"), "expected 'int', got 'str'"),
            (Mapping[str, int], [1], "x: expected mapping, got 'list'"),
            (Mapping[str, int], {"a": "b"}, "expected 'int', got 'str'"),
            (Union[int, str], 1.0, r"x: expected (typing\.Union|int \| str)"),  # noqa: UP007
            (tf.DType, object(), "x: expected 'tf.DType', got 'object'"),
            (tf.TensorShape, "a", "x: expected 'tf.TensorShape', got 'str'"),
            (Node, 3, "x: expected 'Node', got 'int'"),
        ],
    )
    def test_what_does_not_fit(self, annotation, given, message):
        kind = type("Kind", (tf.experimental.ExtensionType,), {"__annotations__": {"x": annotation}})
        with pytest.raises(TypeError, match=message):
            kind(given)

    @pytest.mark.parametrize(
        ("namespace", "error", "message"),
        [
            ({"__annotations__": {"x": list}}, TypeError, "In field 'x': Unsupported type annotation 'list'"),
            ({"__annotations__": {"x": list[int]}}, TypeError, "In field 'x': Unsupported type annotation"),
            ({"__annotations__": {"x": Mapping[tf.Tensor, int]}}, TypeError, "Mapping had a key 'Tensor'"),
            ({"x": 5}, ValueError, "Field x is missing a type annotation"),
            ({"__annotations__": {"_to_components": int}}, ValueError, "Field '_to_components' is reserved"),
            ({"__annotations__": {"x": int}, "x": "a"}, TypeError, "default value for x: expected 'int'"),
            ({"Spec": 3}, ValueError, "Spec must be a nested class"),
            ({"Spec": type("Spec", (dict,), {})}, ValueError, "must be directly subclassed from tf.TypeSpec"),
            ({"__batch_encoder__": 1}, ValueError, "should only be defined for BatchableExtensionType"),
            (
                {"__annotations__": {"x": int}, "Spec": type("Spec", (), {"x": 1})},
                ValueError,
                "defines a variable 'x' which shadows a field",
            ),
        ],
    )
    def test_classes_that_are_refused(self, namespace, error, message):
        with pytest.raises(error, match=message):
            type("Kind", (tf.experimental.ExtensionType,), namespace)

    def test_are_final(self):
        x = masked([1.0])
        with pytest.raises(AttributeError, match="Cannot mutate attribute `mask` outside the custom constructor"):
            x.mask = [True]
        with pytest.raises(AttributeError, match="Cannot mutate attribute `mask`"):
            del x.mask
        with pytest.raises(AttributeError, match=r"Cannot mutate attribute `values` outside .* of ExtensionTypeSpec"):
            x._type_spec.values = 3
        with pytest.raises(AttributeError, match="'MaskedTensor' object has no attribute 'other'"):
            x.other  # noqa: B018
        with pytest.raises(AssertionError, match="abstract base class"):
            tf.experimental.ExtensionType()

    def test_defaults(self):
        class Pencil(tf.experimental.ExtensionType):
            color: str = "black"
            length: tf.Tensor = 1.0
            owner: str

        assert Pencil(owner="me").color == "black" and float(Pencil("red", owner="me").length) == 1.0
        assert str(inspect.signature(Pencil.__init__)).startswith("(self, color: str = 'black', length:")
        with pytest.raises(TypeError, match="too many positional"):
            Pencil("red", 2.0, "me")

    def test_a_constructor_of_its_own(self):
        class Toy(tf.experimental.ExtensionType):
            name: str
            price: tf.Tensor

            def __init__(self, name, price, discount=0):
                self.name = name
                self.price = price * (1 - discount)
                with pytest.raises(AttributeError):
                    self.other = 3

        class Ball(Toy):
            size: int

            def __init__(self, size):
                super().__init__("ball", 5.0, discount=0.2)
                self.size = size

        assert float(Toy("ball", 5.0, discount=0.2).price) == 4.0
        ball = Ball(3)
        assert ball.name == "ball" and float(ball.price) == 4.0 and ball.size == 3

        class Forgetful(tf.experimental.ExtensionType):
            name: str

            def __init__(self):
                pass

        with pytest.raises(ValueError, match=r"Missing required fields: {'name'}"):
            Forgetful()

    def test_validation(self):
        class Checked(tf.experimental.ExtensionType):
            mask: tf.Tensor

            def __validate__(self):
                assert self.mask.dtype.is_bool, "mask.dtype must be bool"

        Checked([True])
        with pytest.raises(AssertionError, match=r"mask.dtype must be bool"):
            Checked([1])

    def test_inheritance_and_abstract_bases(self):
        class Base(tf.experimental.ExtensionType):
            a: tf.Tensor

        class Derived(Base, abc.ABC):
            b: tf.Tensor

        x = Derived([1.0], [2.0])
        assert as_list(x.a) == [1.0] and as_list(x.b) == [2.0]
        assert isinstance(x, Base) and list(tf.experimental.extension_type.as_dict(x)) == ["a", "b"]

    def test_recursive_types(self):
        tree = Node(3, [Node(5), Node(2)])
        assert int(tree.children[1].value) == 2 and tree.children[0].children == ()
        assert [int(x) for x in tf.nest.flatten(tree, expand_composites=True)] == [3, 5, 2]

    def test_equality(self):
        a = masked([1, 2], [True, False])
        assert as_list(a == masked([1, 2], [True, False])) is True
        assert as_list(a == masked([1, 3], [True, False])) is False
        assert as_list(a != masked([1, 3], [True, False])) is True
        assert (a == masked([[1, 2]], [[True, False]])) is False and (a == a.values) is False
        with pytest.raises(TypeError, match="unhashable"):
            hash(a)


class TestSpecs:
    def test_of_values(self):
        spec = tf.type_spec_from_value(Player("Anne", {"height": 8.3}))
        assert spec.name == tf.TensorSpec([], tf.string)
        assert spec.attributes["height"] == tf.TensorSpec([])
        assert spec == Player.Spec(tf.TensorSpec([], tf.string), {"height": tf.TensorSpec([])})
        assert pickle.loads(pickle.dumps(spec)) == spec
        assert repr(spec) == (
            "Player.Spec(name=TensorSpec(shape=(), dtype=tf.string, name=None), "
            "attributes={'height': TensorSpec(shape=(), dtype=tf.float32, name=None)})"
        )
        assert isinstance(spec, tf.experimental.ExtensionTypeSpec) and spec.value_type is Player

    def test_with_a_constructor_of_its_own(self):
        spec = MaskedTensor.Spec([None, 2])
        assert spec.shape == [None, 2] and spec.mask.dtype is tf.bool
        assert spec.is_compatible_with(masked([[1.0, 2.0]]))
        assert not spec.is_compatible_with(masked([[1, 2]]))
        assert MaskedTensor.Spec([2]).most_specific_compatible_type(MaskedTensor.Spec([3])) == MaskedTensor.Spec([None])

    def test_what_does_not_fit(self):
        with pytest.raises(TypeError, match="name: expected a TensorSpec, got 'int'"):
            Player.Spec(3, {})
        with pytest.raises(TypeError, match=r"children\[0\]: expected a TypeSpec for 'Node'"):
            Node.Spec(tf.TensorSpec([]), [tf.TensorSpec([])])

    def test_static_fields_are_part_of_them(self):
        class Scaled(tf.experimental.ExtensionType):
            values: tf.Tensor
            scale: float

        traces = []

        @tf.function
        def total(x):
            traces.append(x.scale)
            return tf.reduce_sum(x.values) * x.scale

        values = tf.constant([1.0, 2.0])
        assert [float(total(Scaled(values, s))) for s in (1.0, 2.0, 1.0)] == [3.0, 6.0, 3.0]
        assert traces == [1.0, 2.0]


class TestUses:
    @pytest.mark.parametrize("jit_compile", [False, True])
    def test_functions(self, jit_compile):
        @tf.function(jit_compile=jit_compile)
        def f(x, b):
            x = MaskedTensor(x, tf.less(x, 0.0)) if b else MaskedTensor(x, tf.greater(x, 0.0))
            for _ in tf.range(3):
                x = x.with_values(x.values + 0.5)
            return x

        for b in (True, False):
            found = f(tf.constant([1.0, -2.0]), tf.constant(b))
            assert as_list(found.values) == [2.5, -0.5] and as_list(found.mask) == [not b, b]

    def test_signatures(self):
        f = tf.function(lambda x: x.with_values(x.values * 2.0), input_signature=[MaskedTensor.Spec([None])])
        assert as_list(f(masked([1.0])).values) == [2.0] and as_list(f(masked([1.0, 2.0])).values) == [2.0, 4.0]
        assert f.experimental_get_tracing_count() == 1
        concrete = f.get_concrete_function()
        assert as_list(concrete(masked([1.0, 2.0, 3.0])).values) == [2.0, 4.0, 6.0]

    def test_gradients(self):
        x = masked([2.0, 3.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.function(lambda x: x.with_values(x.values**3))(x)
        assert as_list(tape.gradient(y.values, x.values)) == [12.0, 27.0]

    def test_datasets(self):
        data = tf.data.Dataset.from_tensor_slices(masked([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        assert data.element_spec == MaskedTensor.Spec([2])
        batches = list(data.batch(2))
        assert [as_list(x.values) for x in batches] == [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]]
        assert [as_list(x.values) for x in data.batch(2).unbatch()] == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
        assert isinstance(iter(data).next(), MaskedTensor)

    def test_shapes_are_batched(self):
        class Network(tf.experimental.BatchableExtensionType):
            shape: tf.TensorShape
            work: tf.Tensor

            def __init__(self, work):
                self.work = tf.convert_to_tensor(work)
                self.shape = self.work.shape[:-1]

        batch = Network([[1.0, 2.0], [3.0, 4.0]])
        rows = list(tf.data.Dataset.from_tensor_slices(batch))
        assert [row.shape for row in rows] == [[], []]
        assert tf.map_fn(lambda x: Network(x.work * 2.0), batch).shape == [2]
        assert tf.type_spec_from_value(rows) == tf.type_spec_from_value(batch)

    def test_an_encoder_of_its_own(self):
        class Doubling(tf.experimental.ExtensionTypeBatchEncoder):
            def encode(self, spec, value, minimum_rank=0):
                return (value.x * 2.0,)

            def decode(self, spec, encoded_value):
                return Number(encoded_value[0] / 2.0)

        class Number(tf.experimental.BatchableExtensionType):
            x: tf.Tensor
            __batch_encoder__ = Doubling()

        (batch,) = tf.data.Dataset.from_tensor_slices(Number([1.0, 2.0])).batch(2)
        assert as_list(batch.x) == [1.0, 2.0]

    def test_branches_of_different_shapes(self):
        @tf.function
        def f(flag):
            return tf.cond(flag, lambda: masked([1.0, 2.0]), lambda: masked([1.0, 2.0, 3.0]))

        assert as_list(f(tf.constant(True)).values) == [1.0, 2.0]
        assert as_list(f(tf.constant(False)).values) == [1.0, 2.0, 3.0]

    def test_variables_in_them_are_tracked(self):
        class Model(tf.Module):
            def __init__(self):
                super().__init__()
                self.parts = [Player("a", {})]
                self.v = tf.Variable(1.0)

        assert len(Model().variables) == 1


class TestDispatch:
    def test_for_one_function(self):
        @tf.experimental.dispatch_for_api(tf.stack)
        def stack(values: list[MaskedTensor | tf.Tensor], axis=0):
            values = [x if isinstance(x, MaskedTensor) else masked(x) for x in values]
            return MaskedTensor(tf.stack([x.values for x in values], axis), tf.stack([x.mask for x in values], axis))

        before = inspect.signature(tf.stack)
        try:
            found = tf.stack([masked([1, 2]), tf.constant([3, 4])], name="both")
            assert as_list(found.values) == [[1, 2], [3, 4]]
            assert as_list(tf.stack([tf.constant([1]), tf.constant([2])])) == [[1], [2]]
            assert as_list(tf.stack(values=[masked([1]), masked([2])], axis=1).values) == [[1, 2]]
            assert inspect.signature(tf.stack) == before
        finally:
            tf.experimental.unregister_dispatch_for(stack)
        with pytest.raises((TypeError, ValueError)):
            tf.stack([masked([1, 2])])
        assert as_list(tf.stack([tf.constant([1]), tf.constant([2])])) == [[1], [2]]

    def test_elementwise(self):
        kinds = MaskedTensor | tf.Tensor

        @tf.experimental.dispatch_for_unary_elementwise_apis(MaskedTensor)
        def unary(function, x):
            return MaskedTensor(function(x.values), x.mask)

        @tf.experimental.dispatch_for_binary_elementwise_apis(kinds, kinds)
        def binary(function, x, y):
            x, y = (v if isinstance(v, MaskedTensor) else masked(v) for v in (x, y))
            return MaskedTensor(function(x.values, y.values), x.mask & y.mask)

        @tf.experimental.dispatch_for_binary_elementwise_assert_apis(MaskedTensor, MaskedTensor)
        def asserted(function, x, y):
            return function(x.values, y.values)

        x = masked([1, -2], [True, False])
        try:
            with pytest.raises(ValueError, match="has already been registered for"):
                tf.experimental.dispatch_for_unary_elementwise_apis(MaskedTensor)(unary)
            assert as_list(tf.abs(x).values) == [1, 2] and as_list(tf.abs(x=x).mask) == [True, False]
            assert as_list(tf.ones_like(x, dtype=tf.float32).values) == [1.0, 1.0]
            assert as_list(tf.cast(x, tf.float32).values) == [1.0, -2.0]
            assert as_list(tf.math.add(x, y=x, name="sum").values) == [2, -4]
            assert as_list(tf.multiply(tf.constant([2, 2]), x).values) == [2, -4]
            assert as_list((tf.constant([2, 2]) - x).values) == [1, 4]
            assert as_list(tf.abs(tf.constant([-1]))) == [1]
            tf.debugging.assert_equal(x, x)
            with pytest.raises(tf.errors.InvalidArgumentError, match="why"):
                tf.debugging.assert_equal(x, masked([1, 2]), message="why")

            @tf.function
            def inside(x):
                return tf.abs(x)

            assert as_list(inside(x).values) == [1, 2]
        finally:
            for handler in (unary, binary, asserted):
                tf.experimental.unregister_dispatch_for(handler)
        with pytest.raises((TypeError, ValueError)):
            tf.abs(x)
        with pytest.raises((TypeError, ValueError)):
            tf.constant([2, 2]) - x

    def test_signatures_that_are_refused(self):
        def f(x):
            return x

        with pytest.raises(ValueError, match="at least one signature"):
            tf.experimental.dispatch_for_api(tf.abs)(f)
        with pytest.raises(ValueError, match="does not match API's signature"):
            tf.experimental.dispatch_for_api(tf.add, {"x": MaskedTensor})(f)
        with pytest.raises(ValueError, match="unknown parameter 'z'"):
            tf.experimental.dispatch_for_api(tf.abs, {"z": MaskedTensor})(f)
        with pytest.raises(TypeError, match="signatures must be dictionaries"):
            tf.experimental.dispatch_for_api(tf.abs, [MaskedTensor])(f)
        with pytest.raises(ValueError, match="not currently supported by dispatch"):
            tf.experimental.dispatch_for_api(tf.abs, {"x": "MaskedTensor"})(f)
        with pytest.raises(ValueError, match="does not support dispatch"):
            tf.experimental.dispatch_for_api(len)
        with pytest.raises(ValueError, match="was not registered"):
            tf.experimental.unregister_dispatch_for(f)
        assert float(tf.abs(-1.0)) == 1.0

    def test_two_that_fit(self):
        @tf.experimental.dispatch_for_api(tf.rank, {0: MaskedTensor})
        def first(input, name=None):
            return NotImplemented

        @tf.experimental.dispatch_for_api(tf.rank, {"input": tf.experimental.ExtensionType})
        def second(input, name=None):
            return 7

        try:
            with pytest.raises(ValueError, match="Multiple dispatch targets"):
                tf.rank(masked([1]))
            assert tf.rank(Node(1)) == 7
        finally:
            tf.experimental.unregister_dispatch_for(second)
        with pytest.raises((TypeError, ValueError)):
            tf.rank(masked([1]))  # the other one declines
        tf.experimental.unregister_dispatch_for(first)


class TestCompositions:
    """Functions that TensorFlow composes of public ones dispatch to a user's type inside."""

    @pytest.fixture(autouse=True)
    def handlers(self):
        @tf.experimental.dispatch_for_unary_elementwise_apis(MaskedTensor)
        def unary(function, x):
            return MaskedTensor(function(x.values), x.mask)

        kinds = MaskedTensor | tf.Tensor | float

        @tf.experimental.dispatch_for_binary_elementwise_apis(kinds, kinds)
        def binary(function, x, y):
            mask = x.mask if isinstance(x, MaskedTensor) else y.mask
            return MaskedTensor(function(*(z.values if isinstance(z, MaskedTensor) else z for z in (x, y))), mask)

        @tf.experimental.dispatch_for_api(tf.reduce_sum)
        def total(input_tensor: MaskedTensor, axis=None, keepdims=False):
            return MaskedTensor(tf.reduce_sum(input_tensor.values, axis, keepdims), tf.constant(True))

        yield
        for handler in (unary, binary, total):
            tf.experimental.unregister_dispatch_for(handler)

    @pytest.mark.parametrize(
        ("name", "rest"),
        [
            ("batch_normalization", (0.5, 2.0, 1.0, 3.0, 1e-3)),
            ("batch_normalization", (0.5, 2.0, None, None, 1e-3)),
            ("scale_regularization_loss", ()),
        ],
    )
    def test_the_result_has_the_type(self, name, rest):
        x = masked([1.0, -2.0])
        function = getattr(tf.nn, name)
        found, expected = function(x, *rest), function(x.values, *rest)
        assert isinstance(found, MaskedTensor)
        np.testing.assert_allclose(found.values, expected, rtol=1e-6)

    def test_moments(self):
        for shift in (None, 1.0):
            found = tf.nn.normalize_moments(2.0, masked([4.0]), masked([10.0]), shift)
            expected = tf.nn.normalize_moments(2.0, tf.constant([4.0]), tf.constant([10.0]), shift)
            assert [as_list(part.values) for part in found] == [as_list(part) for part in expected]
