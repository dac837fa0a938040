"""Hooks for PyInstaller, which finds them by the entry point `pyinstaller40` and runs them when it freezes a program.

They name what PyInstaller cannot see: modules that are imported by name when they are first used, and data files.
"""

from __future__ import annotations

import os


def hook_folders() -> list[str]:
    """Returns the folders with hooks."""
    return [os.path.dirname(__file__)]
