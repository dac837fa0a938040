"""Names that few programs use: samplers, critical sections, databases, options, parts of `tf.compat`."""

import os
import pathlib
import sqlite3
import tempfile
import threading
from contextlib import closing

_COUNTS = "unigrams=[3.0, 1.0, 4.0, 1.0, 5.0, 9.0]"


def _seeded(source):
    def program(tf):
        tf.random.set_seed(4)
        found = eval(source, {"tf": tf})
        again = eval(source, {"tf": tf})
        return [list(found), list(again)]

    return program


def _vocabulary(tf):
    path = os.path.join(tempfile.mkdtemp(), "words.csv")
    with open(path, "w") as file:
        file.write("a,5\nb,2\nc,1\n")
    tf.random.set_seed(2)
    sampler = tf.random.fixed_unigram_candidate_sampler
    return list(sampler([[1], [2]], 1, 5, False, 4, vocab_file=path, num_reserved_ids=1, distortion=0.75, seed=3))


def _database(query, types, driver="sqlite"):
    def program(tf):
        path = os.path.join(tempfile.mkdtemp(), "data.db")
        rows = [("a", 1, 1.5, b"xy", "12 apples"), ("b", 300, -2.75, None, "x"), (None, None, None, b"", "3.9")]
        # The connection's own `with` only ends the transaction.
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("CREATE TABLE t (name TEXT, n INTEGER, x REAL, b BLOB, mixed TEXT)")
            database.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
        kinds = tuple(getattr(tf, kind) for kind in types)
        data = tf.data.experimental.SqlDataset(driver, path, query, kinds)
        return [int(data.cardinality()), [list(row) for row in data]]

    return program


def _section(tf):
    section, total = tf.CriticalSection(), tf.Variable(0)

    def add():
        for _ in range(20):
            section.execute(lambda: total.assign(total + 1))

    threads = [threading.Thread(target=add) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [total, section.execute(lambda: {"a": tf.constant(1), "b": [total.assign_add(2)]})]


def _batches(tf):
    @tf.nondifferentiable_batch_function(1, 4, 1000, allowed_batch_sizes=[2, 4])
    def double(x, y):
        return x * 2.0 + y, {"y": y}

    return double(tf.constant([1.0, 2.0, 3.0]), tf.constant([[1.0], [2.0], [3.0]])[:, 0])


def _padded(tf):
    data = tf.data.Dataset.from_tensor_slices({"x": [[1, 2], [3, 4]], "s": ["a", "b"]})
    return list(data.apply(tf.data.experimental.pad_to_cardinality(4)))


def _examples(tf):
    folder = tempfile.mkdtemp()
    for name in ("a", "b"):
        with tf.io.TFRecordWriter(os.path.join(folder, name)) as writer:
            for n in range(3):
                feature = {
                    "x": tf.train.Feature(int64_list=tf.train.Int64List(value=[n] * n)),
                    "y": tf.train.Feature(float_list=tf.train.FloatList(value=[n / 2])),
                }
                writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    features = {"x": tf.io.VarLenFeature(tf.int64), "y": tf.io.FixedLenFeature([], tf.float32)}
    data = tf.data.experimental.make_batched_features_dataset(
        os.path.join(folder, "*"), 4, features, label_key="y", num_epochs=1, shuffle=False
    )
    return [[x["x"].values, x["x"].indices, y] for x, y in data]


def _views(tf):
    root = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.train.Checkpoint(c=tf.Variable([1.0, 2.0])))
    path = root.save(os.path.join(tempfile.mkdtemp(), "model"))
    view = tf.train.CheckpointView(path)
    other = tf.train.Checkpoint(a=tf.Variable(3.0), d=tf.Variable(4.0))
    matched, without_object, without_node = view.diff(other)
    return [
        view.children(0), view.descendants(), sorted(view.match(root)), len(tf.train.TrackableView(root).descendants()),
        sorted(matched), without_object, len(without_node),
    ]  # fmt: skip


def _records(tf):
    path = os.path.join(tempfile.mkdtemp(), "records")
    tf.data.experimental.TFRecordWriter(path, "GZIP").write(tf.data.Dataset.range(3).map(tf.strings.as_string))
    return list(tf.data.TFRecordDataset(path, "GZIP"))


def _variants(tf):
    variant = tf.data.experimental.to_variant(tf.data.Dataset.range(3))
    data = tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.int64))
    return [list(variant.shape), str(variant.dtype), list(data)]


def _iterators(tf):
    iterator = iter(tf.data.Dataset.range(3))
    spec = tf.data.IteratorSpec(tf.TensorSpec([], tf.int64))
    return [str(spec), spec.is_compatible_with(iterator), spec == tf.type_spec_from_value(iterator)]


_X = "tf.reshape(tf.range(60, dtype=tf.float32), [1, 5, 6, 2])"
_POOL = "lambda x, n, padding: tf.nn.max_pool(x, 2, 1, padding)"
_IMAGE = "tf.io.encode_jpeg(tf.zeros([10, 12, 3], tf.uint8))"

