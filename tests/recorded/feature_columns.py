"""`tf.feature_column`: what columns make of features, and their configurations."""

import os
import tempfile

_FEATURES = {
    "size": [[1.5], [-2.0], [30.0]],
    "pair": [[1.0, 6.0], [0.5, 4.0], [9.0, -1.0]],
    "color": [["red"], ["blue"], [""]],
    "colors": [["red", "green"], ["blue", ""], ["gray", "red"]],
    "day": [[2], [0], [6]],
    "days": [[2, -1, 3], [0, 0, 9], [-1, -1, 5]],
    "flat": [1, 2, 0],
    "hours": [[0.5, 0.0, 2.0], [1.0, 1.5, 3.0], [0.0, 0.0, 4.0]],
}


class _State:
    """A state manager without a layer."""

    def __init__(self, tf):
        self.tf, self.variables, self.resources = tf, {}, {}

    def create_variable(
        self, feature_column, name, shape, dtype=None, trainable=True, use_resource=True, initializer=None
    ):
        value = self.tf.reshape(self.tf.range(shape[0] * shape[1], dtype=self.tf.float32), shape) / 10.0
        self.variables[feature_column, name] = self.tf.Variable(value)
        return self.variables[feature_column, name]

    def get_variable(self, feature_column, name):
        return self.variables[feature_column, name]

    def add_resource(self, feature_column, name, resource):
        self.resources[feature_column, name] = resource

    def has_resource(self, feature_column, name):
        return (feature_column, name) in self.resources

    def get_resource(self, feature_column, name):
        return self.resources[feature_column, name]


class _Cache:
    """The features of a batch, as a layer's cache has them: at least of rank 2; columns' results are computed once."""

    def __init__(self, tf, features):
        self.tf, self.features, self.results = tf, features, {}

    def get(self, key, state_manager, training=None):
        if key in self.features:
            value = self.features[key]
            value = value if isinstance(value, self.tf.SparseTensor) else self.tf.convert_to_tensor(value)
            return self.tf.expand_dims(value, -1) if len(value.shape) == 1 else value
        if key not in self.results:
            self.results[key] = key.transform_feature(self, state_manager)
        return self.results[key]


def _plain(tf, value):
    if isinstance(value, tf.SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    return [_plain(tf, part) for part in value] if isinstance(value, tuple) else value


def _dense(make, features=None):
    def program(tf):
        column, state = make(tf.feature_column, tf.int64), _State(tf)
        column.create_state(state)
        cache = _Cache(tf, features or _FEATURES)
        return [column.name, list(column.variable_shape), column.get_dense_tensor(cache, state)]

    return program


def _ids(make, features=None):
    def program(tf):
        column, state = make(tf.feature_column, tf.int64), _State(tf)
        cache = _Cache(tf, features or _FEATURES)
        return [column.name, column.num_buckets, _plain(tf, tuple(column.get_sparse_tensors(cache, state)))]

    return program


def _steps(make):
    def program(tf):
        column, state = make(tf.feature_column, tf.int64), _State(tf)
        column.create_state(state)
        places = [[0, 0], [0, 1], [1, 0], [3, 0], [3, 1], [3, 2], [3, 3]]
        features = {
            "days": tf.SparseTensor(places, tf.constant([2, 0, 1, 3, 3, 2, 6], tf.int64), [4, 4]),
            "heat": tf.SparseTensor(places, [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5], [4, 4]),
        }
        pair = column.get_sequence_dense_tensor(_Cache(tf, features), state)
        return [column.name, pair.dense_tensor, pair.sequence_length]

    return program


def _gradient(tf):
    fc = tf.feature_column
    column, state = fc.embedding_column(fc.categorical_column_with_identity("days", 10), 2, "sum"), _State(tf)
    column.create_state(state)
    table = state.get_variable(column, "embedding_weights")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(column.get_dense_tensor(_Cache(tf, _FEATURES), state) ** 2.0)
    return [y, tf.convert_to_tensor(tape.gradient(y, table))]


def _file(tf, name="words.txt", text="red\ngreen\nblue\n"):
    path = os.path.join(tempfile.mkdtemp(), name)
    if name.endswith(".gz"):
        with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions("GZIP")) as writer:
            for word in text.split():
                writer.write(word.encode())
    else:
        with open(path, "w") as file:
            file.write(text)
    return path


