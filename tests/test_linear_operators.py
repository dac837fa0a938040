"""Linear operators as values: in functions, loops, tapes, modules and datasets; user-defined operators; misuse.

What each class computes is compared with TensorFlow in tests/recorded/linear_operators.py.
"""

import pickle

import numpy as np
import pytest

import gradtape as tf

linalg = tf.linalg
MATRIX = np.array([[2.5, 1.2, 0.7], [0.9, 3.1, 0.6], [1.1, 0.8, 2.2]])
VECTOR = np.array([1.3, 0.7, 1.6])
SMALL = np.array([[2.0, 0.5], [0.4, 1.5]])


def positive(size=3):
    return MATRIX[:size, :size] @ MATRIX[:size, :size].T + np.eye(size)


MAKERS = {
    "full": lambda a: linalg.LinearOperatorFullMatrix(tf.linalg.diag(a) + MATRIX),
    "diag": linalg.LinearOperatorDiag,
    "triangular": lambda a: linalg.LinearOperatorLowerTriangular(tf.linalg.diag(a) + MATRIX),
    "scaled": lambda a: linalg.LinearOperatorScaledIdentity(3, a[0]),
    "householder": linalg.LinearOperatorHouseholder,
    "toeplitz": lambda a: linalg.LinearOperatorToeplitz(a, tf.concat([a[:1], a[1:] * 0.3], 0)),
    "tridiag": lambda a: linalg.LinearOperatorTridiag([a, 2.0 + a, a * 0.5], diagonals_format="sequence"),
    "low_rank": lambda a: linalg.LinearOperatorLowRankUpdate(linalg.LinearOperatorDiag(a), a[:, None] * 0.7),
    "circulant": lambda a: linalg.LinearOperatorCirculant(
        tf.signal.fft(tf.cast(a, tf.complex128)), input_output_dtype=tf.float64
    ),
    "inversion": lambda a: linalg.LinearOperatorInversion(linalg.LinearOperatorFullMatrix(tf.linalg.diag(a) + MATRIX)),
    "adjoint": lambda a: linalg.LinearOperatorAdjoint(linalg.LinearOperatorFullMatrix(tf.linalg.diag(a) + MATRIX)),
    "composition": lambda a: linalg.LinearOperatorComposition(
        [linalg.LinearOperatorDiag(a), linalg.LinearOperatorFullMatrix(MATRIX)]
    ),
    "block_diag": lambda a: linalg.LinearOperatorBlockDiag(
        [linalg.LinearOperatorDiag(a[:1]), linalg.LinearOperatorFullMatrix(tf.linalg.diag(a[1:]) + SMALL)]
    ),
    "block_triangular": lambda a: linalg.LinearOperatorBlockLowerTriangular(
        [
            [linalg.LinearOperatorDiag(a[:1])],
            [linalg.LinearOperatorFullMatrix(a[1:, None]), linalg.LinearOperatorFullMatrix(SMALL)],
        ]
    ),
    "kronecker": lambda a: linalg.LinearOperatorKronecker(
        [linalg.LinearOperatorDiag(a), linalg.LinearOperatorFullMatrix(np.array([[1.5]]))]
    ),
}
OTHERS = {
    "identity": linalg.LinearOperatorIdentity(3, dtype=tf.float64),
    "zeros": linalg.LinearOperatorZeros(3, dtype=tf.float64),
    "permutation": linalg.LinearOperatorPermutation([2, 0, 1], dtype=tf.float64),
    "circulant_2d": linalg.LinearOperatorCirculant2D(np.fft.fft2(SMALL), input_output_dtype=tf.float64),
    "circulant_3d": linalg.LinearOperatorCirculant3D(np.ones([2, 1, 2]), input_output_dtype=tf.float64),
}
OPERATORS = {**{name: make(tf.constant(VECTOR)) for name, make in MAKERS.items()}, **OTHERS}


def numeric(f, at, step=1e-6):
    rows = np.eye(at.size).reshape(-1, *at.shape) * step
    return np.array([(f(at + row) - f(at - row)) / (2 * step) for row in rows]).reshape(at.shape)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("method", ["matvec", "solvevec", "log_abs_determinant", "trace", "to_dense"])
