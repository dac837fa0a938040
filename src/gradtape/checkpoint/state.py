"""The `checkpoint` state file of a folder, in TensorFlow's text format: lists its checkpoints and the latest one."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..core import errors
from ..state.archive import is_inside, replacing
from ..state.file_systems import join, open_to_read
from . import files

logger = logging.getLogger("gradtape")
_PATH = re.compile(r'^((?:all_)?model_checkpoint_paths?): (".*")$', re.MULTILINE)
_NUMBER = re.compile(r"^(\w+_timestamps?): ([\d.e+-]+)$", re.MULTILINE)


@dataclass
class CheckpointState:
    """The contents of the state file, with full paths."""

    model_checkpoint_path: str
    all_model_checkpoint_paths: list[str] = field(default_factory=list)
    all_model_checkpoint_timestamps: list[float] = field(default_factory=list)
    last_preserved_timestamp: float = 0.0


def write(
    folder: str,
    latest: str,
    paths: Sequence[str],
    timestamps: Sequence[float] = (),
    last_preserved: float | None = None,
    name: str = "checkpoint",
) -> None:
    """Write the state file atomically."""

    def relative(path: str) -> str:
        return json.dumps(os.path.relpath(path, folder or "."))

    lines = [f"model_checkpoint_path: {relative(latest)}"]
    lines += [f"all_model_checkpoint_paths: {relative(path)}" for path in paths]
    lines += [f"all_model_checkpoint_timestamps: {time!r}" for time in timestamps]
    if last_preserved is not None:
        lines.append(f"last_preserved_timestamp: {last_preserved!r}")
    with replacing(join(folder, name)) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())


def read(folder: str, name: str = "checkpoint") -> CheckpointState | None:
    """Read the state file; None if there is none."""
    try:
        with open_to_read(join(folder, name)) as file:
            return _parse_state(file.read().decode(), folder)
    except (errors.NotFoundError, errors.FailedPreconditionError):
        return None
    except (errors.OpError, ValueError) as error:  # as in TensorFlow, a file that cannot be read is ignored
        logger.warning("%s: %s. The file %r is not used", folder, error, name)
        return None


def _parse_state(text: str, folder: str) -> CheckpointState | None:
    found: dict[str, list[str]] = {}
    for key, value in [*_PATH.findall(text), *_NUMBER.findall(text)]:
        found.setdefault(key, []).append(value)

    def whole(quoted: str) -> str:
        name = json.loads(quoted)
        if not isinstance(name, str):
            raise ValueError(f"a path was expected, got {name}")
        os.fsencode(name)  # ValueError for names that no file system allows
        path = os.path.join(folder, name)
        if not is_inside(path, folder):  # a security check: a manager deletes the files listed here
            raise ValueError(f"the checkpoint {name!r} is in another folder")
        return path

    if "model_checkpoint_path" not in found:
        return None
    return CheckpointState(
        whole(found["model_checkpoint_path"][0]),
        [whole(path) for path in found.get("all_model_checkpoint_paths", [])],
        [float(time) for time in found.get("all_model_checkpoint_timestamps", [])],
        float(found.get("last_preserved_timestamp", ["0"])[0]),
    )


def latest(folder: str, name: str = "checkpoint") -> str | None:
    """The path of the latest checkpoint of a folder, or None."""
    found = read(folder, name)
    if found is None or not files.exists(found.model_checkpoint_path):
        return None
    return found.model_checkpoint_path
