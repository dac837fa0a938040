"""Input and output of programs: files, images, text and summaries."""

import ctypes
import errno
import gc
import io
import os
import random
import re
import subprocess
import sys

import numpy as np
import pytest

import gradtape as tf
from gradtape.state import archive, file_systems
from gradtape.state.file_patterns import compile_pattern

PICTURE = (np.add.outer(np.arange(8), np.arange(6))[:, :, None] * 10 + np.array([0, 40, 80])).astype(np.uint8)


def test_files_are_read_and_written_at_every_call_of_a_function(tmp_path):
    @tf.function
    def copied(source, target):
        tf.io.write_file(target, tf.strings.upper(tf.io.read_file(source)))
        return tf.strings.length(tf.io.read_file(target))

    (tmp_path / "a").write_bytes(b"one\0two\0")
    target = str(tmp_path / "new" / "b")
    assert int(copied(str(tmp_path / "a"), target)) == 8
    (tmp_path / "a").write_bytes(b"three")
    assert int(copied(str(tmp_path / "a"), target)) == 5
    assert tf.io.gfile.GFile(target).read() == "THREE"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda folder: tf.io.read_file(f"{folder}/none"), tf.errors.NotFoundError),
        (lambda folder: tf.io.gfile.listdir(f"{folder}/none"), tf.errors.NotFoundError),
        (lambda folder: tf.io.gfile.remove(f"{folder}/none"), tf.errors.NotFoundError),
        (lambda folder: tf.io.gfile.copy(f"{folder}/file", f"{folder}/file"), tf.errors.AlreadyExistsError),
        (lambda folder: tf.io.gfile.rename(f"{folder}/file", f"{folder}/file"), tf.errors.AlreadyExistsError),
        (lambda folder: tf.io.gfile.GFile(f"{folder}/file", "q"), tf.errors.InvalidArgumentError),
        (lambda folder: tf.io.gfile.GFile(f"{folder}/file", "r").write("x"), tf.errors.PermissionDeniedError),
        (lambda folder: tf.io.gfile.GFile(f"{folder}/file", "w").read(), tf.errors.PermissionDeniedError),
        (lambda folder: tf.io.read_file([f"{folder}/file"]), tf.errors.InvalidArgumentError),
    ],
)
def test_files_fail_with_tensorflows_errors(call, error, tmp_path):
    (tmp_path / "file").write_text("text")
    with pytest.raises(error):
        call(tmp_path)


def test_lines_of_a_file(tmp_path):
    path = tmp_path / "lines"
    with tf.io.gfile.GFile(path, "w") as file:
        file.write("one\ntwo\n")
    assert list(tf.io.gfile.GFile(path)) == ["one\n", "two\n"]
    assert tf.io.gfile.GFile(path, "rb").readline() == b"one\n" and tf.io.gfile.stat(path).length == 8
    assert list(tf.io.gfile.walk(tmp_path)) == [(str(tmp_path), [], ["lines"])]


@pytest.fixture
def bucket():
    """The address of an empty bucket in memory."""
    memory = pytest.importorskip("fsspec").filesystem("memory")
    yield "memory://bucket/folder"
    if memory.exists("bucket"):
        memory.rm("bucket", recursive=True)


def test_a_path_in_a_bucket_is_no_chain_of_file_systems(tmp_path):
    (tmp_path / "secret").write_text("x")
    for path in (f"memory://a::file://{tmp_path}/secret", "gs://a::http://b"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="no '::'"):
            tf.io.gfile.GFile(path).read()


