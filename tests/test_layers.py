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
gradtape.distribution
gradtape.api
gradtape.autograph
gradtape.extend
gradtape
keras_gradtape
gradtape.keras
gradtape.cli.private
gradtape.cli gradtape.__main__
""".split()

# What stands above the front door and is loaded through it, when somebody asks for it: Keras.
DOORS = {("gradtape", "gradtape.keras"), ("gradtape", "keras_gradtape.loader")}

MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(SOURCE.glob("*gradtape/**/*.py"))
}


def floor_of(module: str) -> str:
    while module not in FLOORS:
        module = module.rpartition(".")[0]
    return module


def imports(module: str, source: str, is_package: bool) -> set[str]:
    """The modules of ours that a module imports, anywhere in its source but where only type checkers look."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    found = set()
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if not _for_type_checkers(node)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            found |= {path if (path := f"{origin}.{alias.name}") in MODULES else origin for alias in node.names}
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module":
            found |= {argument.value for argument in node.args if isinstance(argument, ast.Constant)}
    return {name for name in found if name in MODULES and name != module}


def _for_type_checkers(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"


def upward(module: str, imported: set[str]) -> list[str]:
    """Which of the imported modules stand on a higher floor."""
    mine = floor_of(module)
    return sorted(
        other
        for other in imported
        if FLOORS.index(floor_of(other)) > FLOORS.index(mine) and (module, other) not in DOORS
    )


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_downward(module):
    path = MODULES[module]
    assert not upward(module, imports(module, path.read_text(), path.name == "__init__.py"))


def test_only_the_stand_in_serves_the_private_modules():
    """What TensorFlow keeps to itself is there for libraries that ask for it, not for gradtape."""
    private = {module for module in MODULES if module.startswith("gradtape.cli.private")}
    users = {module for module, others in ARROWS.items() if others & private and module not in private}
    assert users == {"gradtape.cli.stand_in"}


def in_circles(arrows: dict[str, set[str]]) -> list[str]:
    """The beginnings of arrows from which arrows lead back to them."""

    def reached(start):
        seen, waiting = set(), [start]
        while waiting:
            new = arrows.get(waiting.pop(), set()) - seen
            seen |= new
            waiting += new
        return seen

    return [start for start in arrows if start in reached(start)]


ARROWS = {
    module: imports(module, path.read_text(), path.name == "__init__.py")
    - {other for door, other in DOORS if door == module}
    for module, path in MODULES.items()
}


def test_no_two_folders_import_each_other():
    """Folders of one floor, those of the api, may use each other, but not in a circle."""

    def folder_of(module):
        return module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]

    arrows: dict[str, set[str]] = {}
    for module, others in ARROWS.items():
        targets = {folder for other in others if (folder := folder_of(other)).startswith("gradtape.")}
        if folder_of(module).startswith("gradtape."):
            arrows.setdefault(folder_of(module), set()).update(targets - {folder_of(module)})
    assert not in_circles(arrows)


def test_no_two_files_import_each_other():
    assert not in_circles(ARROWS)


def test_a_circle_is_seen():
    assert in_circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == ["b", "c"]


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
        assert len(list(folder.glob("*.py"))) <= 24, folder
