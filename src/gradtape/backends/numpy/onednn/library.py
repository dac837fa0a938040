"""The library itself: where it is found, how it is loaded, and computations it has prepared."""

from __future__ import annotations

import ctypes
import math
import os
import site
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_float, c_int, c_int64, c_size_t, c_uint, c_void_p
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FLOAT32 = np.dtype(np.float32)
FAILED = "oneDNN failed; GRADTAPE_ONEDNN=0 in the environment does without it"

# The values of the C interface's enumerations and macros that are used here: dnnl_types.h.
_QUERY_NAME = 8
_CPU, _IN_ORDER, _ANY_LAYOUT, _SCRATCHPAD_OF_CALLER = 1, 1, 1, 1
_LINEAR, _ADD = 0x26, 0x1FFF0
_FLOAT32, _UINT8 = 3, 6
_OPENMP, _TBB = 2, 4

_LINE = 64  # bytes of a line of the cache
_SOME_LINES = 1 << 14  # bytes from which it matters where an array begins
_STAYING = 1 << 14  # bytes of memory of its own that a computation keeps from run to run: getting it takes microseconds
_NAMES = {"win32": ("dnnl.dll",), "darwin": ("libdnnl.3.dylib", "libdnnl.dylib")}.get(
    sys.platform, ("libdnnl.so.3", "libdnnl.so")
)
# How long OpenMP's threads wait busily for the next computation. By default that is many milliseconds, in which they
# keep a core from the threads that do the elementwise work, and from other processes.
_PATIENCE = {"GOMP_SPINCOUNT": "100000", "KMP_BLOCKTIME": "1"}

team: Team | None = None  # once the library is in use, and its OpenMP is GNU's or one with the same functions
_forked = False  # the threads of a library that was loaded before a fork are missing in the child


class Role(IntEnum):
    """What an array is in a computation."""

    BIAS = 41
    ADDED, ADDED_TOO = 2 << 15 | 2, 3 << 15 | 2  # what `Temporaries.scaled_and_added` adds
    SRC, SECOND_SRC, DST, WEIGHTS, WORKSPACE, SCRATCHPAD = 1, 2, 17, 33, 64, 80
    DIFF_SRC, DIFF_DST, DIFF_WEIGHTS = 129, 145, 161
    MEAN, VARIANCE, SCALE, SHIFT, DIFF_SCALE, DIFF_SHIFT = 49, 50, 51, 52, 255, 256


_QUERY_LAYOUT = {Role.WEIGHTS: 131, Role.DIFF_WEIGHTS: 132, Role.WORKSPACE: 135, Role.SCRATCHPAD: 136}


class _Version(ctypes.Structure):
    _fields_ = (
        ("major", c_int), ("minor", c_int), ("patch", c_int), ("hash", c_char_p), ("cpu", c_uint), ("gpu", c_uint)
    )  # fmt: skip


class ExecArgument(ctypes.Structure):
    """Which argument of a computation lies in which memory."""

    _fields_ = (("number", c_int), ("memory", c_void_p))


class Refused(Exception):
    """oneDNN has no implementation, or no fast one."""


class Team(NamedTuple):
    """OpenMP's functions for a team of threads: the calling one and those that `start` lets run a function."""

    start: Any
    end: Any  # waits for them
    level: Any  # how many teams the calling thread is in

    @classmethod
    def of(cls, computing: Any, quick: Any) -> Team | None:
        """Those that a library has, loaded so that calls let the interpreter lock go, and so that they keep it."""
        try:
            team = cls(computing.GOMP_parallel_start, computing.GOMP_parallel_end, quick.omp_get_level)
        except AttributeError:
            return None
        team.start.argtypes = (c_void_p, ctypes.py_object, c_uint)
        return team


