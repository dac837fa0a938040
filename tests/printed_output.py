"""Compares what a program prints on gradtape with what it printed under TensorFlow."""

import math
import re

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")


def difference(printed: str, expected: str, tolerance: float = 1e-4) -> str | None:
    """Returns the first line that differs by more than spaces and the rounding of numbers, beside TensorFlow's."""
    lines, expected_lines = printed.splitlines(), expected.splitlines()
    for line, expected_line in zip(lines, expected_lines, strict=False):
        if not _are_alike(line, expected_line, tolerance):
            return f"{line}\nTensorFlow: {expected_line}"
    if len(lines) != len(expected_lines):
        return f"{len(lines)} lines\nTensorFlow: {len(expected_lines)} lines"
    return None


def _are_alike(line: str, expected: str, tolerance: float) -> bool:
    return _words(line) == _words(expected) and all(
        math.isclose(float(a), float(b), rel_tol=tolerance, abs_tol=tolerance)
        for a, b in zip(NUMBER.findall(line), NUMBER.findall(expected), strict=True)
    )


def _words(line: str) -> str:
    """Returns a line without its numbers, and without the spaces that depend on their width."""
    return re.sub(r"\s+", "", NUMBER.sub("#", line))
