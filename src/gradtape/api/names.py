"""TensorFlow's public names and their locations `module:attribute` (`names.txt`); missing names (`absent_names.txt`).

tools/index_names.py writes both files.
"""

from functools import cache
from pathlib import Path

NAMES: dict[str, str] = dict(
    line.split()  # type: ignore[misc]
    for line in Path(__file__).with_name("names.txt").read_text("utf-8").splitlines()
)


@cache
def absent_names() -> frozenset[str]:
    """Returns TensorFlow's public names that gradtape does not have."""
    return frozenset(Path(__file__).with_name("absent_names.txt").read_text("utf-8").split())