class Library:
    """A loaded oneDNN. One computation runs at a time: each uses all cores."""

    def __init__(self, path: str) -> None:
        computing: Any = ctypes.CDLL(path)  # lets the interpreter lock go
        quick: Any = ctypes.PyDLL(path)
        quick.dnnl_version.restype = ctypes.POINTER(_Version)
        found = quick.dnnl_version().contents
        if found.major != 3 or found.cpu not in (_OPENMP, _TBB):
            raise OSError(f"{path} is oneDNN {found.major}.{found.minor} with the CPU runtime {found.cpu}")
        self.path = path
        self.version = f"{found.major}.{found.minor}.{found.patch}"
        self.lock = threading.Lock()
        self.calls = quick
        self.execute = computing.dnnl_primitive_execute
        self.execute.argtypes = (c_void_p, c_void_p, c_int, ctypes.POINTER(ExecArgument))
        self.sgemm = computing.dnnl_sgemm
        whole, number = c_int64, c_float
        self.sgemm.argtypes = (
            ctypes.c_char, ctypes.c_char, whole, whole, whole, number, c_void_p, whole, c_void_p, whole, number,
            c_void_p, whole,
        )  # fmt: skip
        self.team = Team.of(computing, quick)
        # How many threads the calling thread may use: OpenMP's functions that say it and set it.
        self.threads: Any = getattr(quick, "omp_get_max_threads", None)
        self.set_threads: Any = getattr(quick, "omp_set_num_threads", None)
        self.set_data = quick.dnnl_memory_set_data_handle
        self.set_data.argtypes = (c_void_p, c_void_p)
        quick.dnnl_memory_desc_get_size.restype = c_size_t
        quick.dnnl_primitive_desc_query_md.restype = c_void_p
        self.engine = self.made("dnnl_engine_create", _CPU, c_size_t(0))
        self.stream = self.new_stream()
        self.attributes = self.made("dnnl_primitive_attr_create")
        quick.dnnl_primitive_attr_set_scratchpad_mode(self.attributes, _SCRATCHPAD_OF_CALLER)

    def new_stream(self) -> c_void_p:
        """What one thread at a time computes in."""
        return self.made("dnnl_stream_create", self.engine, _IN_ORDER)

    def made(self, function: str, *arguments: Any) -> c_void_p:
        """The object that a function of the C interface makes."""
        result = c_void_p()
        if getattr(self.calls, function)(byref(result), *arguments):
            raise Refused(function)
        return result

    @contextmanager
    def temporary(self) -> Iterator[Temporaries]:
        """Objects that are needed only to make others."""
        objects = Temporaries(self)
        try:
            yield objects
        finally:
            objects.destroy()


