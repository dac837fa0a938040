"""The metadata of the package `tensorflow` under `gradtape run`, for `importlib.metadata`.

Libraries such as transformers look for an installed TensorFlow by its metadata before they import it. The import hook
returns this distribution from `find_distributions`, the protocol of `importlib.metadata` for finders.
"""

from __future__ import annotations

import re
from importlib.metadata import Distribution
from pathlib import Path

import gradtape

NAME = "tensorflow"


class TensorFlowDistribution(Distribution):
    """The installed package `tensorflow`: its name and version, without files of its own."""

    def read_text(self, filename: str) -> str | None:
        """Returns the text of a file of the `.dist-info` folder."""
        return {
            "METADATA": (
                f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {gradtape.version.VERSION}\n"
                "Summary: TensorFlow's names, served by gradtape.\n"
            ),
            "top_level.txt": f"{NAME}\n",
        }.get(filename)

    def locate_file(self, path: object) -> Path:
        """Returns where a file of the package would be: in gradtape's folder."""
        return Path(gradtape.__file__).parent / str(path)


def distributions(name: str | None) -> list[Distribution]:
    """Returns the distribution if `name` is TensorFlow's, in any spelling, or None, which asks for all."""
    if name is None or re.sub(r"[-_.]+", "-", name).lower() == NAME:
        return [TensorFlowDistribution()]
    return []