CASES = [
    ("fixed frequencies", _seeded(f"tf.random.fixed_unigram_candidate_sampler([[1, 3]], 2, 4, True, 6, {_COUNTS})")),
    ("fixed frequencies, repeated", _seeded(
        f"tf.nn.fixed_unigram_candidate_sampler([[1], [3]], 1, 7, False, 6, distortion=0.5, {_COUNTS}, seed=8)")),
    ("a vocabulary of frequencies", _vocabulary),
    ("learned frequencies", _seeded(
        "tf.random.learned_unigram_candidate_sampler([[1, 3], [3, 3]], 2, 5, False, 6, seed=8)[:1]")),
    ("frequencies: none", "tf.random.fixed_unigram_candidate_sampler([[1]], 1, 1, True, 6)"),
    ("frequencies: too few", "tf.random.fixed_unigram_candidate_sampler([[1]], 1, 1, True, 6, unigrams=[1.0])"),
    *(
        (f"space to batch {padding} {rates}", f"tf.nn.with_space_to_batch({_X}, {rates}, {padding!r}, {_POOL}, [2, 2])")
        for padding in ("SAME", "VALID") for rates in ([1, 1], [2, 1], [2, 3])
    ),
    ("space to batch without a window", f"tf.nn.with_space_to_batch({_X}, [2, 2], 'SAME', {_POOL})"),
    ("space to batch at rate 0", f"tf.nn.with_space_to_batch({_X}, [0, 2], 'VALID', {_POOL})"),
    ("columns of a database", _database("SELECT name, n, x, b FROM t", ["string", "int32", "float64", "string"])),
    ("numbers of a database", _database("SELECT n, n, mixed, mixed FROM t", ["uint8", "bool", "int64", "float64"])),
    ("numbers as text", _database("SELECT n FROM t", ["string"])),
    ("a database without a column", _database("SELECT n, x FROM t", ["int32"])),
    ("another database", _database("SELECT n FROM t", ["int32"], "mysql")),
    ("a column of float32", _database("SELECT x FROM t", ["float32"])),
    ("a critical section", _section),
    ("a nested section", "(lambda s: s.execute(lambda: s.execute(lambda: 1.0)))(tf.CriticalSection())"),
    ("batched calls", _batches),
    ("padded datasets", _padded),
    ("padded: too many", "tf.data.Dataset.range(5).apply(tf.data.experimental.pad_to_cardinality(3))"),
    ("padded: no dictionary", "tf.data.Dataset.range(2).apply(tf.data.experimental.pad_to_cardinality(3))"),
    ("files of examples", _examples),
    ("views of checkpoints", _views),
    ("datasets of records", _records),
    ("datasets as tensors", _variants),
    ("specs of iterators", _iterators),
    ("an option of another type", "setattr(tf.data.experimental.OptimizationOptions(), 'map_fusion', 3)"),
    ("no such option", "setattr(tf.data.experimental.AutotuneOptions(), 'map_fusion', True)"),
    ("options", "[tf.data.Options().autotune.enabled, tf.data.experimental.AutotuneAlgorithm.HILL_CLIMB.value]"),
    ("part of a JPEG file", f"tf.io.decode_and_crop_jpeg({_IMAGE}, [1, 2, 3, 4])"),
    ("no part of a JPEG file", f"tf.io.decode_and_crop_jpeg({_IMAGE}, [0, 0, 11, 3])"),
    ("the shape of a JPEG file", f"tf.io.extract_jpeg_shape({_IMAGE}, tf.int64)"),
    ("the shape of no JPEG file", "tf.io.extract_jpeg_shape(b'abc')"),
    ("WebP with one channel", "tf.io.decode_webp(b'abc', 1)"),
    ("dimensions", "[tf.compat.dimension_at_index(tf.TensorShape(s), 0).value for s in ([2, None], None)]"),
    ("paths", lambda tf: [tf.compat.path_to_str(p) for p in (pathlib.PurePosixPath("/a/b"), "x", 3)]),
    ("types", "[str(t) for t in (*tf.compat.bytes_or_text_types, *tf.compat.real_types, *tf.compat.complex_types)]"),
    ("horizons", "[tf.compat.forward_compatible(*day) for day in ((2019, 2, 3), (2026, 1, 15), (2026, 1, 16))]"),
    ("fingerprints", "repr(tf.saved_model.experimental.Fingerprint.from_proto(bytes.fromhex("
        "'08b5878dfbeddf90985310b384aaedf9d7d29a870118b7e88ad2e697e1857820f1e8cff3ac99c8ac0928d99de79e84cd9cfec801')))"),
    ("constants", "tf.guarantee_const([1.0, 2.0])"),
    ("pinned memory", "tf.check_pinned([1.0])"),
]  # fmt: skip
