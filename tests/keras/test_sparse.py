"""Sparse tensors and slices in Keras: what stays sparse, gradients of kernels, training on sparse batches."""

import numpy as np
import pytest

pytest.importorskip("keras")

import keras
from keras import ops

import gradtape as tf

if keras.config.backend() != "gradtape":
    pytest.skip("Keras runs on another backend", allow_module_level=True)

DENSE = np.array([[0.0, 1.0, 0.0], [-2.0, 0.0, 3.0]], "float32")


@pytest.mark.parametrize("name", ["abs", "sin", "square", "negative", "sqrt", "floor"])
def test_functions_that_keep_zeros_keep_places(name):
    y = getattr(ops, name)(tf.sparse.from_dense(np.abs(DENSE)))
    assert isinstance(y, tf.SparseTensor)
    np.testing.assert_allclose(ops.convert_to_numpy(y), getattr(np, name)(np.abs(DENSE)), rtol=1e-6)


def test_others_become_dense():
    y = ops.exp(tf.sparse.from_dense(DENSE))
    assert isinstance(y, tf.Tensor)
    np.testing.assert_allclose(y.numpy(), np.exp(DENSE), rtol=1e-6)


@pytest.mark.parametrize(("sums", "expected", "of_one_row"), [(False, [4, 10, 0], 14), (True, [4, 16, 0], 36)])
def test_entries_of_a_row_are_squared_by_themselves_unless_their_sums_come_first(sums, expected, of_one_row):
    slices = tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([1, 0, 1]), (3, 1))
    traced = tf.function(lambda v, i: tf.convert_to_tensor(ops.square(tf.IndexedSlices(v, i, (3, 1)))))
    tf.config.enable_repeated_row_sums(sums)
    try:
        assert ops.convert_to_numpy(ops.square(slices))[:, 0].tolist() == expected
        assert traced(slices.values, slices.indices).numpy()[:, 0].tolist() == expected
        assert traced(slices.values, tf.constant([2, 2, 2])).numpy()[:, 0].tolist() == [0, 0, of_one_row]
        assert traced(slices.values, tf.constant([2, 0, 1])).numpy()[:, 0].tolist() == [4, 9, 1]
    finally:
        tf.config.enable_repeated_row_sums(False)


def test_division_by_zero_is_seen_where_nothing_was():
    y = ops.divide(tf.sparse.from_dense(DENSE), tf.constant([[0.0, 2.0, 1.0], [1.0, 1.0, 1.0]]))
    assert isinstance(y, tf.SparseTensor)
    with np.errstate(invalid="ignore"):
        np.testing.assert_equal(ops.convert_to_numpy(y), DENSE / [[0.0, 2.0, 1.0], [1.0, 1.0, 1.0]])


def test_the_kernel_of_a_dense_layer_has_a_sparse_gradient():
    layer = keras.layers.Dense(2)
    sparse = tf.sparse.from_dense(DENSE)
    layer.build((2, 3))
    with tf.GradientTape(persistent=True) as tape:
        given_sparse, given_dense = layer(sparse), layer(tf.constant(DENSE))
    np.testing.assert_allclose(given_sparse.numpy(), given_dense.numpy(), rtol=1e-6)
    g = tape.gradient(given_sparse, layer.kernel)
    assert isinstance(g, tf.IndexedSlices)
    np.testing.assert_allclose(tf.convert_to_tensor(g).numpy(), tape.gradient(given_dense, layer.kernel).numpy())


@pytest.mark.parametrize("eagerly", [True, False])
def test_sparse_batches_train_as_dense_ones(eagerly):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    x = np.random.default_rng(0).random((8, 5)).astype("float32") * (np.arange(40).reshape(8, 5) % 3 == 0)
    y = np.ones((8, 2), "float32")

    def trained(batches):
        inputs = keras.Input((5,), sparse=True)
        model = keras.Model(inputs, keras.layers.Dense(2, kernel_initializer="ones")(inputs))
        model.compile("adagrad", "mse", run_eagerly=eagerly)
        for batch in batches:
            model.train_on_batch(batch, y[:4])
        return model.get_weights()[0]

    halves = [x[:4], x[4:]]
    sparse = trained([scipy_sparse.csr_matrix(half) for half in halves])
    dense = trained([tf.sparse.from_dense(half) for half in halves])
    np.testing.assert_allclose(sparse, dense, rtol=1e-6)
    assert not np.allclose(sparse, 1.0)


@pytest.mark.parametrize("eagerly", [True, False])
def test_generators_and_sequences_leave_batches_sparse(eagerly):
    y, kinds = np.zeros((2, 1), "float32"), []

    class Sequence(keras.utils.PyDataset):
        def __len__(self):
            return 1

        def __getitem__(self, index):
            return tf.sparse.from_dense(DENSE), y

    class Model(keras.Model):
        def build(self, shape):
            self.kernel = self.add_weight(shape=(3, 1))

        def call(self, x):
            kinds.append(type(x))
            return keras.ops.matmul(x, self.kernel)

    for batches in ((batch for batch in [(tf.sparse.from_dense(DENSE), y)] * 3), Sequence()):
        model = Model()
        model.compile("sgd", "mse", run_eagerly=eagerly)
        model.fit(batches, steps_per_epoch=1, shuffle=False, verbose=0)
        assert set(kinds) == {tf.SparseTensor}
