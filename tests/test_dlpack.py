"""DLPack: every layout and dtype goes to NumPy, PyTorch and JAX and back, and no import can change a tensor."""

import importlib.util
import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from case_groups import check_cases

import gradtape as tf
from gradtape.core.dtypes import of_numpy
from gradtape.core.tensor import wrap

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128", "bfloat16", "float8_e4m3fn", "float8_e5m2",
)  # fmt: skip


def base(dtype):
    """Returns a matrix of different numbers."""
    x = (np.arange(12) % 7).reshape(3, 4)
    return x.astype(getattr(ml_dtypes, dtype) if "bfloat" in dtype or "float8" in dtype else dtype)


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def misaligned(x):
    memory = np.zeros(x.nbytes + 1, np.uint8)[1:]
    memory[:] = np.frombuffer(x.tobytes(), np.uint8)
    return memory.view(x.dtype).reshape(x.shape)


LAYOUTS = {
    "contiguous": lambda x: x,
    "reversed": lambda x: x[::-1],
    "reversed in both": lambda x: x[::-1, ::-1],
    "reversed row": lambda x: x[:1, ::-1],
    "one row reversed": lambda x: x[:1][::-1],
    "transposed": lambda x: x.T,
    "a permutation": lambda x: x.reshape(3, 2, 2).transpose(1, 0, 2),
    "gaps": lambda x: x[:, ::2],
    "an offset": lambda x: x[1:, 1:],
    "a column": lambda x: x[:, 1],
    "repeated": lambda x: np.broadcast_to(x[:, :1], (3, 4)),
    "a repeated number": lambda x: np.broadcast_to(x[0, 1], (2, 3)),
    "empty": lambda x: x[:0],
    "empty and reversed": lambda x: x[:0][::-1],
    "no columns": lambda x: x[:, 4:],
    "0-d": lambda x: x[1, 1],
    "0-d array": lambda x: np.asarray(x[1, 1]),
    "read-only": read_only,
    "misaligned": misaligned,
}


def tensor(dtype, layout):
    """Returns the tensor whose array has this layout."""
    array = LAYOUTS[layout](base(dtype))
    return wrap(array, of_numpy(array.dtype))


def check_same(x, y):
    assert (y.shape, y.dtype) == (np.shape(x), np.asarray(x).dtype)
    assert y.tobytes() == np.asarray(x).tobytes()


def to_numpy(dtype, layout):
    x = tensor(dtype, layout)
    y = np.from_dlpack(x)
    check_same(x.array, y)
    check_same(x.array, np.asarray(tf.constant(y).numpy()))


def to_itself(dtype, layout):
    x = tensor(dtype, layout)
    back = tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(x))
    assert back.dtype is x.dtype
    check_same(x.array, np.asarray(back.numpy()))


def to_torch(dtype, layout):
    import torch

    x = tensor(dtype, layout)
    for y in (torch.from_dlpack(x), torch.utils.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(x))):
        assert str(y.dtype) == f"torch.{dtype}"
        back = tf.experimental.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(y))
        check_same(x.array, np.asarray(back.numpy()))


def to_jax(dtype, layout):
    import jax

    x = tensor(dtype, layout)
    with jax.enable_x64(True):
        y = jax.dlpack.from_dlpack(x)
        assert y.dtype == np.asarray(x.array).dtype
        back = tf.experimental.dlpack.from_dlpack(y.__dlpack__())
    check_same(x.array, np.asarray(back.numpy()))


def check_library(check):
    """Runs the cases of a library; with the name of the check as its argument, this file does so as a program."""
    narrow = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
    dtypes = [dtype for dtype in DTYPES if check is not to_numpy or dtype not in narrow]
    check_cases(check, {f"{dtype}, {layout}": (dtype, layout) for dtype in dtypes for layout in LAYOUTS})


@pytest.mark.parametrize("check", [to_numpy, to_itself], ids=lambda check: check.__name__)
def test_arrays(check):
    check_library(check)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_other_libraries(library):
    """In a process of its own: a library may end it."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    found = subprocess.run([sys.executable, __file__, f"to_{library}"], capture_output=True, text=True, env=environment)
    assert found.returncode == 0, found.stderr[-3000:]


def test_numpy_says_that_it_has_no_bfloat16():
    with pytest.raises((BufferError, RuntimeError)):
        np.from_dlpack(tensor("bfloat16", "contiguous"))


needs_copy_option = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="np.from_dlpack has no options in NumPy 2.0"
)


@needs_copy_option
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "an offset", "gaps"])
def test_memory_is_shared_where_that_is_safe(layout):
    x = tensor("float32", layout)
    assert np.shares_memory(np.from_dlpack(x), x.array)
    assert np.shares_memory(np.from_dlpack(x, copy=False), x.array)
    assert not np.shares_memory(np.from_dlpack(x, copy=True), x.array)


@needs_copy_option
@pytest.mark.parametrize("layout", ["read-only", "repeated", "reversed"])
def test_memory_that_must_not_be_written_is_copied(layout):
    """PyTorch would write to it, although the capsule says that it is read-only."""
    x = tensor("float32", layout)
    before = x.array.copy()
    if importlib.util.find_spec("torch") is not None:
        import torch

        torch.from_dlpack(x).zero_()
        torch.utils.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(x)).zero_()
    assert not np.shares_memory(np.from_dlpack(x), x.array)
    assert np.array_equal(x.array, before)
    with pytest.raises(BufferError, match="allow a copy"):
        np.from_dlpack(x, copy=False)


def test_views_that_ops_give():
    x = tf.reshape(tf.range(6.0), [2, 3])
    for y in (x[::-1], tf.reverse(x, [0, 1]), tf.transpose(x), tf.broadcast_to(x[:, :1], [2, 3]), x[:, 1:], x[1, 2]):
        assert np.from_dlpack(y).tolist() == y.numpy().tolist()
        back = tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(y))
        assert back.numpy().tolist() == y.numpy().tolist()


if __name__ == "__main__":
    check_library(globals()[sys.argv[1]])
