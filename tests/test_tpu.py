"""`tf.tpu`: settings, embeddings on the host, and errors where a TPU is needed. Numbers are TensorFlow's."""

import numpy as np
import pytest

import gradtape as tf

embedding = tf.tpu.experimental.embedding
TABLE = embedding.TableConfig(5, 2, initializer=tf.constant_initializer(1.0), combiner="sum", name="table")
FEATURES = {"a": embedding.FeatureConfig(table=TABLE), "b": embedding.FeatureConfig(table=TABLE, max_sequence_length=2)}
IDS = tf.sparse.from_dense([[1, 2], [3, 0]])
ROWS = tf.reshape(tf.range(10.0), [5, 2])


def test_lookups_on_the_host():
    tables = {TABLE: tf.Variable(ROWS)}
    feature = [FEATURES["a"]]

    def look_up():
        both = embedding.serving_embedding_lookup({"a": IDS, "b": IDS}, None, tables, FEATURES)
        ragged, weights = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[1.0, 2.0], [3.0]])
        dense = embedding.serving_embedding_lookup([tf.constant([1, 2])], None, tables, feature)
        weighted = embedding.serving_embedding_lookup([ragged], [weights], tables, feature)
        return both["a"], both["b"], dense[0], weighted[0]

    expected = (
        [[6.0, 8.0], [6.0, 7.0]],
        [[[2.0, 3.0], [4.0, 5.0]], [[6.0, 7.0], [0.0, 0.0]]],
        [[2.0, 3.0], [4.0, 5.0]],
        [[10.0, 13.0], [18.0, 21.0]],
    )
    for found in (look_up(), tf.function(look_up)()):
        assert [x.numpy().tolist() for x in found] == list(expected)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(embedding.serving_embedding_lookup({"b": IDS}, None, tables, FEATURES)["b"])
    gradient = tf.convert_to_tensor(tape.gradient(loss, tables[TABLE]))
    assert gradient.numpy()[:, 0].tolist() == [0.0, 1.0, 1.0, 1.0, 0.0]


def test_tables_for_serving(tmp_path):
    serving = embedding.TPUEmbeddingForServing(FEATURES, embedding.SGD(0.1))
    assert serving({"a": IDS})["a"].numpy().tolist() == [[2.0, 2.0], [1.0, 1.0]]
    (variable,) = serving.embedding_tables.values()
    assert variable.name == "table:0" and serving.variables["table"]["parameters"] is variable
    path = tf.train.Checkpoint(serving=serving).save(str(tmp_path / "ckpt"))
    variable.assign(ROWS)
    tf.train.Checkpoint(serving=serving).restore(path)
    assert np.all(variable == 1.0)
    drawn = embedding.TableConfig(1000, 4).initializer((1000, 4), dtype=tf.float32)
    assert abs(float(tf.math.reduce_std(drawn)) - 0.44) < 0.02  # of a truncated normal with stddev 1 / sqrt(4)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: embedding.TableConfig(0, 4), ValueError, "Argument `vocabulary_size` must be an int and must be >= 1"),
        (lambda: embedding.TableConfig(3, -1), ValueError, "Argument `dim`"),
        (lambda: embedding.TableConfig(3, 3, combiner="x"), ValueError, "String argument `combiner` must be in"),
        (lambda: embedding.TableConfig(3, 3, initializer=3), ValueError, "Argument `initializer` must be a callable"),
        (lambda: embedding.Adagrad(initial_accumulator_value=-1), ValueError, "must be a positive float"),
        (lambda: embedding.Adam(beta_1=2.0), ValueError, r"Argument `beta_1` must be >= 0 and < 1. Received: 2.0"),
        (lambda: embedding.Adam(epsilon=-1.0), ValueError, r"epsilon must be positive; got -1.0"),
        (
            lambda: embedding.SGD(use_gradient_accumulation=False, clipvalue=1.0),
            ValueError,
            "When `use_gradient_accumulation` is False, gradient clipping cannot be used",
        ),
        (lambda: embedding.TPUEmbedding(FEATURES, None), tf.errors.NotFoundError, "TPUEmbeddingForServing"),
        (lambda: embedding.TPUEmbeddingV2(FEATURES), tf.errors.NotFoundError, "knows of no TPUs"),
        (lambda: tf.tpu.experimental.initialize_tpu_system(), ValueError, "Please provide a TPU Name to connect to"),
        (lambda: tf.tpu.experimental.DeviceAssignment.build(None), tf.errors.NotFoundError, "knows of no TPUs"),
        (
            lambda: embedding.serving_embedding_lookup({"c": IDS}, None, {}, FEATURES),
            ValueError,
            "Inputs are not a subset of feature_config",
        ),
        (
            lambda: embedding.serving_embedding_lookup({"b": tf.ones([2])}, None, {TABLE: ROWS}, FEATURES),
            ValueError,
            "Feature b is a sequence feature but a dense tensor was passed",
        ),
    ],
)
def test_errors_are_tensorflows(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_settings_are_tensorflows():
    assert embedding.SGD(clipvalue=2.0).clip_gradient_min == -2.0
    assert tf.tpu.XLAOptions()._asdict()["use_shardy_partitioner"] is False
    assert embedding.RowIdInitializer(1)([2, 1], tf.int32).numpy().tolist() == [[1], [2]]
    assert tf.tpu.experimental.DeviceOrderMode.MESH == 2
