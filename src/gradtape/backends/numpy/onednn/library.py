"""Finds and loads oneDNN, and wraps its primitives as reusable computations."""

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
from typing import Any

import numpy as np

FLOAT32 = np.dtype(np.float32)
_FAILED = "oneDNN failed; GRADTAPE_ONEDNN=0 in the environment does without it"

# Values of the C API's enumerations and macros: dnnl_types.h.
_QUERY_NAME = 8
_CPU, _IN_ORDER, _ANY_LAYOUT, _SCRATCHPAD_OF_CALLER = 1, 1, 1, 1
_FLOAT32, _UINT8 = 3, 6
_OPENMP, _TBB = 2, 4

_STAYING = 1 << 14  # bytes of scratch memory that a computation retains between runs: allocating it takes microseconds
_NAMES = {"win32": ("dnnl.dll",), "darwin": ("libdnnl.3.dylib", "libdnnl.dylib")}.get(
    sys.platform, ("libdnnl.so.3", "libdnnl.so")
)
# How long OpenMP's threads spin while they wait for the next computation. The default is many milliseconds, during
# which they keep a core from OpenBLAS, from the threads of elementwise work, and from other processes. With 1,000 spins
# instead of 100,000, a step of a residual CNN on two busy cores takes 0.83 of the CPU time and 0.7 of the wall time.
_PATIENCE = {"GOMP_SPINCOUNT": "1000", "KMP_BLOCKTIME": "0"}

_forked = False  # a child process lacks the threads of a library loaded before the fork


class Role(IntEnum):
    """The role of an array in a computation: DNNL_ARG_*."""

    SRC, DST, WEIGHTS, WORKSPACE, SCRATCHPAD = 1, 17, 33, 64, 80
    DIFF_SRC, DIFF_DST, DIFF_WEIGHTS = 129, 145, 161


_QUERY_LAYOUT = {Role.WEIGHTS: 131, Role.DIFF_WEIGHTS: 132, Role.WORKSPACE: 135, Role.SCRATCHPAD: 136}


class _Version(ctypes.Structure):
    _fields_ = (
        ("major", c_int), ("minor", c_int), ("patch", c_int), ("hash", c_char_p), ("cpu", c_uint), ("gpu", c_uint)
    )  # fmt: skip


class ExecArgument(ctypes.Structure):
    """Binds an argument of a computation to a memory object: dnnl_exec_arg_t."""

    _fields_ = (("number", c_int), ("memory", c_void_p))


class Refused(Exception):
    """oneDNN has no implementation, or only a slow one."""


class Library:
    """A loaded oneDNN library. Computations are serialized, since each uses all cores."""

    def __init__(self, path: str) -> None:
        computing: Any = ctypes.CDLL(path)  # releases the GIL
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
        """Calls a constructor of the C API and returns the object."""
        result = c_void_p()
        if getattr(self.calls, function)(byref(result), *arguments):
            raise Refused(function)
        return result


class Temporaries:
    """Owns descriptors of layouts and primitives, and destroys them at the end of the block."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._made: list[tuple[str, c_void_p]] = []

    def layout(self, shape: Sequence[int], strides: Sequence[int] | None, places: bool = False) -> c_void_p:
        """Creates a layout of float32, or of indices if `places`; without strides (in elements), oneDNN chooses it."""
        given: tuple[Any, ...] = (len(shape), dims(shape), _UINT8 if places else _FLOAT32)
        if strides is None:
            made = self.library.made("dnnl_memory_desc_create_with_tag", *given, _ANY_LAYOUT)
        else:
            made = self.library.made("dnnl_memory_desc_create_with_strides", *given, dims(strides))
        self._made.append(("dnnl_memory_desc_destroy", made))
        return made

    def image(self, shape: Sequence[int], places: bool = False) -> c_void_p:
        """Creates the layout of an image `(examples, *space, channels)`, as oneDNN's `(examples, channels, *space)`."""
        order = (0, len(shape) - 1, *range(1, len(shape) - 1))
        apart = steps(shape)
        return self.layout([shape[i] for i in order], [apart[i] for i in order], places)

    def description(self, function: str, *arguments: Any) -> c_void_p:
        """Creates the descriptor of a primitive whose scratch memory the caller provides."""
        made = self.library.made(function, *arguments, self.library.attributes)
        self._made.append(("dnnl_primitive_desc_destroy", made))
        return made

    def reordering(self, source: c_void_p, target: c_void_p) -> c_void_p:
        """Creates the descriptor of the primitive that converts an array between two layouts."""
        engine = self.library.engine
        return self.description("dnnl_reorder_primitive_desc_create", source, engine, target, engine)

    def liked(self, description: c_void_p, role: Role) -> c_void_p:
        """Returns the layout that a primitive expects for an argument."""
        return c_void_p(self.library.calls.dnnl_primitive_desc_query_md(description, _QUERY_LAYOUT[role], 0))

    def __enter__(self) -> Temporaries:
        return self

    def __exit__(self, *_: object) -> None:
        for function, thing in reversed(self._made):
            getattr(self.library.calls, function)(thing)


def dims(values: Sequence[int]) -> Any:
    """Returns a C array `dnnl_dims_t`."""
    return (c_int64 * 12)(*values)


def steps(shape: Sequence[int]) -> list[int]:
    """Returns the strides, in elements, of a contiguous array."""
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


class Computation:
    """A primitive and the memory objects that it runs on.

    `layouts` are those of the arrays passed to `run`. Weights and their gradient, which are small, are converted to and
    from the layout that the primitive prefers.
    """

    def __init__(self, objects: Temporaries, description: c_void_p, layouts: dict[Role, c_void_p]) -> None:
        self._library = library = objects.library
        self._objects: list[tuple[str, c_void_p]] = []
        self._own: list[tuple[c_void_p, int]] = []  # (memory, bytes) allocated only during a run
        self._kept: list[Any] = []  # small memory, retained between runs
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
        """Runs the computation on arrays of the declared layouts."""
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
    """Returns the array, copied if it is not contiguous."""
    return x if x.flags.c_contiguous else np.ascontiguousarray(x)


def _candidates() -> Iterator[str]:
    """Yields candidate library files, this environment's first; the system's loader resolves bare names."""
    chosen = os.environ.get("GRADTAPE_ONEDNN", "")
    if chosen not in ("", "1"):
        yield chosen
        return
    for root in dict.fromkeys((sys.prefix, site.getuserbase())):
        for folder in ("lib", "lib64", "bin", "Library/bin"):
            for name in _NAMES:
                path = os.path.join(root, folder, name)
                if os.path.exists(path):
                    yield path
    yield from _NAMES


@contextmanager
def _with_patience() -> Iterator[None]:
    """Sets the spin time of an OpenMP library loaded inside the block, unless the user has configured it."""
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
    """Returns the library, loading it on the first call; None if it is missing or disabled."""
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
    """Returns the version of oneDNN in use for float32 convolutions and max pooling; None if NumPy computes them."""
    found = library()
    return None if found is None else f"{found.version} ({found.path})"


def _after_fork() -> None:
    global _forked
    _forked = _forked or library.cache_info().currsize > 0
    library.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
