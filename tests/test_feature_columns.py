"""Feature columns: state managers, caches, configurations. TensorFlow's results are in tests/recorded."""

import subprocess
import sys

import numpy as np
import pytest

import gradtape as tf
from gradtape_tensorflow.feature_column.columns import FeatureTransformationCache, StateManager, transform_features
from gradtape_tensorflow.feature_column.sequences import concatenate_context_input
from gradtape_tensorflow.feature_column.serialization import deserialize_feature_columns, serialize_feature_columns

fc = tf.feature_column


class Layer:
    """As much of a Keras layer as a state manager uses."""

    def __init__(self):
        self.weights, self.tracked = [], {}

    def add_weight(self, name, shape, dtype, initializer, trainable, use_resource, getter):
        self.weights.append(tf.Variable(initializer(shape, dtype=dtype), name=name, trainable=trainable))
        return self.weights[-1]

    def _track_trackable(self, value, name):
        self.tracked[name] = value


def test_a_layer_creates_the_variables_and_keeps_the_tables():
    layer = Layer()
    state = StateManager(layer, trainable=True)
    words = fc.categorical_column_with_vocabulary_list("words", ["a", "b"], num_oov_buckets=1)
    column = fc.embedding_column(words, 2, initializer=tf.compat.v1.ones_initializer())
    column.create_state(state)
    with pytest.raises(ValueError, match="already exists"):
        column.create_state(state)
    cache = FeatureTransformationCache({"words": [["a", "b"], ["x", ""]]})
    np.testing.assert_array_equal(column.get_dense_tensor(cache, state), np.ones((2, 2)))
    assert layer.tracked == {"words_embedding/embedding_weights": layer.weights[0]}
    assert list(layer._resources["words"]) == ["words_lookup"]
    assert state.get_resource(words, "words_lookup") is layer._resources["words"]["words_lookup"]
    with pytest.raises(ValueError, match="does not exist"):
        state.get_variable(words, "embedding_weights")
    with pytest.raises(ValueError, match="does not exist"):
        state.get_resource(column, "words_lookup")


def test_embeddings_come_from_a_checkpoint(tmp_path):
    table = tf.Variable(tf.reshape(tf.range(6.0), [3, 2]))
    path = tf.train.Checkpoint(table=table).write(str(tmp_path / "model"))
    (name,) = [name for name, _ in tf.train.list_variables(path) if name.startswith("table")]
    day = fc.categorical_column_with_identity("day", 3)
    column = fc.embedding_column(day, 2, ckpt_to_load_from=path, tensor_name_in_ckpt=name)
    state = StateManager(Layer(), True)
    column.create_state(state)
    dense = column.get_dense_tensor(FeatureTransformationCache({"day": [2, 0]}), state)
    np.testing.assert_array_equal(dense, [[4.0, 5.0], [0.0, 1.0]])


def test_shared_embeddings_are_one_variable():
    @tf.function
    def dense():
        days = [fc.categorical_column_with_identity(key, 4) for key in ("first", "last")]
        columns = fc.shared_embeddings(days, 2, initializer=tf.compat.v1.ones_initializer())
        assert columns[0].shared_embedding_column_creator is columns[1].shared_embedding_column_creator
        creator = columns[0].shared_embedding_column_creator
        assert creator.embedding_weights is creator.embedding_weights
        cache = FeatureTransformationCache({"first": [[1]], "last": [[2]]})
        with pytest.raises(ValueError, match="same number of buckets"):
            fc.shared_embeddings([days[0], fc.categorical_column_with_identity("x", 5)], 2)
        with pytest.raises(ValueError, match="same type"):
            fc.shared_embeddings([days[0], fc.categorical_column_with_hash_bucket("x", 4)], 2)
        return columns[1].get_dense_tensor(cache, None)

    np.testing.assert_array_equal(dense(), [[1.0, 1.0]])


def test_features_are_converted_once():
    calls = []
    size = fc.numeric_column("size", normalizer_fn=lambda x: calls.append(x) or x)
    columns = [size, fc.bucketized_column(size, [0.0])]
    found = transform_features({"size": [1.0, -1.0]}, columns)
    assert len(calls) == 1
    assert found[size].shape == (2, 1)
    with pytest.raises(ValueError, match="Duplicate feature column name"):
        transform_features({"size": [1.0]}, [size, fc.numeric_column("size")])
    cache = FeatureTransformationCache({"size": 1.0})
    with pytest.raises(ValueError, match="cannot have rank 0"):
        cache.get("size", None)
    with pytest.raises(ValueError, match="not in features dictionary"):
        cache.get("other", None)
    with pytest.raises(TypeError, match='either a "str" or "FeatureColumn"'):
        cache.get(3, None)


def test_configurations_create_equal_columns():
    day = fc.categorical_column_with_identity("day", 7)
    columns = [fc.indicator_column(day), fc.embedding_column(day, 2), fc.crossed_column(["a", day], 5)]
    again = deserialize_feature_columns(serialize_feature_columns(columns))
    assert again[0] == columns[0]
    assert again[1].categorical_column is again[0].categorical_column  # equal columns are one object
    assert again[1].initializer.get_config() == columns[1].initializer.get_config()
    assert again[2] == columns[2]
    with pytest.raises(ValueError, match="Unknown feature_column_v2"):
        deserialize_feature_columns([{"class_name": "Other", "config": {}}])
    with pytest.raises(ValueError, match="Invalid config"):
        type(day).from_config({"key": "day"})


def test_sequence_columns_are_not_dense_columns():
    days = fc.sequence_categorical_column_with_identity("days", 7)
    cache = FeatureTransformationCache({"days": [[[1]]]})
    for column in (fc.indicator_column(days), fc.embedding_column(days, 2)):
        with pytest.raises(ValueError, match="must not be of type SequenceCategoricalColumn"):
            column.get_dense_tensor(cache, None)
    with pytest.raises(ValueError, match="must be of type SequenceCategoricalColumn"):
        fc.indicator_column(days.categorical_column).get_sequence_dense_tensor(cache, None)


def test_the_context_is_repeated_for_each_step():
    joined = concatenate_context_input([[1.0], [2.0]], tf.zeros([2, 3, 1]))
    np.testing.assert_array_equal(joined[..., 1], [[1.0] * 3, [2.0] * 3])


PRIVATE = """
import tensorflow as tf
from tensorflow.python.feature_column import feature_column_v2
from tensorflow.python.feature_column import feature_column_lib as fc
internal = tf.__internal__.feature_column
column = tf.feature_column.numeric_column("a")
assert isinstance(column, internal.DenseColumn) and isinstance(column, feature_column_v2.NumericColumn)
assert fc.EmbeddingColumn is feature_column_v2.EmbeddingColumn
config = internal.serialize_feature_column(column)
assert fc.deserialize_feature_column(config) == column and fc.SequenceNumericColumn
assert issubclass(feature_column_v2._StateManagerImpl, internal.StateManager)
"""


def test_the_private_modules_have_the_same_classes(tmp_path):
    (tmp_path / "program.py").write_text(PRIVATE)
    subprocess.run([sys.executable, "-m", "gradtape", "run", str(tmp_path / "program.py")], check=True)
