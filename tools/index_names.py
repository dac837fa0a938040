"""Writes `gradtape/api/names.py`: where each of TensorFlow's public names lives in gradtape.

    python tools/index_names.py

Every module of `gradtape.api`, and `gradtape.autograph.functions`, says in `__all__` what it offers and in `NAMESPACES`
where TensorFlow has those names, the most specific place first; the other places a name has in TensorFlow are in the
recorded table.
"""

import importlib
import json
import pkgutil
from pathlib import Path

import gradtape.api

ROOT = Path(__file__).parent.parent
HEADER = '''"""TensorFlow's public names and where each lives: `module:attribute`. Written by tools/index_names.py."""

NAMES = {
'''


def index(table: dict) -> tuple[dict[str, str], list[str]]:
    """Where each name lives, and what is wrong with the modules of `gradtape.api`."""
    found: dict[str, str] = {}
    wrong: list[str] = []
    modules = [info.name for info in pkgutil.walk_packages(gradtape.api.__path__, "gradtape.api.")]
    for path in [*modules, "gradtape.autograph.functions"]:  # AutoGraph is made of what is in the api, and stands above
        try:
            module = importlib.import_module(path)
        except Exception as error:
            wrong.append(f"{path} does not import: {error}")
            continue
        for name in getattr(module, "__all__", ()) if hasattr(module, "NAMESPACES") else ():
            paths = [f"{space}.{name}".lstrip(".") for space in module.NAMESPACES]
            known = [path for path in paths if path in table]
            first = known[0] if known else paths[0]
            value = table.get(first, {}).get("kind") == "value"  # the table knows the aliases of functions only
            where = f"{path.removeprefix('gradtape.')}:{name}"
            for public in {first, *(known if value else table.get(first, {}).get("same_as", ()))}:
                if found.get(public, where).partition(":")[0] != where.partition(":")[0]:
                    wrong.append(f"{public} is offered by {found[public]} and by {where}")
                found[public] = where
    return found, wrong


def main() -> None:
    table = json.loads((ROOT / "tests/data/tensorflow_api.json").read_text())["names"]
    found, wrong = index(table)
    lines = "".join(f'    "{path}": "{where}",\n' for path, where in sorted(found.items()))
    (ROOT / "src/gradtape/api/names.py").write_text(f"{HEADER}{lines}}}\n")
    missing = sorted(set(table) - set(found))
    print(*wrong, sep="\n")
    print(f"{len(found)} names; {len(missing)} of TensorFlow's are missing: {' '.join(missing)}")


if __name__ == "__main__":
    main()
