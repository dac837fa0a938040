"""What TensorFlow 2.22 computes where 2.21 fails, gives NaN or disregards an argument: recorded under 2.22."""

import gc
import os
import tempfile
from pathlib import Path

TENSORFLOW = "2.22"

_EXPRESSIONS = r"""
tf.clip_by_norm([3.0, 4.0], np.inf)
tf.clip_by_norm([3.0, 4.0], tf.constant(np.inf))
tf.clip_by_norm([3.0, 4.0], 1e300)
tf.clip_by_norm([0.0, np.inf], np.inf)
grad:lambda x: tf.clip_by_norm(x, np.inf) @ [3.0, 4.0]
grad:lambda x: tf.clip_by_norm(x, tf.constant(np.inf, tf.float64)) @ [3.0, 4.0]
tf.clip_by_global_norm([tf.constant([3.0, 4.0])], np.inf)
tf.clip_by_global_norm([tf.constant([3.0, 4.0])], tf.constant(np.inf))
tf.clip_by_global_norm([tf.constant([3.0, np.inf])], np.inf)
tf.clip_by_global_norm([tf.constant([3.0, 4.0])], 1e300)
tf.clip_by_global_norm([tf.constant([0.0])], np.inf)
grad:lambda x: tf.norm(x) @ [0.0, 0.0]
grad:lambda x: tf.norm(x, axis=1) @ [[0.0, 0.0], [3.0, 4.0]]
grad:lambda x: tf.norm(x) @ 0.0
grad:lambda x: tf.math.reduce_euclidean_norm(x) @ [0.0, 0.0]
grad:lambda x: tf.math.reduce_euclidean_norm(x, 1) @ [[0.0, 0.0], [3.0, 4.0]]
tf.linalg.logdet([[1.0, 2.0], [2.0, 1.0]])
tf.linalg.logdet([[-2.0, 0.0], [0.0, 3.0]])
tf.linalg.logdet([[1.0, 2.0], [2.0, 4.0]])
grad:lambda a: tf.linalg.logdet(a) @ [[2.0, 1.0], [0.5, -3.0]]
tf.while_loop(lambda x: tf.reduce_sum(x) < 10, lambda x: x + 1, [tf.constant([1.0, 2.0])])
tf.while_loop(lambda x: x < 3, lambda x: x + 1, (tf.constant(0),))
tf.experimental.numpy.hypot([3e30, np.inf, np.nan, 0.0], [4e30, np.nan, np.inf, 0.0])
tf.experimental.numpy.hypot(np.float32([3e30]), np.float32([4e30]))
tf.experimental.numpy.signbit([-0.0, 0.0, -1.0, np.nan])
tf.experimental.numpy.signbit(np.float32([-0.0, -np.nan]))
tf.experimental.numpy.isposinf([1j])
tf.experimental.numpy.isneginf([1j])
tf.experimental.numpy.linspace(np.float32(0), np.float32(1), 3)
tf.experimental.numpy.linspace(0, 1, 3, dtype=np.float32)
tf.experimental.numpy.logspace(0, 2, 3, dtype=int)
tf.experimental.numpy.logspace(0, 2, 3, dtype=np.float32)
tf.experimental.numpy.compress([True, False, True, True], [1, 2])
"""


def _closed_files(tf):
    """A file that is closed exists, and one that is dropped does not."""
    folder = Path(tempfile.mkdtemp())
    files = {mode: tf.io.gfile.GFile(str(folder / mode), mode) for mode in ("w", "a", "w+", "a+")}
    before = [file.closed for file in files.values()]
    for file in files.values():
        file.close()
    tf.io.gfile.GFile(str(folder / "dropped"), "w")
    gc.collect()
    return [before, [file.closed for file in files.values()], sorted(os.listdir(folder))]


def _contents(tf):
    """What is in an existing file after it is opened and closed, and after it is closed twice or used again."""
    path = Path(tempfile.mkdtemp()) / "file"
    contents = []
    for mode in ("a", "a+", "r+", "r", "w"):
        path.write_text("abc")
        tf.io.gfile.GFile(str(path), mode).close()
        contents.append(path.read_text())
    file = tf.io.gfile.GFile(str(path), "w")
    file.write("one")
    file.close()
    file.close()
    contents.append(path.read_text())
    file.write("two")
    file.close()
    return [*contents, path.read_text(), file.closed]


def _closed_in_no_folder(tf):
    tf.io.gfile.GFile(str(Path(tempfile.mkdtemp()) / "no" / "file"), "w").close()


def _descriptors(tf):
    """The errors of `fileno`: of a missing file, of a closed one, of one that is open, of a path with a scheme."""
    path = str(Path(tempfile.mkdtemp()) / "file")
    closed, opened = (tf.io.gfile.GFile(path, "w") for _ in range(2))
    closed.close()
    opened.write("x")
    errors = []
    for file in (tf.io.gfile.GFile("none"), closed, opened, tf.io.gfile.GFile("gs://bucket/file")):
        try:
            file.fileno()
        except Exception as error:
            errors.append(f"{type(error).__module__}.{type(error).__name__}")
    opened.close()
    return errors


CASES = [(source, source) for source in _EXPRESSIONS.strip().split("\n")]
CASES += [
    ("closed files", _closed_files),
    ("contents of closed files", _contents),
    ("closed in no folder", _closed_in_no_folder),
    ("descriptors", _descriptors),
]
