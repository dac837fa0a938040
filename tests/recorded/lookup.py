"""`tf.lookup`, hashes of strings, crosses of features and WAV files."""

import os
import tempfile

_ROWS = "tf.lookup.KeyValueTensorInitializer(['a', 'b'], [1, 2])"
_TABLE = f"tf.lookup.StaticHashTable({_ROWS}, -1)"
_WORDS = "tf.lookup.KeyValueTensorInitializer(['a', 'b'], tf.constant([0, 1], tf.int64))"
_NUMBERS = "tf.lookup.KeyValueTensorInitializer(tf.constant([5, 6], tf.int64), tf.constant([0, 1], tf.int64))"
_TEXT = "('The quick brown fox jumps over the lazy dog. ' * 8)"
_SIZES = "[0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 192, 193, 300]"
_STRINGS = f"[{_TEXT}[:n] for n in {_SIZES}]"


def _from_file(text, *args, default=-1, keys=("x", "z"), **options):
    """A table from a text file, with lookups of some keys."""

    def program(tf):
        path = os.path.join(tempfile.mkdtemp(), "words.txt")  # TensorFlow identifies tables of files by their names
        with open(path, "w") as file:
            file.write(text)
        kinds = [getattr(tf, arg) if isinstance(arg, str) else arg for arg in args]
        table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(path, *kinds, **options), default)
        return [table.lookup(tf.constant(keys, table.key_dtype)), table.size()]

    return program


def _mutable(tf):
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["a", "b"], [1, 2])
    table.insert(["b", "c"], [20, 30])
    table.remove(tf.constant(["a", "zz"]))
    default = table.lookup(["a", "b"], dynamic_default_values=tf.constant([7, 8], tf.int64))
    return [table.lookup([["a", "b"], ["c", "d"]]), table.size(), default, table["c"]]


def _vectors(tf):
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.5, 0.25])
    table.insert([3, 4], [[1.0, 2.0], [3.0, 4.0]])
    return table.lookup([[3, 5]])


def _dense(tf):
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=-1)
    table.insert([1, 2, 3], [10, 20, 30])
    table.erase(tf.constant([2], tf.int64))
    table.insert_or_assign([3], [31])
    return [table.lookup([1, 2, 3, 4]), table.size()]


def _dense_vectors(tf):
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=[0, 0], deleted_key=[-1, -1])
    table.insert([[1, 2], [3, 4]], [10, 20])
    return table.lookup([[3, 4], [5, 6]])


def _in_a_function(tf):
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)

    @tf.function
    def count(words):
        table.insert(words, table.lookup(words) + 1)
        return table.lookup(words), table.size()

    return [count(tf.constant(words)) for words in (["a", "b"], ["b", "c"], ["b", "c"], ["c", "a"])]


def _in_a_dataset(tf):
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    words = tf.data.Dataset.from_tensor_slices(["b", "q", "a"]).map(table.lookup)
    return [int(x) for x in words]


def _saved(tf):
    first, second = (tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1) for _ in range(2))
    first.insert(["a", "b"], [1, 2])
    second.insert(["z"], [26])
    path = tf.train.Checkpoint(table=first).save(os.path.join(tempfile.mkdtemp(), "saved"))
    first.insert(["c"], [3])
    tf.train.Checkpoint(table=second).restore(path).assert_consumed()
    return [second.lookup(["a", "b", "c", "z"]), second.size(), first.size()]


def _sparse_keys(tf):
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["p", "q"], [1, 2]), -1)
    found = table.lookup(tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["p", "q", "r"], [2, 2]))
    return [found.indices, found.values, found.dense_shape]


def _crossed(name, **options):
    def program(tf):
        dense = [tf.constant([["a", "b"], ["x", "y"]]), tf.constant([[1, 2], [3, 4]])]
        sparse = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["p", "q", "r"], [2, 2])
        found = getattr(tf.sparse, name)([dense[0], sparse, dense[1]], **options)
        return [found.indices, found.values, found.dense_shape]

    return program


def _wave(tf):
    samples = tf.constant([[0.1, -0.1], [0.20001, 2.0], [-0.3, -2.0]])
    whole = tf.audio.decode_wav(tf.audio.encode_wav(samples, 44100))
    cut = tf.audio.decode_wav(tf.audio.encode_wav(samples, 44100), desired_channels=3, desired_samples=2)
    longer = tf.audio.decode_wav(tf.audio.encode_wav(samples, 44100), desired_channels=1, desired_samples=4)
    return [whole.audio, whole.sample_rate, cut.audio, longer.audio]