def _from_file(**options):
    def program(tf):
        name = options.get("name", "words.txt")
        more = {key: value for key, value in options.items() if key != "name"}
        column = tf.feature_column.categorical_column_with_vocabulary_file("colors", _file(tf, name), **more)
        found = column.get_sparse_tensors(_Cache(tf, _FEATURES), _State(tf)).id_tensor
        return [int(column.num_buckets), found.values, found.dense_shape]

    return program


def _specs(tf):
    fc = tf.feature_column
    words = fc.categorical_column_with_vocabulary_list("colors", ["red", "green"])
    columns = [
        fc.numeric_column("size", default_value=3.0),
        fc.numeric_column("pair", (2,), dtype=tf.int64),
        fc.indicator_column(fc.weighted_categorical_column(words, "hours")),
        fc.embedding_column(fc.crossed_column(["color", fc.categorical_column_with_identity("day", 7)], 9), 2),
        fc.sequence_numeric_column("heat"),
        fc.bucketized_column(fc.numeric_column("age"), [18]),
    ]
    return sorted(str(item) for item in fc.make_parse_example_spec(columns).items())


def _parsed(tf):
    fc = tf.feature_column
    columns = [fc.numeric_column("size", default_value=3.0), fc.categorical_column_with_identity("days", 10)]
    features = {"days": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))}
    example = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
    parsed = tf.io.parse_example([example], fc.make_parse_example_spec(columns))
    return [columns[0].get_dense_tensor(_Cache(tf, parsed), None), parsed["days"].values]


def _configurations(tf):
    fc = tf.feature_column
    words = fc.categorical_column_with_vocabulary_list("colors", ["red", "green"], num_oov_buckets=2)
    day = fc.categorical_column_with_identity("day", 7)
    columns = [
        fc.numeric_column("size", default_value=3.0),
        fc.bucketized_column(fc.numeric_column("pair", (2,)), [0.0, 5.0]),
        fc.indicator_column(fc.weighted_categorical_column(words, "hours")),
        fc.embedding_column(fc.crossed_column(["color", day], 9), 2, initializer=tf.compat.v1.zeros_initializer()),
        fc.sequence_categorical_column_with_hash_bucket("color", 4),
    ]
    configurations = [column.get_config() for column in columns]
    again = [type(column).from_config(config) for column, config in zip(columns, configurations, strict=True)]
    same = [column == other for column, other in zip(columns, again, strict=True)]  # initializers differ by identity
    return [str(configurations), same]


def _in_a_function(tf):
    fc = tf.feature_column
    columns = [
        fc.bucketized_column(fc.numeric_column("pair", (2,)), [0.0, 5.0]),
        fc.indicator_column(fc.categorical_column_with_identity("days", 10)),
        fc.indicator_column(fc.categorical_column_with_vocabulary_list("colors", ["red", "green"])),
    ]
    state = _State(tf)

    @tf.function
    def dense(features):
        cache = _Cache(tf, features)
        parts = [column.get_dense_tensor(cache, state) for column in columns]
        return tf.concat([tf.reshape(part, [3, -1]) for part in parts], 1)

    tensors = {key: tf.constant(_FEATURES[key]) for key in ("pair", "days", "colors")}
    dense(tensors)
    return dense(tensors)