def test_files_of_buckets(bucket, tmp_path):
    files = tf.io.gfile
    tf.io.write_file(f"{bucket}/a.txt", "one\r\ntwo")
    tf.io.write_file(f"{bucket}/sub/b.txt", "")
    with files.GFile(f"{bucket}/a.txt", "a") as file:
        file.write("\nthree")
    assert files.GFile(f"{bucket}/a.txt").readlines() == ["one\n", "two\n", "three"]
    assert files.glob([f"{bucket}/*", f"{bucket}/*/*.txt"]) == [f"{bucket}/{x}" for x in ("a.txt", "sub", "sub/b.txt")]
    assert list(files.walk(bucket)) == [(bucket, ["sub"], ["a.txt"]), (f"{bucket}/sub", [], ["b.txt"])]
    stats = files.stat(f"{bucket}/a.txt")
    assert stats.length == 14 and stats.mtime_nsec > 0 and files.stat(bucket).is_directory
    files.copy(f"{bucket}/a.txt", str(tmp_path / "a"))
    files.copy(str(tmp_path / "a"), f"{bucket}/c.txt")
    files.rename(f"{bucket}/c.txt", f"{bucket}/d.txt")
    assert tf.io.read_file(f"{bucket}/d.txt").numpy() == b"one\r\ntwo\nthree"
    files.remove(f"{bucket}/d.txt")
    assert files.listdir(bucket) == ["a.txt", "sub"] and files.listdir("ram" + bucket[6:]) == ["a.txt", "sub"]
    for error, call in (
        (tf.errors.NotFoundError, lambda: files.GFile(f"{bucket}/d.txt").read()),
        (tf.errors.NotFoundError, lambda: files.stat(f"{bucket}/d.txt")),
        (tf.errors.NotFoundError, lambda: files.listdir(f"{bucket}/a.txt")),
        (tf.errors.FailedPreconditionError, lambda: files.GFile(f"{bucket}/sub", "w").write("x")),
        (tf.errors.FailedPreconditionError, lambda: files.makedirs(f"{bucket}/a.txt")),
        (tf.errors.OutOfRangeError, lambda: files.GFile(f"{bucket}/a.txt").seek(15)),
        (tf.errors.UnimplementedError, lambda: files.rename(f"{bucket}/a.txt", str(tmp_path / "b"))),
    ):
        with pytest.raises(error):
            call()
    files.rmtree(bucket)
    assert not files.exists(bucket)


def test_datasets_of_buckets(bucket):
    with tf.io.TFRecordWriter(f"{bucket}/records", "GZIP") as writer:
        writer.write(b"first")
    tf.io.write_file(f"{bucket}/lines", "one\ntwo")
    assert list(tf.data.TFRecordDataset(f"{bucket}/records", "GZIP").as_numpy_iterator()) == [b"first"]
    assert list(tf.data.TextLineDataset(f"{bucket}/lines").as_numpy_iterator()) == [b"one", b"two"]
    names = tf.data.Dataset.list_files(f"{bucket}/*", shuffle=False).as_numpy_iterator()
    assert list(names) == [f"{bucket}/lines".encode(), f"{bucket}/records".encode()]
    data = tf.data.Dataset.range(3)
    data.save(f"{bucket}/saved", "GZIP")
    for again in (
        tf.data.Dataset.load(f"{bucket}/saved", compression="GZIP"), data.snapshot(f"{bucket}/snapshot"),
        data.cache(f"{bucket}/cache"),
    ):  # fmt: skip
        assert [list(again.as_numpy_iterator()) for _ in range(2)] == [[0, 1, 2]] * 2
    assert tf.io.gfile.exists(f"{bucket}/snapshot/snapshot.metadata") and tf.io.gfile.exists(f"{bucket}/cache.npz")