_TABLES, _ONE = "tf.data.experimental", "tf.data.Dataset.from_tensors"


def _of_a_dataset(tf):
    words, make = tf.data.Dataset.from_tensor_slices(["a", "b", "c"]), tf.data.experimental
    numbers = make.index_table_from_dataset(words)
    buckets = make.index_table_from_dataset(words, num_oov_buckets=7, vocab_size=2)
    pairs = make.table_from_dataset(
        tf.data.Dataset.range(3).map(lambda x: (x, tf.strings.as_string(x))), default_value="?", key_dtype=tf.int64
    )
    asked = tf.constant(["c", "x", "a", "yz"])
    return [
        numbers.lookup(asked), buckets.lookup(asked), pairs.lookup(tf.constant([2, 5], tf.int64)),
        numbers.size(), buckets.size(),
    ]  # fmt: skip


CASES = [
    ("static", f"{_TABLE}.lookup(tf.constant([['a', 'z'], ['b', 'a']]))"),
    ("static.scalar", f"{_TABLE}[tf.constant('b')]"),
    ("static.size", f"{_TABLE}.size()"),
    ("static.export", f"sorted(zip(*(x.numpy().tolist() for x in {_TABLE}.export())))[1][1]"),
    ("static.sparse", _sparse_keys),
    ("static.ragged", f"{_TABLE}.lookup(tf.ragged.constant([['a'], ['b', 'q'], []])).to_list()"),
    ("static.other_dtype", f"{_TABLE}.lookup(tf.constant([1]))"),
    (
        "static.same_twice",
        "tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a', 'a'], [1, 1]), -1).size()",
    ),
    ("static.contradiction", "tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a', 'a'], [1, 2]), -1)"),
    ("static.lengths", "tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], [1]), -1)"),
    ("static.float_keys", "tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1.5], [1]), -1)"),
    (
        "static.float_values",
        "tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1], [1.5]), 0.5).lookup(tf.constant([1, 2]))",
    ),
    (
        "static.strings",
        "tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1], ['q']), '').lookup(tf.constant([1, 2]))",
    ),
    ("static.default_dtype", f"tf.lookup.StaticHashTable({_ROWS}, 'x')"),
    ("static.default_shape", f"tf.lookup.StaticHashTable({_ROWS}, [1, 2])"),
    ("vocabulary", f"tf.lookup.StaticVocabularyTable({_WORDS}, 3).lookup(tf.constant(['a', 'b', 'c', 'd', 'e', 'f']))"),
    (
        "vocabulary.ragged",
        f"tf.lookup.StaticVocabularyTable({_WORDS}, 3).lookup(tf.ragged.constant([['a'], ['q']])).to_list()",
    ),
    ("vocabulary.size", f"tf.lookup.StaticVocabularyTable({_WORDS}, 3).size()"),
    (
        "vocabulary.numbers",
        f"tf.lookup.StaticVocabularyTable({_NUMBERS}, 4).lookup(tf.constant([5, 6, 7, 8, 9], tf.int64))",
    ),
    (
        "vocabulary.int32",
        f"tf.lookup.StaticVocabularyTable({_NUMBERS}, 4, lookup_key_dtype=tf.int32).lookup(tf.range(5, 10))",
    ),
    ("vocabulary.empty", "tf.lookup.StaticVocabularyTable(None, 5).lookup(tf.constant(['a', 'b', 'c']))"),
    ("vocabulary.no_buckets", f"tf.lookup.StaticVocabularyTable({_WORDS}, 0)"),
    ("vocabulary.int32_values", f"tf.lookup.StaticVocabularyTable({_ROWS}, 2)"),
    ("vocabulary.key_dtype", f"tf.lookup.StaticVocabularyTable({_WORDS}, 2, lookup_key_dtype=tf.int64)"),
    ("file.columns", _from_file("x 1\ny 2\nz 3\n", "string", 0, "int64", 1, delimiter=" ")),
    ("file.floats", _from_file("x\t1.5\nz\t3\n", "string", 0, "float32", 1)),
    ("file.lines", _from_file("x\ny\nz", "string", -2, "int64", -1)),
    ("file.offset", _from_file("x\ny\nz\n", "string", -2, "int64", -1, value_index_offset=10)),
    ("file.inverse", _from_file("x\ny\nz\n", "int64", -1, "string", -2, default="none", keys=(0, 2, 9))),
    (
        "file.inverse_offset",
        _from_file("x\ny\n", "int64", -1, "string", -2, default="none", keys=(0, 2, 3), value_index_offset=2),
    ),
    ("file.first_lines", _from_file("x\ny\nz\n", "string", -2, "int64", -1, vocab_size=2)),
    ("file.too_short", _from_file("x\ny\nz\n", "string", -2, "int64", -1, vocab_size=5)),
    ("file.no_column", _from_file("x\ny\nz\n", "string", 0, "int64", 1)),
    ("file.no_number", _from_file("x\ty\n", "string", 0, "int64", 1)),
    ("file.bad_index", _from_file("x\n", "string", -3, "int64", 0)),
    ("file.lines_are_int64", _from_file("x\n", "string", 0, "int32", -1)),
    (
        "file.missing",
        "tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer('/none', tf.string, 0, tf.int64, 1), -1)",
    ),
    ("mutable", _mutable),
    ("mutable.vectors", _vectors),
    ("mutable.dtype", "tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1).insert(['a'], ['x'])"),
    ("mutable.length", "tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1).insert(['a'], [1, 2])"),
    ("mutable.keys", "tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1).remove(tf.constant([1]))"),
    ("mutable.float_keys", "tf.lookup.experimental.MutableHashTable(tf.float32, tf.int64, -1)"),
    ("mutable.in_a_function", _in_a_function),
    ("mutable.saved", _saved),
    ("static.in_a_dataset", _in_a_dataset),
    ("dataset", _of_a_dataset),
    ("dataset.text_without_default", f"{_TABLES}.table_from_dataset({_ONE}(('a', 'b')))"),
    ("dataset.no_pairs", f"{_TABLES}.DatasetInitializer({_ONE}(('a', 'b', 'c')))"),
    ("dataset.vectors", f"{_TABLES}.DatasetInitializer({_ONE}((['a'], ['b'])))"),
    ("dataset.buckets", f"{_TABLES}.index_table_from_dataset({_ONE}('a'), -1)"),
    ("dataset.size", f"{_TABLES}.index_table_from_dataset({_ONE}('a'), vocab_size=0)"),
    ("dataset.too_few", f"{_TABLES}.index_table_from_dataset({_ONE}('a'), vocab_size=2)"),
    ("dataset.keys", f"{_TABLES}.index_table_from_dataset(tf.data.Dataset.range(2), key_dtype=tf.float32)"),
    ("dense", _dense),
    ("dense.vectors", _dense_vectors),
    ("dense.empty_key", "tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -1).lookup([0])"),
    ("dense.deleted_key", "tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -1).insert([-1], [2])"),
    ("dense.equal_keys", "tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, 0)"),
    ("dense.buckets", "tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -1, initial_num_buckets=3)"),
    ("hash", f"tf.strings.to_hash_bucket({_STRINGS}, 2**62 + 12345)"),
    ("hash.fast", f"tf.strings.to_hash_bucket_fast({_STRINGS}, 2**62 + 12345)"),
    ("hash.strong", f"tf.strings.to_hash_bucket_strong({_STRINGS}, 2**62 + 12345, key=[-(2**63) + 5, 77])"),
    ("hash.ragged", "tf.strings.to_hash_bucket_fast(tf.ragged.constant([['a'], ['b', 'c']]), 7).to_list()"),
    ("hash.no_buckets", "tf.strings.to_hash_bucket_fast(['a'], 0)"),
    ("hash.numbers", "tf.strings.to_hash_bucket_fast([1], 3)"),
    ("hash.key", "tf.strings.to_hash_bucket_strong(['a'], 3, [1])"),
    ("hash.key_kind", "tf.strings.to_hash_bucket_strong(['a'], 3, 'ab')"),
    ("cross", _crossed("cross")),
    ("cross.separator", _crossed("cross", separator="*")),
    ("cross.hashed", _crossed("cross_hashed")),
    ("cross.buckets", _crossed("cross_hashed", num_buckets=100)),
    ("cross.key", _crossed("cross_hashed", num_buckets=100, hash_key=2**40)),
    ("cross.negative", _crossed("cross_hashed", num_buckets=-1)),
    ("cross.vector", "tf.sparse.cross([tf.constant(['a'])])"),
    ("cross.batches", "tf.sparse.cross([tf.constant([['a'], ['b']]), tf.constant([['a']])])"),
    ("cross.lists", "tf.sparse.cross([['a'], ['b']])"),
    ("wave", _wave),
    ("wave.no_file", "tf.audio.decode_wav(b'xxxx')"),
    ("wave.vector", "tf.audio.encode_wav([0.5], 44100)"),
    ("wave.rate", "tf.audio.encode_wav([[0.5]], -1)"),
]