_WORDS = ["red", "green", "blue"]
CASES = [
    ("numeric", _dense(lambda fc, int64: fc.numeric_column("size"))),
    ("numeric of integers", _dense(lambda fc, int64: fc.numeric_column("day"))),
    ("numeric from a vector", _dense(lambda fc, int64: fc.numeric_column("flat"))),
    ("normalized", _dense(lambda fc, int64: fc.numeric_column("pair", 2, normalizer_fn=lambda x: x - 1.0))),
    ("bucketized", _dense(lambda fc, int64: fc.bucketized_column(fc.numeric_column("pair", 2), [0.5, 5.0, 7.0]))),
    ("ids of buckets", _ids(lambda fc, int64: fc.bucketized_column(fc.numeric_column("pair", 2), [0.5, 5.0, 7.0]))),
    ("identity", _ids(lambda fc, int64: fc.categorical_column_with_identity("days", 10))),
    ("identity with a default", _ids(lambda fc, int64: fc.categorical_column_with_identity("days", 5, 4))),
    ("hashed", _ids(lambda fc, int64: fc.categorical_column_with_hash_bucket("colors", 10))),
    ("hashed integers", _dense(lambda fc, int64: fc.indicator_column(
        fc.categorical_column_with_hash_bucket("days", 5, int64)), None)),
    ("words", _ids(lambda fc, int64: fc.categorical_column_with_vocabulary_list("colors", _WORDS))),
    ("words with buckets", _ids(lambda fc, int64: fc.categorical_column_with_vocabulary_list(
        "colors", _WORDS, num_oov_buckets=3))),
    ("a vocabulary of integers", _ids(lambda fc, int64: fc.categorical_column_with_vocabulary_list(
        "days", [3, 0, 5], default_value=1))),
    ("integers with buckets", _ids(lambda fc, int64: fc.categorical_column_with_vocabulary_list(
        "days", [3, 0, 5], num_oov_buckets=4))),
    ("a vocabulary file", _from_file()),
    ("part of a vocabulary file", _from_file(vocabulary_size=2, num_oov_buckets=2)),
    ("a vocabulary file with a default", _from_file(vocabulary_size=2, default_value=1)),
    ("a vocabulary of records", _from_file(name="words.tfrecord.gz")),
    ("indicator", _dense(lambda fc, int64: fc.indicator_column(fc.categorical_column_with_identity("days", 10)))),
    ("indicator of words", _dense(lambda fc, int64: fc.indicator_column(
        fc.categorical_column_with_vocabulary_list("colors", _WORDS)))),
    ("weighted", _ids(lambda fc, int64: fc.weighted_categorical_column(
        fc.categorical_column_with_identity("days", 10), "hours"))),
    ("weighted indicator", _dense(lambda fc, int64: fc.indicator_column(fc.weighted_categorical_column(
        fc.categorical_column_with_identity("days", 10), "hours")))),
    ("crossed", _ids(lambda fc, int64: fc.crossed_column(["color", "colors"], 20))),
    ("crossed with a key", _ids(lambda fc, int64: fc.crossed_column(["color", "colors"], 20, hash_key=7))),
    ("crossed twice", _ids(lambda fc, int64: fc.crossed_column(
        ["color", fc.crossed_column(["colors", fc.categorical_column_with_identity("day", 7)], 8)], 20))),
    ("crossed buckets", _dense(lambda fc, int64: fc.indicator_column(fc.crossed_column(
        ["color", fc.bucketized_column(fc.numeric_column("size"), [0.0])], 6)))),
    *(
        (f"embedding, {combiner}", _dense(lambda fc, int64, combiner=combiner: fc.embedding_column(
            fc.categorical_column_with_identity("days", 10), 3, combiner)))
        for combiner in ("mean", "sqrtn", "sum")
    ),
    ("embedding of words", _dense(lambda fc, int64: fc.embedding_column(
        fc.categorical_column_with_vocabulary_list("colors", _WORDS), 2))),
    ("embedding with a norm", _dense(lambda fc, int64: fc.embedding_column(
        fc.categorical_column_with_identity("days", 10), 3, max_norm=1.0))),
    ("weighted embedding", _dense(lambda fc, int64: fc.embedding_column(fc.weighted_categorical_column(
        fc.categorical_column_with_identity("days", 10), "hours"), 2))),
    ("embedding of buckets", _dense(lambda fc, int64: fc.embedding_column(
        fc.bucketized_column(fc.numeric_column("pair", 2), [0.5, 5.0]), 2))),
    ("the gradient of an embedding", _gradient),
    ("steps of numbers", _steps(lambda fc, int64: fc.sequence_numeric_column("heat"))),
    ("steps of pairs", _steps(lambda fc, int64: fc.sequence_numeric_column("heat", 2, -1.0))),
    ("normalized steps", _steps(lambda fc, int64: fc.sequence_numeric_column("heat", normalizer_fn=lambda x: x * 2.0))),
    ("steps of indicators", _steps(lambda fc, int64: fc.indicator_column(
        fc.sequence_categorical_column_with_identity("days", 7)))),
    ("steps of embeddings", _steps(lambda fc, int64: fc.embedding_column(
        fc.sequence_categorical_column_with_vocabulary_list("days", [3, 2, 0]), 2))),
    ("steps of hashes", _steps(lambda fc, int64: fc.indicator_column(
        fc.sequence_categorical_column_with_hash_bucket("days", 4, int64)))),
    ("features of examples", _specs),
    ("parsed examples", _parsed),
    ("configurations", _configurations),
    ("in a function", _in_a_function),
    *(
        (f"error: {source}", f"tf.feature_column.{source}")
        for source in (
            "numeric_column('a', shape=(0,))",
            "numeric_column('a', shape=(1.5,))",
            "numeric_column('a', dtype=tf.string)",
            "numeric_column('a', (2,), default_value=[1.0])",
            "numeric_column('a', default_value='x')",
            "numeric_column('a', normalizer_fn=3)",
            "numeric_column(('a',))",
            "bucketized_column('a', [1])",
            "bucketized_column(tf.feature_column.numeric_column('a'), [])",
            "bucketized_column(tf.feature_column.numeric_column('a'), [2, 1])",
            "categorical_column_with_hash_bucket('a', 0)",
            "categorical_column_with_hash_bucket('a', 3, tf.float32)",
            "categorical_column_with_identity('a', 0)",
            "categorical_column_with_identity('a', 2, 2)",
            "categorical_column_with_vocabulary_list('a', [])",
            "categorical_column_with_vocabulary_list('a', ['x', 'x'])",
            "categorical_column_with_vocabulary_list('a', ['x'], tf.int64)",
            "categorical_column_with_vocabulary_list('a', ['x'], default_value=1, num_oov_buckets=1)",
            "categorical_column_with_vocabulary_file('a', '')",
            "categorical_column_with_vocabulary_file('a', '/no/such/file')",
            "crossed_column(['a'], 3)",
            "crossed_column(['a', 'b'], 0)",
            "crossed_column(['a', tf.feature_column.numeric_column('b')], 3)",
            "crossed_column(['a', tf.feature_column.categorical_column_with_hash_bucket('b', 2)], 3)",
            "indicator_column('a')",
            "embedding_column(tf.feature_column.categorical_column_with_identity('a', 2), 0)",
            "embedding_column(tf.feature_column.categorical_column_with_identity('a', 2), 2, initializer=3)",
            "embedding_column(tf.feature_column.categorical_column_with_identity('a', 2), 2, ckpt_to_load_from='x')",
            "weighted_categorical_column(tf.feature_column.categorical_column_with_identity('a', 2), 'b', tf.string)",
            "shared_embeddings([tf.feature_column.categorical_column_with_identity('a', 2)], 2)",
            "make_parse_example_spec(['a'])",
            "make_parse_example_spec([tf.feature_column.numeric_column('a'), "
            "tf.feature_column.categorical_column_with_identity('a', 2)])",
        )
    ),
]  # fmt: skip
