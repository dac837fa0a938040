"""`tf.test`: a `unittest` case that compares tensors, and device queries for tests."""

from __future__ import annotations

import os
import random
import re
import shutil
import tempfile
import unittest
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from gradtape.api.random.draws import set_seed
from gradtape.core import devices, errors, nest
from gradtape.core.dtypes import DType, as_dtype
from gradtape.core.slices import IndexedSlices
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import TensorLike, ValueLike
from gradtape.engine.run.convert import to_tensor
from gradtape.ragged.tensor import RaggedTensor
from gradtape.ragged.value import RaggedTensorValue
from gradtape.sparse.tensor import SparseTensor, SparseTensorValue

from ..v1.graph import reset_default_graph
from .temporary_files import TemporaryFile, TemporaryFolder
from .test_support import CheckedThread, Writes, captured

NAMESPACES = ("test",)
__all__ = ["TestCase", "gpu_device_name", "is_built_with_cuda", "is_built_with_gpu_support", "is_gpu_available", "main"]

_SEED = 87654321  # TensorFlow's seed for tests


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Returns whether gradtape can use a GPU with at least this compute capability, a pair such as (8, 0).

    >>> tf.test.is_gpu_available() == bool(tf.config.list_logical_devices("GPU"))
    True
    """
    least = min_cuda_compute_capability or (0, 0)
    used = {device.physical for device in devices.logical_devices("GPU")}
    gpus = enumerate(devices.physical_devices("GPU"))
    return any(i in used and devices.details_of(gpu).get("compute_capability", (0, 0)) >= least for i, gpu in gpus)


def is_built_with_cuda() -> bool:
    """Returns whether gradtape has a backend for CUDA, regardless of the hardware.

    >>> tf.test.is_built_with_cuda() or not tf.config.list_physical_devices("GPU")
    True
    """
    return devices.has_probe()


def is_built_with_gpu_support() -> bool:
    """Returns whether gradtape has a backend for any kind of GPU: CUDA.

    >>> tf.test.is_built_with_gpu_support() == tf.test.is_built_with_cuda()
    True
    """
    return is_built_with_cuda()


def gpu_device_name() -> str:
    """Returns the name of a GPU, or an empty string.

    >>> bool(tf.test.gpu_device_name()) == tf.test.is_gpu_available()
    True
    """
    gpus = devices.logical_devices("GPU")
    return f"/device:GPU:{gpus[0].index}" if gpus else ""


def main(argv: list[str] | None = None) -> None:
    """Runs the tests of the main module, like `unittest.main`.

    >>> callable(tf.test.main)
    True
    """
    unittest.main(argv=argv)


class _EagerSession:
    """A replacement for sessions that evaluates eagerly."""

    def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
        return _evaluated(fetches)


def _evaluated(x: Any) -> Any:
    """Returns a nested structure of tensors, or of functions that return such structures, as NumPy values."""
    return nest.map_structure(lambda t: _evaluated(t()) if callable(t) else _value(t), x)


def _value(x: Any) -> Any:
    """Returns a nested structure of tensors as NumPy values."""

    def leaf(t: Any) -> Any:
        if isinstance(t, IndexedSlices):
            return IndexedSlices(t.values.numpy(), t.indices.numpy(), t.dense_shape)
        if isinstance(t, SparseTensor):
            return SparseTensorValue(*(part.numpy() for part in t._parts()))
        if isinstance(t, RaggedTensor):
            return RaggedTensorValue(leaf(t.values), t.row_splits.numpy())
        return t.numpy() if callable(getattr(t, "numpy", None)) else t

    return nest.map_structure(leaf, x)


def _array(x: Any) -> np.ndarray[Any, Any]:
    if isinstance(x, IndexedSlices):
        x = to_tensor(x)
    value = x.numpy() if isinstance(x, RaggedTensor) else _value(x)
    try:
        array = np.asarray(value)
    except ValueError:  # a structure, such as shapes in a dict
        array = np.array(value, dtype=object)
    if array.dtype.kind in "US":
        return array.astype("S").astype(object)
    return array


def _as_numpy_dtype(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Converts bfloat16 and similar dtypes to doubles: NumPy's assertions do not recognize their NaNs."""
    return array.astype(np.float64) if array.dtype.isbuiltin == 2 else array


