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
from ctypes import byref, c_char_p, c_int, c_int64, c_size_t, c_uint, c_void_p
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

FLOAT32 = np.dtype(np.float32)
_FAILED = "oneDNN failed; GRADTAPE_ONEDNN=0 in the environment does without it"

# The values of the C interface's enumerations and macros that are used here: dnnl_types.h.
_QUERY_NAME = 8
_CPU, _IN_ORDER, _ANY_LAYOUT, _SCRATCHPAD_OF_CALLER = 1, 1, 1, 1
_FLOAT32, _UINT8 = 3, 6
_OPENMP, _TBB = 2, 4

_STAYING = 1 << 14  # bytes of memory of its own that a computation keeps from run to run: getting it takes microseconds
_NAMES = {"win32": ("dnnl.dll",), "darwin": ("libdnnl.3.dylib", "libdnnl.dylib")}.get(
    sys.platform, ("libdnnl.so.3", "libdnnl.so")
)
# How long OpenMP's threads wait busily for the next computation. By default that is many milliseconds, in which they
# keep a core from OpenBLAS, from the threads that do the elementwise work, and from other processes. With a thousand
# turns against 100,000, a step of a residual CNN on two busy cores takes 0.83 of the CPU time and 0.7 of the wall time.
_PATIENCE = {"GOMP_SPINCOUNT": "1000", "KMP_BLOCKTIME": "0"}

_forked = False  # the threads of a library that was loaded before a fork are missing in the child


class Role(IntEnum):
    """What an array is in a computation."""

    SRC, DST, WEIGHTS, WORKSPACE, SCRATCHPAD = 1, 17, 33, 64, 80
    DIFF_SRC, DIFF_DST, DIFF_WEIGHTS = 129, 145, 161


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
        self.set_data = quick.dnnl_memory_set_data_handle
        self.set_data.argtypes = (c_void_p, c_void_p)
        quick.dnnl_memory_desc_get_size.restype = c_size_t
        quick.dnnl_primitive_desc_query_md.restype = c_void_p
        self.engine = self.made("dnnl_engine_create", _CPU, c_size_t(0))
        self.stream = self.made("dnnl_stream_create", self.engine, _IN_ORDER)
        self.attributes = self.made("dnnl_primitive_attr_create")
        quick.dnnl_primitive_attr_set_scratchpad_mode(self.attributes, _SCRATCHPAD_OF_CALLER)

    def made(self, function: str, *arguments: Any) -> c_void_p:
        """The object that a function of the C interface makes."""
        result = c_void_p()
        if getattr(self.calls, function)(byref(result), *arguments):
            raise Refused(function)
        return result


class Temporaries:
    """Descriptors of layouts and of primitives, which are needed only to make others: until the end of the block."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._made: list[tuple[str, c_void_p]] = []

    def layout(self, shape: Sequence[int], strides: Sequence[int] | None, places: bool = False) -> c_void_p:
        """Of float32, or of `places`, with `strides` counted in elements; without strides, as oneDNN likes it best."""
        given: tuple[Any, ...] = (len(shape), dims(shape), _UINT8 if places else _FLOAT32)
        if strides is None:
            made = self.library.made("dnnl_memory_desc_create_with_tag", *given, _ANY_LAYOUT)
        else:
            made = self.library.made("dnnl_memory_desc_create_with_strides", *given, dims(strides))
        self._made.append(("dnnl_memory_desc_destroy", made))
        return made

    def image(self, shape: Sequence[int], places: bool = False) -> c_void_p:
        """Of an array `(examples, *space, channels)`, whose axes oneDNN numbers `(examples, channels, *space)`."""
        order = (0, len(shape) - 1, *range(1, len(shape) - 1))
        apart = steps(shape)
        return self.layout([shape[i] for i in order], [apart[i] for i in order], places)

    def description(self, function: str, *arguments: Any) -> c_void_p:
        """Of a primitive, which takes its scratch memory from the caller."""
        made = self.library.made(function, *arguments, self.library.attributes)
        self._made.append(("dnnl_primitive_desc_destroy", made))
        return made

    def reordering(self, source: c_void_p, target: c_void_p) -> c_void_p:
        """Of the primitive that brings an array from one layout into another."""
        engine = self.library.engine
        return self.description("dnnl_reorder_primitive_desc_create", source, engine, target, engine)

    def liked(self, description: c_void_p, role: Role) -> c_void_p:
        """The layout that a primitive wants for an argument."""
        return c_void_p(self.library.calls.dnnl_primitive_desc_query_md(description, _QUERY_LAYOUT[role], 0))

    def __enter__(self) -> Temporaries:
        return self

    def __exit__(self, *_: object) -> None:
        for function, thing in reversed(self._made):
            getattr(self.library.calls, function)(thing)


def dims(values: Sequence[int]) -> Any:
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
            self._library.set_data(memory, self._kept[-1].ctypes.data)
        return memory

    def _add_step(self, description: c_void_p, memories: dict[Role, c_void_p]) -> None:
        primitive = self._library.made("dnnl_primitive_create", description)
        self._objects.append(("dnnl_primitive_destroy", primitive))
        arguments = (ExecArgument * len(memories))(*(ExecArgument(role, memory) for role, memory in memories.items()))
        self._steps.append((primitive, len(memories), arguments))

    def run(self, *arrays: Any) -> None:
        """Reads and writes the arrays, which are laid out as was said."""
        library = self._library
        with library.lock:
            for memory, array in zip(self._given, arrays, strict=True):
                library.set_data(memory, array.ctypes.data)
            own = []
            for memory, size in self._own:
                own.append(np.empty(size, np.uint8))
                library.set_data(memory, own[-1].ctypes.data)
            for primitive, count, arguments in self._steps:
                if library.execute(primitive, library.stream, count, arguments):
                    raise RuntimeError(_FAILED)

    def __del__(self) -> None:
        for function, thing in reversed(self._objects):
            getattr(self._library.calls, function)(thing)


def contiguous(x: Any) -> Any:
    """The array, contiguous."""
    return x if x.flags.c_contiguous else np.ascontiguousarray(x)


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
    if _forked or os.environ.get("GRADTAPE_ONEDNN") == "0":
        return None
    for path in _candidates():
        try:
            with _with_patience():
                found = Library(path)
        except (OSError, AttributeError, Refused):
            continue
        return found
    return None


def version() -> str | None:
    """The version of the oneDNN that computes convolutions and max pooling of float32; None if NumPy does."""
    found = library()
    return None if found is None else f"{found.version} ({found.path})"


def _after_fork() -> None:
    global _forked
    _forked = _forked or library.cache_info().currsize > 0
    library.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
