"""Imported when Python starts, in every process of a traced command: writes each definition of gradtape that runs.

Every definition is written when it runs for the first time, so that processes which end without notice have written
theirs, too.
"""

import os
import sys
import threading
from types import CodeType, FrameType

_folder, _sources = os.environ["GRADTAPE_USED"], os.environ["GRADTAPE_SOURCES"]
_file = os.open(os.path.join(_folder, f"{os.getpid()}.txt"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
_seen: set[CodeType] = set()


def _note(code: CodeType) -> None:
    if code not in _seen:
        _seen.add(code)
        if code.co_filename.startswith(_sources):
            os.write(_file, f"{code.co_filename[len(_sources) :]}:{code.co_firstlineno}\n".encode())


def _called(frame: FrameType, event: str, arg: object) -> None:
    _note(frame.f_code)


def _started(code: CodeType, offset: int) -> object:
    _note(code)
    return sys.monitoring.DISABLE


if sys.version_info >= (3, 12):
    sys.monitoring.use_tool_id(sys.monitoring.PROFILER_ID, "used definitions")
    sys.monitoring.set_events(sys.monitoring.PROFILER_ID, sys.monitoring.events.PY_START)
    sys.monitoring.register_callback(sys.monitoring.PROFILER_ID, sys.monitoring.events.PY_START, _started)
else:
    threading.settrace(_called)  # type: ignore[arg-type]
    sys.settrace(_called)  # type: ignore[arg-type]
