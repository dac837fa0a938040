"""Functions of addresses in the middle of a program of XLA, by its foreign function interface.

XLA calls C functions, and a ctypes function is one: `call` makes the program run Python functions on the addresses of
its arrays, each a part of one piece of work, on the threads of XLA. They should let the interpreter lock go and work
for long, as oneDNN's do. The structures below are those of `xla/ffi/api/c_api.h`, which comes with jaxlib.
"""

from __future__ import annotations

import _thread
import ctypes
import itertools
import re
import threading
import time
from collections.abc import Callable, Sequence
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint32, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np

Part = Callable[..., None]

_TARGET = "gradtape_call"
_MAJOR = 0  # version of the interface that has these structures
_METADATA, _INTERNAL = 1, 13  # kinds of an extension and of an error

_works: list[Sequence[Part]] = []  # those in programs, by number
_numbers: dict[int, int] = {}
_numbering = threading.Lock()
_shared: dict[int, _Job] = {}  # what other threads are asked to take part in
_next_number = itertools.count(1).__next__
_here = threading.local()


def _structure(*fields: str | tuple[str, Any]) -> Any:
    """A structure of C: what has no type is a pointer, or as large as one."""
    given = [(field, c_size_t) if isinstance(field, str) else field for field in fields]
    return type("Structure", (ctypes.Structure,), {"_fields_": given})


_Function = ctypes.PYFUNCTYPE(c_size_t, c_void_p)
_Version = _structure("struct_size", "extension", ("major", c_int), ("minor", c_int))
_Api = _structure(
    "struct_size", "extension", ("version", _Version), "internal", ("error_create", _Function),
    ("others", c_size_t * 10), ("schedule", _Function),
)  # fmt: skip
_ErrorArguments = _structure("struct_size", "extension", ("message", c_char_p), ("code", c_int))
_ScheduleArguments = _structure("struct_size", "extension", "context", "task", "data")
_Metadata = _structure("struct_size", ("version", _Version), ("traits", c_uint32))
_Extension = _structure("struct_size", ("kind", c_int), "next", ("metadata", POINTER(_Metadata)))
_Buffer = _structure("struct_size", "extension", "dtype", "data")
_Scalar = _structure("dtype", "value")
_Frame = _structure(
    "struct_size", "extension", ("api", POINTER(_Api)), "context", "stage",
    "arguments_size", "arguments_extension", "count", "argument_kinds", "arguments",
    "results_size", "results_extension", "result_count", "result_kinds", "results",
    "attributes_size", "attributes_extension", "attribute_count", "attribute_kinds", "attribute_names", "attributes",
)  # fmt: skip


def _word(place: int) -> int:
    """What a pointer points to."""
    return c_size_t.from_address(place).value


class _Job:
    """A piece of work in parts: whoever comes takes the next one. `done` can be acquired when all are finished."""

    def __init__(self, parts: Sequence[Part], places: Sequence[int]) -> None:
        self.places = places
        self.waiting = list(parts)
        self.helpers: list[None] = []  # one for each thread that is at it, beside the first
        self.errors: list[Exception] = []
        self.done = threading.Lock()
        self.done.acquire()
        self._left = itertools.count(len(parts) - 1, -1).__next__

    def work(self) -> None:
        """Does parts until none is left."""
        while self.waiting:
            try:
                part = self.waiting.pop()
            except IndexError:
                return  # another thread has taken the last one
            try:
                part(*self.places)
            except Exception as error:
                self.errors.append(error)
            if not self._left():
                self.done.release()

    def stop(self) -> None:
        """Returns when nobody is at it any more."""
        self.waiting.clear()
        while self.helpers:
            time.sleep(1e-4)


def _keep_thread() -> None:
    """Python makes a state for a thread of XLA and gives it up when the call ends: this keeps it."""
    if not hasattr(_here, "known"):
        _here.known = ctypes.pythonapi.PyGILState_Ensure()


