"""The house: every folder has its floor, and imports point to the same folder or to a lower floor.

Imports inside functions count, and so do `import gradtape` and `importlib.import_module("gradtape...")`.
"""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"

# From the ground up. A folder that is not listed belongs to the nearest one above it that is.
FLOORS = """
gradtape.backends gradtape.backends.numpy
gradtape.core
gradtape.engine.run gradtape.engine.registry gradtape.engine.tape
gradtape.ops
gradtape.state
gradtape.graph.ir gradtape.graph.passes gradtape.graph.executors gradtape.graph.trace gradtape.graph.control_flow
gradtape.graph.function
gradtape.datasets gradtape.checkpoints gradtape.inspect
gradtape.api
gradtape.autograph
gradtape.extend
gradtape
keras_gradtape gradtape.keras
gradtape.cli gradtape.__main__
""".split()

# The front door loads what stands above it when it is first asked for: Keras.
DOORS = {("gradtape", "gradtape.keras"), ("gradtape", "keras_gradtape")}

MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(SOURCE.glob("*gradtape/**/*.py"))
}


def floor_of(module: str) -> str:
    while module not in FLOORS:
        module = module.rpartition(".")[0]
    return module


def imports(module: str, source: str, is_package: bool) -> set[str]:
    """The modules of ours that a module imports, anywhere in its source."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            found |= {path if (path := f"{origin}.{alias.name}") in MODULES else origin for alias in node.names}
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module":
            found |= {argument.value for argument in node.args if isinstance(argument, ast.Constant)}
    return {name for name in found if name in MODULES and name != module}


def upward(module: str, imported: set[str]) -> list[str]:
    """Which of the imported modules stand on a higher floor."""
    mine = floor_of(module)
    return sorted(
        other
        for other in imported
        if FLOORS.index(floor_of(other)) > FLOORS.index(mine) and (mine, floor_of(other)) not in DOORS
    )


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_downward(module):
    path = MODULES[module]
    assert not upward(module, imports(module, path.read_text(), path.name == "__init__.py"))


def test_no_two_folders_import_each_other():
    """Folders of one floor, those of the api, may use each other, but not in a circle."""
    arrows: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        folder = module if path.name == "__init__.py" else module.rpartition(".")[0]
        for other in imports(module, path.read_text(), path.name == "__init__.py"):
            target = other if MODULES[other].name == "__init__.py" else other.rpartition(".")[0]
            if target != folder and folder.startswith("gradtape.") and target.startswith("gradtape."):
                arrows.setdefault(folder, set()).add(target)

    def reached(start):
        seen, waiting = set(), [start]
        while waiting:
            new = arrows.get(waiting.pop(), set()) - seen
            seen |= new
            waiting += new
        return seen

    assert not [folder for folder in arrows if folder in reached(folder)]


@pytest.mark.parametrize(
    "line",
    [
        "def f():\n    from ..graph.ir import graph",
        "def f():\n    import gradtape",
        "import importlib\ndef f():\n    return importlib.import_module('gradtape.inspect')",
        "from ..engine.tape import tape",
    ],
)
def test_an_arrow_back_up_is_seen(line):
    """The guard itself: an import of each kind, put into a low room, is found."""
    assert upward("gradtape.core.tensor", imports("gradtape.core.tensor", line, False))


def test_every_folder_says_what_lives_there():
    for folder in {path.parent for path in MODULES.values()}:
        assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text())), folder


def test_no_folder_is_too_wide():
    for folder in {path.parent for path in MODULES.values()}:
        assert len(list(folder.glob("*.py"))) <= 36, folder
