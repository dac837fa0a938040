"""`tensorflow.python.platform.resource_loader`: files beside the module that calls."""

from __future__ import annotations

import os
import sys
import traceback


def get_data_files_path() -> str:
    """Returns the folder of the calling module."""
    return os.path.dirname(traceback.extract_stack(limit=2)[0].filename)


def get_path_to_datafile(path: str) -> str:
    """Returns a path relative to the folder of the calling module."""
    return os.path.join(os.path.dirname(traceback.extract_stack(limit=2)[0].filename), path)


def load_resource(path: str) -> bytes:
    """Returns the contents of a file."""
    with open(path, "rb") as file:
        return file.read()


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """Returns the path."""
    return path


def get_root_dir_with_all_resources() -> str:
    """Returns the folder of the program."""
    return os.path.dirname(os.path.abspath(sys.argv[0]))