@ctypes.CFUNCTYPE(None, c_void_p)
def _help(number: int) -> None:
    """What another thread of XLA does when it is asked to take part: nothing, if it comes late."""
    _keep_thread()
    job = _shared.pop(number)
    job.helpers.append(None)
    job.work()
    job.helpers.pop()


_HELP = ctypes.cast(_help, c_void_p).value


@ctypes.CFUNCTYPE(c_void_p, c_void_p)
def _called(frame_at: int) -> int | None:
    """What XLA calls: when the function is registered, and for each run of a `call`."""
    frame = _Frame.from_address(frame_at)
    try:
        if frame.extension and _Extension.from_address(frame.extension).kind == _METADATA:
            _introduce(frame)
            return None
        _keep_thread()
        buffers = [*(_word(frame.arguments + 8 * i) for i in range(frame.count)), _word(frame.results)]
        places = [_word(buffer + _Buffer.data.offset) for buffer in buffers]
        parts = _works[_word(_word(_word(frame.attributes) + _Scalar.value.offset))]
        try:
            _run(frame, parts, places)
        except KeyboardInterrupt:  # which XLA knows nothing of: it comes again when the program is done
            for part in parts:
                part(*places)
            _thread.interrupt_main()
        return None
    except BaseException as error:
        message = f"{type(error).__name__}: {error}".encode()
        arguments = _ErrorArguments(ctypes.sizeof(_ErrorArguments), 0, message, _INTERNAL)
        return int(frame.api[0].error_create(ctypes.addressof(arguments)))


def _run(frame: Any, parts: Sequence[Part], places: Sequence[int]) -> None:
    """All parts, with the help of XLA's other threads."""
    if len(parts) == 1:
        parts[0](*places)
        return
    job = _Job(parts, places)
    try:
        for _ in parts[1:]:
            _ask_for_help(frame, job)
        job.work()
        job.done.acquire()
    except BaseException:
        job.stop()
        raise
    if job.errors:
        raise job.errors[0]


def _ask_for_help(frame: Any, job: _Job) -> None:
    number = _next_number()
    _shared[number] = job
    arguments = _ScheduleArguments(ctypes.sizeof(_ScheduleArguments), 0, frame.context, _HELP, number)
    if frame.api[0].schedule(ctypes.addressof(arguments)):
        del _shared[number]  # there is no other thread


def _introduce(frame: Any) -> None:
    """Says which version of the interface this is written for."""
    version = _Extension.from_address(frame.extension).metadata[0].version
    version.major, version.minor = _MAJOR, _minor()


@cache
def _minor() -> int:
    """The minor version of the interface, as jaxlib's header says; -1 if this module does not know it."""
    text = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h").read_text()
    versions = dict(re.findall(r"#define XLA_FFI_API_(MAJOR|MINOR) (\d+)", text))
    functions = re.findall(r"_STRUCT_FIELD\(XLA_FFI_(\w+)\);", text)
    known = functions[:1] == ["Error_Create"] and functions[11:12] == ["ThreadPool_Schedule"]
    return int(versions["MINOR"]) if known and versions.get("MAJOR") == str(_MAJOR) else -1


@cache
def usable() -> bool:
    """Whether programs can call: they run on the CPU, with an interface that this module knows."""
    try:
        if jax.default_backend() != "cpu" or _minor() < 0:
            return False
        jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(_called), platform="cpu")
    except Exception:
        return False
    return True


def call(parts: Sequence[Part], result: jax.ShapeDtypeStruct, *arrays: Any) -> Any:
    """What all of `part(*addresses, address of the result)` write; the parts are kept as long as the process lives."""
    with _numbering:
        number = _numbers.setdefault(id(parts), len(_works))
        if number == len(_works):
            _works.append(parts)
    return jax.ffi.ffi_call(_TARGET, result)(*arrays, number=np.int64(number))