def test_gradients_are_numeric_derivatives(name, method):
    weights = np.array([0.5, -1.2, 2.0])

    def total(a):
        operator = MAKERS[name](a)
        result = getattr(operator, method)(*([weights] if method.endswith("vec") else []))
        return tf.reduce_sum(result * (weights if result.shape.rank else 1.0))

    a = tf.constant(VECTOR)
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = total(a)
    gradient = tape.gradient(y, a)
    gradient = np.zeros(3) if gradient is None else gradient.numpy()
    np.testing.assert_allclose(gradient, numeric(lambda a: float(total(tf.constant(a))), VECTOR), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", OPERATORS)
class TestAsValues:
    def test_agrees_with_its_dense_matrix(self, name):
        operator = OPERATORS[name]
        dense = operator.to_dense().numpy()
        x = np.cos(np.arange(dense.shape[1] * 2.0)).reshape(-1, 2)
        np.testing.assert_allclose(operator.matmul(x), dense @ x, atol=1e-12)
        np.testing.assert_allclose((operator @ operator).to_dense(), dense @ dense, atol=1e-12)
        np.testing.assert_allclose(operator.H.to_dense(), dense.conj().T, atol=1e-12)
        np.testing.assert_allclose(operator.diag_part(), np.diag(dense), atol=1e-12)
        np.testing.assert_allclose(operator.add_to_tensor(dense), 2 * dense, atol=1e-12)
        np.testing.assert_allclose(tf.constant(x.T) @ operator, x.T @ dense, atol=1e-12)
        if name != "zeros":
            np.testing.assert_allclose(operator.inverse().to_dense(), np.linalg.inv(dense), atol=1e-10)
            np.testing.assert_allclose(operator.determinant(), np.linalg.det(dense), rtol=1e-10)
            np.testing.assert_allclose(operator.solve(operator).to_dense(), np.eye(len(dense)), atol=1e-10)

    @pytest.mark.parametrize("jit_compile", [False, True])
    def test_in_functions(self, name, jit_compile):
        operator = OPERATORS[name]
        f = tf.function(lambda o, x: (o, o.matvec(x)), jit_compile=jit_compile)
        x = tf.constant(np.cos(np.arange(float(operator.shape[-1]))))
        for _ in range(3):
            same, y = f(operator, x)
        assert type(same) is type(operator) and same.is_square == operator.is_square
        np.testing.assert_allclose(same.to_dense(), operator.to_dense(), atol=1e-12)
        np.testing.assert_allclose(y, operator.matvec(x), atol=1e-12)
        assert f.experimental_get_tracing_count() == 1

    def test_specs(self, name):
        operator = OPERATORS[name]
        spec = tf.type_spec_from_value(operator)
        assert spec == operator._type_spec and pickle.loads(pickle.dumps(spec)) == spec
        assert spec.is_compatible_with(operator) and repr(spec).startswith(f"{type(operator).__name__}Spec(")
        parts = tf.nest.flatten(operator, expand_composites=True)
        again = tf.nest.pack_sequence_as(operator, parts, expand_composites=True)
        np.testing.assert_allclose(again.to_dense(), operator.to_dense(), atol=1e-12)

    def test_made_again_of_its_parameters(self, name):
        operator = OPERATORS[name]
        again = type(operator)(**operator.parameters)
        np.testing.assert_allclose(again.to_dense(), operator.to_dense(), atol=1e-12)
        assert again.name == operator.name


class TestUses:
    def test_a_source_of_a_gradient(self):
        operator = linalg.LinearOperatorDiag(tf.Variable([1.0, 2.0]))
        with tf.GradientTape() as tape:
            y = operator.matvec([3.0, 4.0])
        gradient = tape.gradient(y, operator)
        assert isinstance(gradient, linalg.LinearOperatorDiag) and gradient.diag.numpy().tolist() == [3.0, 4.0]

    def test_a_source_made_of_operators(self):
        operator = linalg.LinearOperatorComposition(
            [linalg.LinearOperatorDiag(tf.Variable([1.0, 2.0])), linalg.LinearOperatorDiag(tf.constant([3.0, 4.0]))]
        )
        with tf.GradientTape() as tape:
            y = operator.matvec([1.0, 1.0])
        first, second = tape.gradient(y, operator).operators
        assert first.diag.numpy().tolist() == [3.0, 4.0] and second.diag.numpy().tolist() == [0.0, 0.0]

    def test_variables_are_found_and_read_when_used(self):
        class Model(tf.Module):
            def __init__(self):
                super().__init__()
                self.scale = linalg.LinearOperatorDiag(tf.Variable([1.0, 2.0], name="diag"))
                self.b = tf.Variable(0.0, name="b")

        model = Model()
        assert [v.name for v in model.trainable_variables] == ["b:0", "diag:0"]
        assert [v.name for v in model.scale.variables] == ["diag:0"]
        f = tf.function(lambda: model.scale.matvec([1.0, 1.0]))
        assert f().numpy().tolist() == [1.0, 2.0]
        model.scale.diag.assign([5.0, 6.0])
        assert f().numpy().tolist() == [5.0, 6.0] and float(model.scale.determinant()) == 30.0

    def test_a_signature(self):
        spec = tf.type_spec_from_value(linalg.LinearOperatorDiag([1.0, 2.0]))._with_tensor_ranks_only()
        f = tf.function(lambda o: o.trace(), input_signature=[spec])
        assert float(f(linalg.LinearOperatorDiag([1.0, 2.0]))) == 3.0
        assert float(f(linalg.LinearOperatorDiag([1.0, 2.0, 3.0]))) == 6.0

    def test_branches_and_loops(self):
        @tf.function
        def f(o, flag):
            o = tf.cond(flag, lambda: o, lambda: linalg.LinearOperatorDiag(-o.diag))
            (last,) = tf.while_loop(
                lambda o: o.trace() < 20.0, lambda o: [linalg.LinearOperatorDiag(o.diag * 2.0)], [o]
            )
            return last

        assert f(linalg.LinearOperatorDiag([1.0, 2.0]), tf.constant(True)).diag.numpy().tolist() == [8.0, 16.0]

    def test_datasets(self):
        operators = linalg.LinearOperatorDiag([[1.0, 2.0], [3.0, 4.0]])
        rows = list(tf.data.Dataset.from_tensor_slices(operators))
        assert [row.diag.numpy().tolist() for row in rows] == [[1.0, 2.0], [3.0, 4.0]]

    def test_parts_of_a_batch(self):
        diag = linalg.LinearOperatorDiag(np.arange(12.0).reshape(2, 2, 3))
        assert diag[0].shape == [2, 3, 3] and diag[..., 1].diag.numpy().tolist() == [[3.0, 4.0, 5.0], [9.0, 10.0, 11.0]]
        wide = linalg.LinearOperatorLowRankUpdate(
            linalg.LinearOperatorDiag(np.ones([2, 1, 3])), np.arange(18.0).reshape(1, 3, 3, 2)
        )
        np.testing.assert_allclose(wide[1, 2].to_dense(), wide.to_dense()[1, 2])
        np.testing.assert_allclose(wide[:, 1:].to_dense(), wide.to_dense()[:, 1:])
        assert linalg.LinearOperatorIdentity(2, batch_shape=[3, 4])[1:, 0].shape == [2, 2, 2]

    def test_blocks_given_and_answered_one_by_one(self):
        operator = OPERATORS["block_triangular"]
        blocks = operator.matmul([np.ones([1, 2]), np.ones([2, 2])])
        np.testing.assert_allclose(tf.concat(blocks, 0), operator.to_dense() @ np.ones([3, 2]))
        solved = operator.solvevec([np.ones(1), np.ones(2)])
        np.testing.assert_allclose(tf.concat(solved, 0), np.linalg.solve(operator.to_dense(), np.ones(3)))

    def test_structure_survives(self):
        diag, scaled = OPERATORS["diag"], OPERATORS["scaled"]
        triangular, identity = OPERATORS["triangular"], OPERATORS["identity"]
        assert isinstance(diag @ diag, linalg.LinearOperatorDiag)
        assert isinstance(scaled @ diag, linalg.LinearOperatorDiag)
        assert isinstance(diag @ triangular, linalg.LinearOperatorLowerTriangular)
        assert isinstance(triangular @ diag, linalg.LinearOperatorLowerTriangular)
        assert identity @ triangular is triangular and triangular @ identity is triangular
        assert isinstance(OPERATORS["kronecker"].inverse(), linalg.LinearOperatorKronecker)
        factor = linalg.LinearOperatorLowerTriangular(np.tril(MATRIX), is_non_singular=True)
        product = factor @ factor.H
        assert product.is_positive_definite and product.is_self_adjoint
        np.testing.assert_allclose(product.cholesky().to_dense(), np.tril(MATRIX))

    def test_conjugate_gradients(self):
        operator = linalg.LinearOperatorFullMatrix(positive(), is_self_adjoint=True, is_positive_definite=True)
        solution = tf.function(linalg.experimental.conjugate_gradient)(operator, tf.constant(VECTOR), max_iter=10)
        np.testing.assert_allclose(solution.x, np.linalg.solve(positive(), VECTOR), rtol=1e-6)
        with pytest.raises(ValueError, match="Expected a self-adjoint, positive definite operator"):
            linalg.experimental.conjugate_gradient(OPERATORS["full"], tf.constant(VECTOR))

    def test_a_class_of_the_users_own(self):
        class Doubling(linalg.LinearOperator):
            def __init__(self, size):
                super().__init__(tf.float64, is_self_adjoint=True, parameters={"size": size})
                self.size = size

            def _shape(self):
                return tf.TensorShape([self.size, self.size])

            def _matmul(self, x, adjoint=False, adjoint_arg=False):
                return 2.0 * (tf.linalg.adjoint(x) if adjoint_arg else x)

        operator = Doubling(2)
        assert float(operator.determinant()) == 4.0 and operator.eigvals().numpy().tolist() == [2.0, 2.0]
        assert operator.solvevec(np.ones(2)).numpy().tolist() == [0.5, 0.5]
        assert tf.nest.flatten([operator], expand_composites=True) == [operator]  # it could not be rebuilt
        assert float(tf.function(lambda: operator.trace())()) == 4.0


class TestMisuse:
    @pytest.mark.parametrize(
        ("make", "error", "message"),
        [
            (lambda: linalg.LinearOperatorDiag(1.0), ValueError, "must have at least 1 dimension"),
            (lambda: linalg.LinearOperatorDiag([1.0], is_self_adjoint=False), ValueError, "always self adjoint"),
            (lambda: linalg.LinearOperatorFullMatrix([1.0]), ValueError, "at least 2 dimensions"),
            (lambda: linalg.LinearOperatorFullMatrix([[1]]), TypeError, "must have dtype in"),
            (lambda: linalg.LinearOperatorIdentity(2, is_square=False), ValueError, "always square"),
            (lambda: linalg.LinearOperatorIdentity(2.0), TypeError, "must be integer type"),
            (lambda: linalg.LinearOperatorIdentity(-2), ValueError, "must be non-negative"),
            (lambda: linalg.LinearOperatorIdentity([2]), ValueError, "must be a 0-D Tensor"),
            (lambda: linalg.LinearOperatorIdentity(2, batch_shape=2), ValueError, "must be a 1-D Tensor"),
            (lambda: linalg.LinearOperatorZeros(2, 3), ValueError, "is_square=True, but got"),
            (lambda: linalg.LinearOperatorPermutation([0, 0]), ValueError, "vector of unique integers"),
            (lambda: linalg.LinearOperatorPermutation([0.0]), TypeError, "must be integer dtype"),
            (lambda: linalg.LinearOperatorToeplitz([1.0], [1.0, 2.0]), ValueError, "mismatched dimensions"),
            (lambda: linalg.LinearOperatorTridiag([[1.0]], "none"), ValueError, "must be one of compact"),
            (lambda: linalg.LinearOperatorComposition([]), ValueError, "non-empty list of operators"),
            (lambda: linalg.LinearOperatorInversion(OTHERS["zeros"]), ValueError, "`is_non_singular` equal to `True`"),
            (lambda: linalg.LinearOperatorHouseholder([1.0], is_positive_definite=True), ValueError, "non-positive"),
            (
                lambda: linalg.LinearOperatorComposition([OPERATORS["diag"], linalg.LinearOperatorDiag([1.0])]),
                TypeError,
                "same dtype",
            ),
            (lambda: linalg.LinearOperatorBlockLowerTriangular([[OPERATORS["diag"]] * 2]), ValueError, "`1` blocks"),
            (
                lambda: linalg.LinearOperatorFullMatrix(SMALL, is_positive_definite=True, is_non_singular=False),
                ValueError,
                "always non-singular",
            ),
        ],
    )
    def test_of_constructors(self, make, error, message):
        with pytest.raises(error, match=message):
            make()

    @pytest.mark.parametrize(
        ("call", "error", "message"),
        [
            (lambda: OPERATORS["full"].matmul(np.ones([2, 2])), ValueError, "Dimensions 3 and 2 are not compatible"),
            (lambda: OPERATORS["full"].matmul(tf.ones([3, 2])), TypeError, "Expected argument to have dtype"),
            (lambda: OPERATORS["full"].matvec(1.0), ValueError, "rank 1 or more"),
            (lambda: OPERATORS["full"] @ OPERATORS["circulant_2d"], ValueError, "Operators are incompatible"),
            (lambda: OPERATORS["zeros"].solve(np.ones([3, 1])), NotImplementedError, "expected to be singular"),
            (lambda: OPERATORS["zeros"].inverse(), ValueError, "singular matrix"),
            (lambda: OPERATORS["full"].cholesky(), ValueError, "Not a positive definite self adjoint"),
            (lambda: OPERATORS["full"].eigvals(), NotImplementedError, "Only self-adjoint"),
            (lambda: tf.matmul(OPERATORS["full"], MATRIX, transpose_a=True), ValueError, "Transposing not supported"),
            (lambda: tf.linalg.logdet(OPERATORS["full"]), ValueError, "self-adjoint positive definite"),
            (lambda: linalg.LinearOperatorFullMatrix(MATRIX[:2]).determinant(), NotImplementedError, "not be square"),
            (
                lambda: linalg.LinearOperatorFullMatrix(np.zeros([2, 2])).assert_non_singular(),
                tf.errors.InvalidArgumentError,
                "Singular matrix",
            ),
            (
                lambda: linalg.LinearOperatorDiag([1.0, -1.0]).assert_positive_definite(),
                tf.errors.InvalidArgumentError,
                "non-positive diagonal entries",
            ),
            (lambda: OPERATORS["full"].assert_self_adjoint(), tf.errors.InvalidArgumentError, "equal to its adjoint"),
        ],
    )
    def test_of_methods(self, call, error, message):
        with pytest.raises(error, match=message):
            call()


def test_an_operator_of_a_variable_of_open_shape_has_the_shape_of_its_value():
    v = tf.Variable([[1.0, 2.0]], shape=tf.TensorShape(None))
    operator = tf.linalg.LinearOperatorDiag(v)
    assert operator.shape.rank is None
    assert operator.matvec([[3.0, 4.0]]).numpy().tolist() == [[3.0, 8.0]]
    assert operator.shape_tensor().numpy().tolist() == [1, 2, 2]
    both = tf.linalg.LinearOperatorComposition([operator, operator])
    assert int(both.domain_dimension_tensor()) == 2
    v.assign([1.0, 2.0, 3.0])
    assert operator.shape_tensor().numpy().tolist() == [3, 3]
    with pytest.raises(ValueError, match=r"the operator has shape \(3, 3\)"):
        operator.matvec([1.0, 2.0])
