"""TensorFlow's public names and where each lives: `module:attribute`. Written by tools/index_names.py."""

NAMES: dict[str, str] = {}