class TestCase(unittest.TestCase):
    """A test case with assertions about tensors, arrays and nested structures.

    >>> class SquareTest(tf.test.TestCase):
    ...     def runTest(self):
    ...         self.assertAllClose(tf.square([1.0, 2.0]), [1.0, 4.0])
    >>> SquareTest().run().wasSuccessful()
    True
    """

    __module__ = "gradtape.test"

    __test__ = False  # for pytest: this class has no tests

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__test__ = True

    def setUp(self) -> None:
        """Seeds the random numbers of Python, NumPy and gradtape for every test, and clears the default graph's names.

        Silences the NumPy warnings that `import gradtape` silences (log of 0, overflow), whatever the runner has set.
        """
        super().setUp()
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradtape\.")
        random.seed(_SEED)
        np.random.seed(_SEED)  # noqa: NPY002
        reset_default_graph()
        set_seed(_SEED)

    def evaluate(self, tensors: object) -> Any:
        """Returns the values of a nested structure of tensors as NumPy arrays."""
        return None if tensors is None else _evaluated(tensors)

    @contextmanager
    def session(
        self, graph: object = None, config: object = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Iterator[Any]:
        """Context manager for code written for sessions: everything runs eagerly."""
        yield _EagerSession()

    cached_session = session

    def test_session(
        self, graph: object = None, config: object = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Any:
        """Like `session`; because of its name, test runners treat it as a test."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        return self.session(graph, config, use_gpu, force_gpu)

    test_session.__test__ = False  # type: ignore[attr-defined]

    def checkedThread(self, target: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Returns a thread that runs `target`; if it raises, `join` fails this test."""
        return CheckedThread(self, target, args, kwargs or {})

    def captureWritesToStream(self, stream: Any) -> AbstractContextManager[Writes]:
        """Context manager: captures writes to `stream`; `contents()` of its value returns them."""
        return captured(stream)

    def _GetNdArray(self, a: Any) -> np.ndarray[Any, Any]:
        """Converts a value to an array for comparison. A subclass may support more types."""
        return _array(a)

    def get_temp_dir(self) -> str:
        """Returns a directory for this test's files, which is removed after it."""
        if not hasattr(self, "_folder"):
            folder = tempfile.TemporaryDirectory()
            self.addCleanup(folder.cleanup)
            self._folder = folder.name
        return self._folder

    def create_tempdir(self, name: str | None = None, cleanup: object = None) -> TemporaryFolder:
        """Returns an empty folder for this test's files, which is removed after it; see also `create_tempfile`."""
        folder = TemporaryFolder(self.get_temp_dir())
        if name:
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
        return folder.mkdir(name)

    def create_tempfile(
        self, file_path: str | None = None, content: str | bytes | None = None, mode: str = "w",
        encoding: str = "utf8", errors: str = "strict", cleanup: object = None,
    ) -> TemporaryFile:  # fmt: skip
        """Returns a file with this content, which is removed after the test."""
        return TemporaryFolder(self.get_temp_dir()).create_file(file_path, content, mode, encoding, errors)

    def assertAllClose(
        self, a: ValueLike, b: ValueLike, rtol: float = 1e-6, atol: float = 1e-6, msg: object = None
    ) -> None:
        """Asserts `|a - b| <= atol + rtol |b|` for all entries of two values or nested structures."""
        self._assert_close(a, b, rtol, atol, "", msg or "")

    def _assert_close(self, a: Any, b: Any, rtol: float, atol: float, way: str, msg: object) -> None:
        """Like `assertAllClose`, for the parts of two nested structures at `way`."""
        a, b = (x._asdict() if hasattr(x, "_asdict") else x for x in (a, b))
        a, b = _as_lists(a, b)
        if isinstance(a, dict) != isinstance(b, dict):
            raise ValueError(f"Can't compare dict to non-dict, a{way} vs b{way}. {msg}")
        if isinstance(a, dict):
            if set(a) != set(b):
                self.fail(f"mismatched keys: a{way} has keys {list(a)}, but b{way} has keys {list(b)}. {msg}")
            for key in a:
                self._assert_close(a[key], b[key], rtol, atol, f"{way}[{key}]", msg)
        elif _is_ragged(a) or _is_ragged(b):
            self.assertEqual(len(a), len(b), f"Mismatched length: a{way} and b{way}. {msg}")
            for i, (x, y) in enumerate(zip(a, b, strict=True)):
                self._assert_close(x, y, rtol, atol, f"{way}[{i}]", msg)
        else:
            x, y = self._GetNdArray(a), self._GetNdArray(b)
            text = f"Mismatched value: a{way} is different from b{way}. {msg}"
            self._same_shape(x, y, text)
            try:
                np.testing.assert_allclose(x, y, rtol=rtol, atol=atol, err_msg=text)
            except AssertionError as error:
                apart = ~np.isclose(x, y, rtol=rtol, atol=atol)
                raise AssertionError(f"{error}\n{_differing('close', x, y, apart)}") from None

    def assertAllCloseAccordingToType(
        self,
        a: ValueLike,
        b: ValueLike,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: object = None,
    ) -> None:
        """`assertAllClose` with the tolerance of the coarser dtype."""
        x, y = self._GetNdArray(a), self._GetNdArray(b)
        table = {
            "float32": (float_rtol, float_atol), "complex64": (float_rtol, float_atol),
            "float16": (half_rtol, half_atol), "bfloat16": (bfloat16_rtol, bfloat16_atol),
        }  # fmt: skip
        for array in (x, y):
            coarse = table.get(array.dtype.name, (rtol, atol))
            rtol, atol = max(rtol, coarse[0]), max(atol, coarse[1])
        x, y = (z.astype(np.float64) if z.dtype.kind not in "cO" else z for z in (x, y))
        self.assertAllClose(x, y, rtol=rtol, atol=atol, msg=msg)

    def assertAllEqual(self, a: ValueLike, b: ValueLike, msg: object = None) -> None:
        """Asserts that all entries are equal; NaN equals NaN. Ragged tensors are compared row by row."""
        if hasattr(a, "to_list") or hasattr(b, "to_list"):
            return self.assertEqual(*_as_lists(a, b), msg)
        if isinstance(a, DType) or isinstance(b, DType):  # a dtype also equals its name
            return self.assertEqual(a, b, msg)
        x, y = (_as_numpy_dtype(self._GetNdArray(z)) for z in (a, b))
        self._same_shape(x, y, msg)
        try:
            np.testing.assert_array_equal(x, y, err_msg=str(msg or ""))
        except AssertionError as error:
            raise AssertionError(f"{error}\n{_differing('equal', x, y, x != y)}") from None

    def assertDictEqual(self, a: Any, b: Any, msg: object = None) -> None:
        """Asserts that two dicts have the same keys and values, which may be tensors and arrays."""
        for d in (a, b):
            self.assertIsInstance(d, dict, f"{type(d)} is no dict. {msg or ''}")
        self.assertEqual(set(a), set(b), msg)
        for key in a:
            if any(isinstance(d[key], Tensor | np.ndarray) for d in (a, b)):
                self.assertAllEqual(a[key], b[key], f"at key {key!r}. {msg or ''}")
            else:
                self.assertEqual(a[key], b[key], f"at key {key!r}. {msg or ''}")

    def _same_shape(self, x: Any, y: Any, msg: object) -> None:
        self.assertEqual(x.shape, y.shape, f"{msg or ''} Shape mismatch: expected {x.shape}, got {y.shape}.")

    def assertNotAllClose(
        self, a: ValueLike, b: ValueLike, rtol: float = 1e-6, atol: float = 1e-6, msg: object = None
    ) -> None:
        """Asserts that some entry is not close."""
        self._not(lambda: self.assertAllClose(a, b, rtol, atol), "close", msg)

    def assertNotAllEqual(self, a: ValueLike, b: ValueLike, msg: object = None) -> None:
        """Asserts that some entry is not equal."""
        self._not(lambda: self.assertAllEqual(a, b), "equal", msg)

    def _not(self, assertion: Callable[[], None], what: str, msg: object) -> None:
        try:
            assertion()
        except AssertionError:
            return
        raise AssertionError(f"The two values are {what} at all elements. {msg or ''}")

    def assertAllGreater(self, a: ValueLike, comparison_target: ValueLike) -> None:
        """Asserts that every entry is greater."""
        self.assertGreater(self._GetNdArray(a).min(), comparison_target)

    def assertAllGreaterEqual(self, a: ValueLike, comparison_target: ValueLike) -> None:
        """Asserts that every entry is greater or equal."""
        self.assertGreaterEqual(self._GetNdArray(a).min(), comparison_target)

    def assertAllLess(self, a: ValueLike, comparison_target: ValueLike) -> None:
        """Asserts that every entry is less."""
        self.assertLess(self._GetNdArray(a).max(), comparison_target)

    def assertAllLessEqual(self, a: ValueLike, comparison_target: ValueLike) -> None:
        """Asserts that every entry is less or equal."""
        self.assertLessEqual(self._GetNdArray(a).max(), comparison_target)

    def assertAllInRange(
        self,
        target: TensorLike,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Asserts that every entry lies between the bounds."""
        x = self._GetNdArray(target)
        if x.dtype.kind not in "fiu":
            self.fail(f"The value of {target} does not have an ordered numeric type, instead it has type: {x.dtype}")
        below = x <= lower_bound if open_lower_bound else x < lower_bound
        above = x >= upper_bound if open_upper_bound else x > upper_bound
        outside = np.argwhere(below | above | (x != x))
        if len(outside):
            left, right = "(" if open_lower_bound else "[", ")" if open_upper_bound else "]"
            interval = f"{left}{lower_bound}, {upper_bound}{right}"
            shown = "\n".join(f"  {index} : {x[tuple(index)]}" for index in outside[:10])
            self.fail(f"{len(outside)} of the {x.size} element(s) are outside the range {interval}:\n{shown}")

    def assertAllInSet(self, target: ValueLike, expected_set: Any) -> None:
        """Asserts that every entry is an element of a set."""
        others = np.setdiff1d(self._GetNdArray(target), list(expected_set))
        if others.size:
            self.fail(f"{others.size} unique element(s) are not in the set {expected_set}: {others}")

    def assertShapeEqual(
        self, input_a: Tensor | np.ndarray[Any, Any], input_b: Tensor | np.ndarray[Any, Any], msg: object = None
    ) -> None:
        """Asserts that the shapes are equal."""
        self.assertEqual(tuple(input_a.shape), tuple(input_b.shape), msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Asserts that the dtype is the expected one."""
        self.assertEqual(as_dtype(self._GetNdArray(target).dtype), as_dtype(expected_dtype))

    def assertNear(self, f1: Any, f2: Any, err: float, msg: object = None) -> None:
        """Asserts that two numbers differ by at most `err`."""
        near = f1 == f2 or abs(f1 - f2) <= err
        self.assertTrue(near, f"{f1} != {f2} +/- {err}{'' if msg is None else f' ({msg})'}")

    def assertArrayNear(
        self, farray1: Sequence[float], farray2: Sequence[float], err: float, msg: object = None
    ) -> None:
        """Asserts that the entries of two sequences differ by at most `err`."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for a, b in zip(farray1, farray2, strict=True):
            self.assertEqual(np.shape(a), np.shape(b), msg)
            self.assertNear(float(a), float(b), err, msg)

    def assertNDArrayNear(self, ndarray1: ValueLike, ndarray2: ValueLike, err: float, msg: object = None) -> None:
        """Asserts that the norm of the difference of two arrays is at most `err`."""
        self.assertTrue(np.linalg.norm(self._GetNdArray(ndarray1) - self._GetNdArray(ndarray2)) < err, msg)

    @contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type: Any, expected_err_re_or_predicate: Any) -> Iterator[Any]:
        """Asserts that the block raises an exception whose message matches a pattern, or that satisfies a predicate."""
        check = expected_err_re_or_predicate
        try:
            yield
        except exception_type as error:
            text = getattr(error, "message", None) or str(error)
            if not (check(error) if callable(check) else re.search(check, text)):
                raise AssertionError(f"Exception of type {type(error)}: {text} does not match {check!r}") from error
        else:
            self.fail(f"{exception_type.__name__} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """Asserts that the block raises one of `tf.errors` with a matching message."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(self, exception_type: Any = errors.InvalidArgumentError) -> Any:
        """Asserts that the block raises an error about incompatible shapes."""
        return self.assertRaisesWithPredicateMatch(exception_type, r"Incompatible shapes|Dimensions must be equal")

    def assertDeviceEqual(self, device1: object, device2: object, msg: object = None) -> None:
        """Asserts that two device names are equivalent."""
        first, second = (str(d).lower().replace("device:", "").rpartition("/")[2] for d in (device1, device2))
        self.assertEqual(first, second, msg)

    def assertSameStructure(self, a: Any, b: Any, aname: str = "a", bname: str = "b", msg: object = None) -> None:
        """Asserts that two nested structures are equal."""
        self.assertEqual(a, b, msg or f"{aname} and {bname} differ")

    def assertLen(self, container: Sized, expected_len: int, msg: object = None) -> None:
        """Asserts that a container has this many elements."""
        self.assertEqual(len(container), expected_len, msg)

    def assertEmpty(self, container: Sized, msg: object = None) -> None:
        """Asserts that a container is empty."""
        self.assertEqual(len(container), 0, msg)

    def assertNotEmpty(self, container: Sized, msg: object = None) -> None:
        """Asserts that a container is not empty."""
        self.assertNotEqual(len(container), 0, msg)

    def assertBetween(self, value: Any, minv: Any, maxv: Any, msg: object = None) -> None:
        """Asserts `minv <= value <= maxv`."""
        self.assertTrue(minv <= value <= maxv, msg or f"{value} is not between {minv} and {maxv}")

    def assertStartsWith(self, actual: str, expected_start: str, msg: object = None) -> None:
        """Asserts that a text starts with a prefix."""
        self.assertTrue(actual.startswith(expected_start), msg or f"{actual!r} does not start with {expected_start!r}")

    def assertEndsWith(self, actual: str, expected_end: str, msg: object = None) -> None:
        """Asserts that a text ends with a suffix."""
        self.assertTrue(actual.endswith(expected_end), msg or f"{actual!r} does not end with {expected_end!r}")

    def assertItemsEqual(self, first: Iterable[Any], second: Iterable[Any], msg: object = None) -> None:
        """Asserts that two collections have the same elements, in any order."""
        self.assertCountEqual(first, second, msg)

    def assertSameElements(self, expected_seq: Iterable[Any], actual_seq: Iterable[Any], msg: object = None) -> None:
        """Asserts that two collections are equal as sets."""
        self.assertEqual(set(expected_seq), set(actual_seq), msg)

    def assertContainsSubset(
        self, expected_subset: Iterable[Any], actual_set: Iterable[Any], msg: object = None
    ) -> None:
        """Asserts that one set contains another."""
        self.assertLessEqual(set(expected_subset), set(actual_set), msg)

    def assertDictAlmostEqual(
        self, a: Any, b: Any, places: int | None = None, msg: object = None, delta: float | None = None
    ) -> None:
        """Asserts that two dicts have the same keys and nearly the same numbers."""
        self.assertEqual(set(a), set(b), msg)
        for key in a:
            self.assertAlmostEqual(a[key], b[key], places=places, msg=msg, delta=delta)  # type: ignore[arg-type]

    def assertSequenceAlmostEqual(
        self, expected_seq: Sequence[float], actual_seq: Sequence[float], places: int | None = None, msg: object = None,
        delta: float | None = None,
    ) -> None:  # fmt: skip
        """Asserts that two sequences have nearly the same numbers."""
        self.assertEqual(len(expected_seq), len(actual_seq), msg)
        for a, b in zip(expected_seq, actual_seq, strict=True):
            self.assertAlmostEqual(a, b, places=places, msg=msg, delta=delta)  # type: ignore[arg-type]


def _differing(what: str, x: Any, y: Any, where: Any) -> str:
    """Describes where two arrays are not `what`, and their values there."""
    x, y, where = np.atleast_1d(x, y, where)
    a, b = x[where], y[where]
    difference = f"\nnot {what} dif = {np.abs(a - b)}" if what == "close" else ""
    return f"not {what} where = {np.where(where)}\nnot {what} lhs = {a}\nnot {what} rhs = {b}{difference}"


def _as_lists(a: Any, b: Any) -> tuple[Any, Any]:
    """Returns both values as lists, if one of them is a ragged tensor."""
    if not hasattr(a, "to_list") and not hasattr(b, "to_list"):
        return a, b
    mine, its = (x.to_list() if hasattr(x, "to_list") else nest.map_structure(_as_list, x) for x in (a, b))
    return mine, its


def _as_list(x: Any) -> Any:
    value = _value(x)
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _is_ragged(x: Any) -> bool:
    """Returns whether a list cannot be converted to one array."""
    if not isinstance(x, list | tuple):
        return False
    items = [_value(item) for item in x]
    if any(map(_is_ragged, items)):
        return True
    shapes = {np.shape(item) if not isinstance(item, dict) else dict for item in items}
    return len(shapes) > 1 or dict in shapes
