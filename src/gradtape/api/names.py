"""TensorFlow's public names and where each lives, `module:attribute`: `names.txt`, written by tools/index_names.py."""

from pathlib import Path

NAMES: dict[str, str] = dict(
    line.split()  # type: ignore[misc]
    for line in Path(__file__).with_name("names.txt").read_text("utf-8").splitlines()
)