class Temporaries:
    """Descriptors of layouts and of primitives, until they are destroyed."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._made: list[tuple[str, c_void_p]] = []

    def layout(self, shape: Sequence[int], strides: Sequence[int] | None, places: bool = False) -> c_void_p:
        """Of float32, or of `places`, with `strides` counted in elements; without strides, as oneDNN likes it best."""
        given: tuple[Any, ...] = (len(shape), numbers(shape), _UINT8 if places else _FLOAT32)
        if strides is None:
            made = self.library.made("dnnl_memory_desc_create_with_tag", *given, _ANY_LAYOUT)
        else:
            made = self.library.made("dnnl_memory_desc_create_with_strides", *given, numbers(strides))
        self._made.append(("dnnl_memory_desc_destroy", made))
        return made

    def image(self, shape: Sequence[int], places: bool = False) -> c_void_p:
        """Of an array `(examples, *space, channels)`, whose axes oneDNN numbers `(examples, channels, *space)`."""
        order = (0, len(shape) - 1, *range(1, len(shape) - 1))
        apart = steps(shape)
        return self.layout([shape[i] for i in order], [apart[i] for i in order], places)

    def description(self, function: str, *arguments: Any) -> c_void_p:
        """Of a primitive, which takes its scratch memory from the caller."""
        return self._described(function, *arguments, self.library.attributes)

    def scaled_and_added(
        self, function: str, *arguments: Any, scale: float, layouts: Sequence[c_void_p] = ()
    ) -> c_void_p:
        """Of a primitive whose result is multiplied by `scale`, and to which arrays of these layouts are added."""
        if scale == 1 and not layouts:
            return self.description(function, *arguments)
        calls = self.library.calls
        steps, attributes = self.library.made("dnnl_post_ops_create"), self.library.made("dnnl_primitive_attr_create")
        try:
            calls.dnnl_primitive_attr_set_scratchpad_mode(attributes, _SCRATCHPAD_OF_CALLER)
            calls.dnnl_post_ops_append_eltwise(steps, _LINEAR, c_float(scale), c_float(0))
            if any(calls.dnnl_post_ops_append_binary(steps, _ADD, layout) for layout in layouts):
                raise Refused("adding")
            calls.dnnl_primitive_attr_set_post_ops(attributes, steps)
            return self._described(function, *arguments, attributes)
        finally:
            calls.dnnl_post_ops_destroy(steps)
            calls.dnnl_primitive_attr_destroy(attributes)

    def _described(self, function: str, *arguments: Any) -> c_void_p:
        made = self.library.made(function, *arguments)
        self._made.append(("dnnl_primitive_desc_destroy", made))
        return made

    def reordering(self, source: c_void_p, target: c_void_p) -> c_void_p:
        """Of the primitive that brings an array from one layout into another."""
        engine = self.library.engine
        return self.description("dnnl_reorder_primitive_desc_create", source, engine, target, engine)

    def liked(self, description: c_void_p, role: Role) -> c_void_p:
        """The layout that a primitive wants for an argument."""
        return c_void_p(self.library.calls.dnnl_primitive_desc_query_md(description, _QUERY_LAYOUT[role], 0))

    def destroy(self) -> None:
        """Gives all of them back."""
        for function, thing in reversed(self._made):
            getattr(self.library.calls, function)(thing)
        self._made.clear()


def numbers(values: Sequence[int]) -> Any:
    """The C array `dnnl_dims_t`."""
    return (c_int64 * 12)(*values)


def steps(shape: Sequence[int]) -> list[int]:
    """From one number to the next along each axis of a contiguous array."""
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


class Computation:
    """A primitive and the memory objects it is run on.

    `layouts` are those of the arrays it will be given. Weights, or their gradient, which are small, are brought into
    the order that the primitive likes best, or out of it.
    """

    def __init__(self, objects: Temporaries, description: c_void_p, layouts: dict[Role, c_void_p]) -> None:
        self._library = library = objects.library
        self._objects: list[tuple[str, c_void_p]] = []
        self._own: list[tuple[c_void_p, int]] = []  # memory that is there during a run only, and its bytes
        self._kept: list[Any] = []  # memory that is so small that it stays
        self._steps: list[tuple[c_void_p, int, Any]] = []
        name = c_char_p()
        library.calls.dnnl_primitive_desc_query(description, _QUERY_NAME, 0, byref(name))
        if name.value is None or name.value.startswith((b"ref", b"simple")):
            raise Refused(f"only the slow implementation {name.value!r}")
        memories = {number: self._memory(layout) for number, layout in layouts.items()}
        self._given = list(memories.values())
        self._places: list[int] = []  # of the arrays, in the last run
        scratch = objects.liked(description, Role.SCRATCHPAD)
        if library.calls.dnnl_memory_desc_get_size(scratch):
            memories[Role.SCRATCHPAD] = self._memory_of_own(scratch)
        before, after = [], []
        for role in layouts.keys() & _QUERY_LAYOUT.keys():
            plain, liked = layouts[role], objects.liked(description, role)
            if library.calls.dnnl_memory_desc_equal(plain, liked):
                continue
            if role is Role.WORKSPACE:
                raise Refused("a workspace of oneDNN's own")
            given, memories[role] = memories[role], self._memory_of_own(liked)
            if role is Role.WEIGHTS:
                before.append((objects.reordering(plain, liked), {Role.SRC: given, Role.DST: memories[role]}))
            else:
                after.append((objects.reordering(liked, plain), {Role.SRC: memories[role], Role.DST: given}))
        for step in (*before, (description, memories), *after):
            self._add_step(*step)

    def _memory(self, layout: c_void_p) -> c_void_p:
        memory = self._library.made("dnnl_memory_create", layout, self._library.engine, None)
        self._objects.append(("dnnl_memory_destroy", memory))
        return memory

    def _memory_of_own(self, layout: c_void_p) -> c_void_p:
        memory, size = self._memory(layout), self._library.calls.dnnl_memory_desc_get_size(layout)
        if size > _STAYING:
            self._own.append((memory, size))
        else:
            self._kept.append(np.empty(size, np.uint8))
            self._library.set_data(memory, address(self._kept[-1]))
        return memory

    def _add_step(self, description: c_void_p, memories: dict[Role, c_void_p]) -> None:
        primitive = self._library.made("dnnl_primitive_create", description)
        self._objects.append(("dnnl_primitive_destroy", primitive))
        arguments = (ExecArgument * len(memories))(*(ExecArgument(role, memory) for role, memory in memories.items()))
        self._steps.append((primitive, len(memories), arguments))

    def run(self, *arrays: Any) -> None:
        """Reads and writes the arrays, which are laid out as was said."""
        library = self._library
        places = []
        for x in arrays:
            places.append(_number_at(id(x) + HEADER).value)  # `address`, without a call
        with library.lock:
            self.run_at(places, library.stream)

    def run_at(self, places: list[int], stream: c_void_p) -> None:
        """Reads and writes the arrays at these addresses; nobody else may run it meanwhile."""
        library = self._library
        if places != self._places:
            self._places = []  # an interrupt may come in the middle
            for memory, at in zip(self._given, places, strict=True):
                library.set_data(memory, at)
            self._places = places
        own = []
        for memory, size in self._own:
            own.append(np.empty(size, np.uint8))
            library.set_data(memory, address(own[-1]))
        for primitive, count, arguments in self._steps:
            if library.execute(primitive, stream, count, arguments):
                raise RuntimeError(FAILED)

    def __del__(self) -> None:
        for function, thing in reversed(self._objects):
            getattr(self._library.calls, function)(thing)


def plain(x: Any) -> Any:
    """The array, contiguous."""
    return x if x.flags.c_contiguous else np.ascontiguousarray(x)


def address(array: Any) -> int:
    """Where an array's numbers begin: what `array.ctypes.data` says, in a fifth of the time."""
    return _number_at(id(array) + HEADER).value