def test_a_failed_write_leaves_the_file_of_a_bucket(bucket):
    tf.data.Dataset.range(2).cache(f"{bucket}/cache").reduce(0, lambda state, _: state)
    with pytest.raises(ZeroDivisionError), archive.replacing(f"{bucket}/cache.npz") as file:
        file.write(bytes([1 // 0]))
    assert list(tf.data.Dataset.range(9).cache(f"{bucket}/cache").as_numpy_iterator()) == [0, 1]


def test_a_scheme_does_not_lead_out_of_a_folder(tmp_path, monkeypatch):
    """Functions of SavedModels read files below their folder only, and a path with a scheme looks relative."""
    monkeypatch.chdir(tmp_path)
    inside = {"x": True, f"file://{tmp_path}/x": True, "../x": False, "/etc/passwd": False, "file:///etc/x": False}
    inside |= {f"file://{tmp_path}/../x": False, "memory://x": False, "s3://x": False, "nosuch://x": False}
    inside |= {"x\0": False}
    assert {path: archive.is_inside(path, str(tmp_path)) for path in inside} == inside


@pytest.mark.parametrize(("scheme", "packages"), [("gs", "fsspec>=2024.6' gcsfs"), ("s3", "fsspec>=2024.6' s3fs")])
def test_buckets_need_a_package(scheme, packages, monkeypatch):
    monkeypatch.setattr(file_systems, "is_installed", lambda package: False)
    for call in (tf.io.gfile.exists, tf.io.gfile.isdir, tf.io.gfile.glob, lambda path: tf.io.gfile.GFile(path).read()):
        with pytest.raises(ImportError, match=re.escape(f"pip install '{packages} (file: '{scheme}://bucket/x')")):
            call(f"{scheme}://bucket/x")
    assert tf.io.gfile.get_registered_schemes() == ["", "file"]


@pytest.mark.parametrize("write", [tf.data.Dataset.save, lambda data, path: list(data.snapshot(path))])
@pytest.mark.parametrize("count", [3, 100_000])
def test_a_full_disk_under_a_dataset(write, count, tmp_path, monkeypatch):
    class Full(io.RawIOBase):
        def write(self, data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    local_open = file_systems._LocalFiles.open

    def full_open(self, path, mode):
        return Full() if path.endswith(".snapshot") else local_open(self, path, mode)

    monkeypatch.setattr(file_systems._LocalFiles, "open", full_open)
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"0000\.snapshot; No space left on device"):
        write(tf.data.Dataset.range(count), str(tmp_path / "saved"))
    assert not (tmp_path / "saved" / "snapshot.metadata").exists()


def test_patterns_match_as_in_c():
    """Random patterns and names of the characters that mean something, beside the system's `fnmatch`."""
    try:
        fnmatch = ctypes.CDLL(None).fnmatch
    except (OSError, AttributeError, TypeError):
        pytest.skip("the system has no fnmatch")
    if not sys.platform.startswith("linux"):
        pytest.skip("what the standard leaves open is decided as in glibc")
    draw = random.Random(0)
    for _ in range(20_000):
        pattern = "".join(draw.choices("ab-]![^*?\\[/", k=draw.randint(1, 7)))
        name = "".join(draw.choices("ab-]![^\\/", k=draw.randint(1, 4)))
        same = bool(compile_pattern(pattern).fullmatch(name)) == (not fnmatch(pattern.encode(), name.encode(), 1))
        assert same, (pattern, name)


@pytest.mark.parametrize(("channels", "shape"), [(0, (8, 6, 3)), (1, (8, 6, 1)), (3, (8, 6, 3)), (4, (8, 6, 4))])
def test_images_without_loss_come_back(channels, shape):
    pytest.importorskip("PIL")
    decoded = tf.io.decode_png(tf.io.encode_png(PICTURE), channels=channels).numpy()
    assert decoded.shape == shape
    if shape[2] >= 3:
        np.testing.assert_array_equal(decoded[:, :, :3], PICTURE)


def test_images_of_a_dataset():
    pytest.importorskip("PIL")
    files = [tf.io.encode_jpeg(PICTURE).numpy(), tf.io.encode_png(PICTURE).numpy()]
    dataset = tf.data.Dataset.from_tensor_slices(files).map(lambda x: tf.io.decode_image(x, dtype=tf.float32))
    jpeg, png = (x.numpy() for x in dataset)
    np.testing.assert_allclose(png, PICTURE / 255, rtol=1e-6)
    np.testing.assert_allclose(jpeg, PICTURE / 255, atol=8 / 255)
    assert bool(tf.io.is_jpeg(files[0])) and not bool(tf.io.is_jpeg(files[1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unknown image file format"):
        tf.io.decode_image(b"nothing")
    wide = tf.io.encode_png(np.full((2, 2, 1), 51400, np.uint16))
    assert tf.io.decode_png(wide, dtype=tf.uint16).numpy().max() == 51400
    assert tf.io.decode_png(wide).numpy().max() == 200


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"\w", "aä", b"-\xc3\xa4"),  # ASCII letters only
        (r"a$", "a\na", b"a\n-"),
        (r"a$", "a\n", b"a\n"),  # the end is the very end
        (r"b*", "abc", b"-a-c-"),  # no empty match directly after a match
        (r"[[:alpha:]_]", "a_1", b"--1"),
        (r"[]x]", "]x[", b"--["),
        (r"[[]", "[", b"-"),
        (r"(?i)A", "a", b"-"),
        (r"\$", "$", b"-"),
    ],
)
def test_regular_expressions_mean_what_they_mean_in_re2(pattern, text, expected):
    assert tf.strings.regex_replace(text, pattern, "-").numpy() == expected


def test_parts_of_several_strings_are_ragged():
    assert tf.strings.split(["a b", "c"]).to_list() == [[b"a", b"b"], [b"c"]]


def test_summaries_are_written_by_functions_too(tmp_path):
    loader = pytest.importorskip("tensorboardX.event_file_writer")
    assert loader
    writer = tf.summary.create_file_writer(str(tmp_path))
    step = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def train(x):
        with tf.name_scope("train"):
            return tf.summary.scalar("loss", x * 2, step=step)

    with writer.as_default():
        for value in (0.5, 1.5):
            assert bool(train(tf.constant(value)))
            step.assign_add(1)
        with tf.summary.record_if(lambda: step < 2):
            assert not bool(tf.summary.scalar("late", 1.0, step=step))
        with pytest.raises(ValueError, match="No step set"):
            tf.summary.scalar("loss", 1.0)
        with pytest.raises(ValueError, match="scalar"):
            tf.summary.scalar("loss", [1.0], step=1)
    writer.close()
    assert events(tmp_path) == [("train/loss", 0, 1.0), ("train/loss", 1, 3.0)]
    with pytest.raises(RuntimeError, match="closed"), writer.as_default():
        pass


def test_events_are_in_the_file_after_a_flush_and_after_the_writer(tmp_path):
    pytest.importorskip("tensorboardX")
    writer = tf.summary.create_file_writer(str(tmp_path), max_queue=1000)
    writer.set_as_default()
    for step in range(30):
        tf.summary.scalar("loss", 0.5, step=step)
    assert events(tmp_path) == []
    tf.summary.flush()
    assert len(events(tmp_path)) == 30
    tf.summary.scalar("loss", 0.5, step=30)
    tf.summary.create_noop_writer().set_as_default()
    del writer
    gc.collect()
    assert len(events(tmp_path)) == 31


def events(folder):
    """Returns the scalars in the event file of a folder, in TensorFlow 2's format for the scalars plugin."""
    found = []
    for step, value in summaries(folder):
        assert value.WhichOneof("value") == "tensor"
        assert value.metadata.plugin_data.plugin_name == "scalars"
        number = tf.io.parse_tensor(value.tensor.SerializeToString(), tf.float32)
        found.append((value.tag, step, float(number)))
    return found


# What TensorFlow 2.21 writes for these summaries: serialized metadata and tensors.
RECORDED = {
    "scalar": (b"\n\t\n\x07scalars\x1a\x08a *loss*", b'\x08\x01\x12\x00"\x04\x00\x00\x80>'),
    "histogram": (
        b"\n\x0c\n\nhistograms\x1a\x04hist",
        b'\x08\x02\x12\x08\x12\x02\x08\x03\x12\x02\x08\x03"H\x00\x00\x00\x00\x00\x00\xf0?VUUUUU\xfd?\x00\x00\x00\x00'
        b"\x00\x00\xf0?VUUUUU\xfd?VUUUUU\x05@\x00\x00\x00\x00\x00\x00\xf0?VUUUUU\x05@\x00\x00\x00\x00\x00\x00\x0c@"
        b"\x00\x00\x00\x00\x00\x00\x00@",
    ),
    "text": (
        b"\n\x06\n\x04text\x1a\x01x",
        b"\x08\x07\x12\x08\x12\x02\x08\x02\x12\x02\x08\x02B\x01aB\x01bB\x01cB\x01d",
    ),
    "audio": (
        b"\n\x0b\n\x05audio\x12\x02\x10\x0b\x1a\x03snd",
        b"\x08\x07\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02B0RIFF(\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"
        b"@\x1f\x00\x00\x80>\x00\x00\x02\x00\x10\x00data\x04\x00\x00\x00\x00\x80\x00@B\x00",
    ),
}


def test_summaries_are_tensorflows_byte_by_byte(tmp_path):
    pytest.importorskip("tensorboardX")
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(step=2):
        tf.summary.scalar("scalar", 0.25, description="a *loss*")
        tf.summary.histogram("histogram", [1.0, 2.0, 3.0, 3.5], buckets=3, description="hist")
        tf.summary.text("text", [["a", "b"], ["c", "d"]], description="x")
        tf.summary.audio("audio", [[[-2.0], [0.5]], [[0.0], [0.0]]], 8000, max_outputs=1, description="snd")
        with pytest.raises(ValueError, match="Unknown encoding: 'mp3'"):
            tf.summary.audio("audio", [[[0.0]]], 8000, encoding="mp3")
        with pytest.raises(ValueError, match="rank 3"):
            tf.summary.audio("audio", [[0.0]], 8000)
    writer.close()
    found = {v.tag: (v.metadata.SerializeToString(), v.tensor.SerializeToString()) for _, v in summaries(tmp_path)}
    assert found == RECORDED


def summaries(folder):
    """Returns the values in the event file of a folder."""
    (file,) = folder.iterdir()
    return summaries_in(file)


def summaries_in(file):
    """Returns the values in an event file; a record is a length, its checksum, the data, its checksum."""
    from tensorboardX.proto.event_pb2 import Event

    data, found = file.read_bytes(), []
    while data:
        size = int.from_bytes(data[:8], "little")
        event = Event.FromString(data[12 : 12 + size])
        found += [(event.step, value) for value in event.summary.value]
        data = data[16 + size :]
    return found


def test_summaries_of_tensors_are_tensorflows(tmp_path):
    pytest.importorskip("tensorboardX")
    writer = tf.summary.create_file_writer(str(tmp_path))
    images = np.linspace(0, 1, 5 * 2 * 3 * 3, dtype="float32").reshape(5, 2, 3, 3)
    grads = tf.function(lambda x: tf.summary.histogram("h", x * 1.0, step=1, buckets=4, description="of x"))
    with writer.as_default():
        assert bool(grads(tf.constant([1.0, 2.0, 2.5, 9.0])))
        tf.summary.histogram("same", [3.0, 3.0, 3.0], step=1, buckets=3)
        tf.summary.histogram("none", tf.zeros([0]), step=1, buckets=3)
        with tf.name_scope("made"):
            tf.summary.image("images", images, step=tf.constant(2, tf.int64), max_outputs=2)
        tf.summary.text("note", tf.constant([["a", "b"]]), step=1)
        with pytest.raises(ValueError, match="rank 4"):
            tf.summary.image("flat", np.zeros((2, 3)), step=1)
        with pytest.raises(TypeError, match=r"tf\.string"):
            tf.summary.text("number", 3, step=1)
        with pytest.raises(ValueError, match="No step set"):
            tf.summary.histogram("h", [1.0])
    writer.close()
    found = [(step, value.tag, value.metadata.plugin_data.plugin_name) for step, value in summaries(tmp_path)]
    assert found == [
        (1, "h", "histograms"), (1, "same", "histograms"), (1, "none", "histograms"), (2, "made/images", "images"),
        (1, "note", "text"),
    ]  # fmt: skip
    first, same, none, pictures, note = (value for _, value in summaries(tmp_path))
    assert first.metadata.summary_description == "of x"
    rows = [np.frombuffer(value.tensor.tensor_content).reshape(-1, 3).tolist() for value in (first, same, none)]
    assert rows[0] == [[1.0, 3.0, 3.0], [3.0, 5.0, 0.0], [5.0, 7.0, 0.0], [7.0, 9.0, 1.0]]
    assert rows[1] == [[3.0, 3.0, 0.0], [3.0, 3.0, 0.0], [3.0, 3.0, 3.0]] and rows[2] == [[0.0] * 3] * 3
    width, height, *files = pictures.tensor.string_val
    assert (width, height, len(files)) == (b"3", b"2", 2)
    assert tf.io.decode_png(files[0]).numpy().ravel()[:5].tolist() == [0, 2, 5, 8, 11]
    assert [d.size for d in note.tensor.tensor_shape.dim] == [1, 2] and list(note.tensor.string_val) == [b"a", b"b"]


def test_without_tensorboardx_the_error_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(ImportError, match=r"pip install 'tensorboardX>=2.6.2.2'"):
        tf.summary.create_file_writer(str(tmp_path))


def test_promotion_is_numpys():
    tnp = tf.experimental.numpy
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tnp.sum(tnp.multiply(tnp.sin(x), 2) + tnp.array([1, 2], tf.float32))
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), 2 * np.cos([1.0, 2.0]), rtol=1e-6)
    assert y.dtype is tf.float32 and tnp.add(x, np.float64(1)).dtype is tf.float64
    assert tnp.add(tf.constant([1]), tf.constant([1.5])).dtype is tf.float64


def test_the_names_of_tensorflow_1(tmp_path):
    v1 = tf.compat.v1.gfile
    v1.MakeDirs(tmp_path / "a" / "b")
    with v1.Open(str(tmp_path / "a" / "x.txt"), "w") as file:
        file.write("text")
    v1.Copy(tmp_path / "a" / "x.txt", tmp_path / "a" / "y.txt")
    v1.Rename(tmp_path / "a" / "y.txt", tmp_path / "a" / "b" / "z.txt")
    assert v1.Glob(f"{tmp_path}/a/*.txt") == [f"{tmp_path}/a/x.txt"]
    assert list(v1.Walk(tmp_path / "a")) == [(f"{tmp_path}/a", ["b"], ["x.txt"]), (f"{tmp_path}/a/b", [], ["z.txt"])]
    assert v1.Stat(tmp_path / "a" / "x.txt").length == 4
    v1.Remove(tmp_path / "a" / "x.txt")
    assert v1.ListDirectory(tmp_path / "a") == ["b"] and v1.IsDirectory(tmp_path / "a" / "b")
    v1.DeleteRecursively(tmp_path / "a")
    assert not v1.Exists(tmp_path / "a")


WRITES_EVENTS = """
import os, sys, gradtape as tf
writers = [tf.summary.create_file_writer(sys.argv[1]) for _ in range(3)]
writers.append(tf.summary.create_file_writer(sys.argv[1], filename_suffix=".own"))
for i, writer in enumerate(writers):
    with writer.as_default():
        tf.summary.scalar("x", float(i), step=i)
if hasattr(os, "fork"):
    if child := os.fork():
        os.waitpid(child, 0)
    else:
        tf.compat.v1.summary.FileWriter(sys.argv[1]).close()
        os._exit(0)
for writer in writers:
    writer.close()
"""


def test_event_files_of_one_second_are_several(tmp_path):
    """Names are TensorFlow's: time, host, process, counter and suffix; a forked process has another number."""
    pytest.importorskip("tensorboardX")
    subprocess.run([sys.executable, "-c", WRITES_EVENTS, str(tmp_path)], check=True, timeout=120)
    names = [file.name.split(".") for file in tmp_path.iterdir()]
    assert len(names) == 4 + hasattr(os, "fork")
    assert all(name[:3] == ["events", "out", "tfevents"] and len(name[3]) == 10 for name in names)
    assert sorted(name[-1] for name in names if name[-1] in ("v2", "own")) == ["own", "v2", "v2", "v2"]
    steps = sorted(step for file in tmp_path.iterdir() for step, _ in summaries_in(file))
    assert steps == [0, 1, 2, 3]