HEADER = object.__basicsize__  # of every Python object; in an array, the address of its numbers comes next
_number_at = c_size_t.from_address
place = c_void_p.from_address  # `place(id(array) + HEADER)` is the address of an array's numbers as C takes it


def empty(shape: tuple[int, ...]) -> Any:
    """A float32 array, not filled, that begins with a line of the cache: products read and write it faster."""
    whole = np.empty(4 * math.prod(shape) + _LINE, np.uint8)
    return np.ndarray(shape, FLOAT32, whole, -address(whole) % _LINE)


def at_line(array: Any) -> Any:
    """The array, or a copy that begins with a line of the cache, if products with it are likely."""
    if array.dtype is not FLOAT32 or array.ndim < 2 or array.nbytes < _SOME_LINES or not _is_address_right():
        return array
    if array.flags.c_contiguous and not address(array) % _LINE:
        return array
    copy = empty(array.shape)
    copy[...] = array
    return copy


@cache
def _is_address_right() -> bool:
    probe = np.arange(8)[3:]
    return address(probe) == probe.ctypes.data


def _candidates() -> Iterator[str]:
    """Files that may be the library, those of this environment first; a bare name is looked for by the system."""
    chosen = os.environ.get("GRADTAPE_ONEDNN", "")
    if chosen not in ("", "1"):
        yield chosen
        return
    for root in dict.fromkeys((sys.prefix, site.getuserbase())):
        for folder in ("lib", "lib64", "bin", "Library/bin"):
            for name in _NAMES:
                path = Path(root, folder, name)
                if path.exists():
                    yield str(path)
    yield from _NAMES


@contextmanager
def _with_patience() -> Iterator[None]:
    """Tells an OpenMP that is loaded inside how long its threads wait busily, unless the user has told it."""
    if os.environ.keys() & {"OMP_WAIT_POLICY", *_PATIENCE}:
        yield
        return
    os.environ.update(_PATIENCE)
    try:
        yield
    finally:
        for name in _PATIENCE:
            os.environ.pop(name, None)


@cache
def library() -> Library | None:
    """The library, loaded now if it was not before; None if there is none, or it is not to be used."""
    global team
    if _forked or os.environ.get("GRADTAPE_ONEDNN") == "0" or not _is_address_right():
        return None
    for path in _candidates():
        try:
            with _with_patience():
                found = Library(path)
        except (OSError, AttributeError, Refused):
            continue
        team = found.team
        return found
    return None


def version() -> str | None:
    """The version of the oneDNN that computes products and convolutions of float32; None if NumPy does."""
    found = library()
    return None if found is None else f"{found.version} ({found.path})"


def _after_fork() -> None:
    global _forked, team
    team = None
    _forked = _forked or library.cache_info().currsize > 0
    library.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
