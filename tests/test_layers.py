"""The layers: imports point to the same package or to a lower one, and nothing is patched at run time.

Imports inside functions count, and so do `import gradtape` and `importlib.import_module("gradtape...")`. The places
that still patch something, read frames or rewrite objects are listed with their reasons; the lists may only shrink.
"""

import ast
import importlib
import pickle
from functools import cache
from typing import NamedTuple

import pytest
from layers import LAYERS, is_below_the_api, layer_of
from source_modules import MODULES, imports, is_package, syntax_tree

from gradtape.api.names import NAMES
from gradtape.api.namespace import PACKAGES, spaces
from gradtape.core.extension_points import ExtensionPoint

OURS = ("gradtape.", "gradtape_tensorflow.")

# What gradtape's extension points name of the annex. Nothing else in gradtape knows of it but the index of names.
ANNEX = (
    "gradtape_tensorflow.graph_defs.presentation",
    "gradtape_tensorflow.protos.generated",
    "gradtape_tensorflow.stand_in",
)

# Modules of higher layers that are imported when they are first used: Keras, and the public names `load_tape` and
# `LoadedTape` of `gradtape.inspect`, which is both a layer and a public namespace.
LAZY_IMPORTS = {
    ("gradtape", "gradtape.keras"),
    ("gradtape", "keras_gradtape.loader"),
    *(("gradtape", module) for module in ANNEX),
    ("gradtape.inspect", "gradtape.api.debugging.recordings"),
}


def upward(module: str, imported: set[str]) -> list[str]:
    """The imported modules that belong to a higher layer."""
    mine = layer_of(module)
    return sorted(
        other
        for other in imported
        if LAYERS.index(layer_of(other)) > LAYERS.index(mine) and (module, other) not in LAZY_IMPORTS
    )


class Facts(NamedTuple):
    """What the tests ask about a module. The syntax trees of all modules would take too much memory to be kept."""

    imports: set[str]
    patches: tuple[set, set, bool]
    global_statements: int
    has_docstring: bool
    classes: list[str]


@cache
def facts() -> dict[str, Facts]:
    found = {}
    for module in MODULES:
        tree = syntax_tree(module)
        nodes = list(ast.walk(tree))
        classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
        found[module] = Facts(
            imports(module, tree),
            patches(module, nodes),
            global_statements(nodes),
            bool(ast.get_docstring(tree)),
            classes,
        )
    return found


def test_imports_point_downward():
    found = {module: upward(module, known.imports) for module, known in facts().items()}
    assert not {module: others for module, others in found.items() if others}


def test_only_the_stand_in_serves_the_private_modules():
    """What TensorFlow keeps to itself is there for libraries that ask for it, not for gradtape."""
    private = {module for module in MODULES if module.startswith("gradtape_tensorflow.python")}
    users = {module for module, known in facts().items() if known.imports & private and module not in private}
    assert users == {"gradtape_tensorflow.stand_in"}


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


def eager_imports() -> dict[str, set[str]]:
    return {
        module: known.imports - {other for importer, other in LAZY_IMPORTS if importer == module}
        for module, known in facts().items()
    }


def test_no_two_folders_import_each_other():
    """Packages of one layer, those of the api, may use each other, but not in a circle."""

    def folder_of(module):
        """A folder, or its public files; a namespace in one file is a folder of its own."""
        folder = module if is_package(module) else module.rpartition(".")[0]
        return (module if folder == "gradtape.api" else folder, layer_of(module))

    arrows: dict[str, set[str]] = {}
    for module, others in eager_imports().items():
        targets = {folder for other in others if (folder := folder_of(other))[0].startswith(OURS)}
        if folder_of(module)[0].startswith(OURS):
            arrows.setdefault(folder_of(module), set()).update(targets - {folder_of(module)})
    assert not in_circles(arrows)


def test_no_two_files_import_each_other():
    assert not in_circles(eager_imports())


def test_a_circle_is_seen():
    assert in_circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == ["b", "c"]


@pytest.mark.parametrize(
    "line",
    [
        "def f():\n    from ..graph.ir import graph",
        "def f():\n    import gradtape",
        "import importlib\ndef f():\n    return importlib.import_module('gradtape.inspect')",
        "from ..engine.tape import tape",
        "from gradtape_tensorflow.v1 import gfile",
    ],
)
def test_an_arrow_back_up_is_seen(line):
    """The guard itself: an import of each kind, put into a low layer, is found."""
    assert upward("gradtape.core.tensor", imports("gradtape.core.tensor", ast.parse(line)))


def test_a_namespace_with_a_folder_is_its_package():
    """Its `__init__`, which is not run, has a docstring only, and its files, which are internal, no public names."""
    root = MODULES["gradtape"].parent
    assert set(PACKAGES) == {space for space in spaces() if (root / space.replace(".", "/") / "__init__.py").exists()}
    for space in PACKAGES:
        (docstring,) = syntax_tree(f"gradtape.{space}").body
        assert isinstance(docstring, ast.Expr)
        inside = {module.removeprefix("gradtape.") for module in MODULES if module.startswith(f"gradtape.{space}.")}
        assert not inside & {*NAMES, *spaces()}


@pytest.mark.parametrize("space", PACKAGES)
def test_files_of_a_namespace_are_imported_but_not_listed(space):
    module = importlib.import_module(f"gradtape.{space}")
    names = dir(module)
    files = [name for name in MODULES if name.rpartition(".")[0] == module.__name__]
    for name in files:
        assert importlib.import_module(name).__name__ == name
    assert dir(module) == module.__all__ == names
    assert pickle.loads(pickle.dumps(module)) is module


def test_every_folder_says_what_lives_there():
    for module in filter(is_package, MODULES):
        assert facts()[module].has_docstring, module
    assert all((path.parent / "__init__.py").exists() for path in MODULES.values())


def test_no_folder_is_too_wide():
    for folder in {path.parent for path in MODULES.values()}:
        assert len(list(folder.glob("*.py"))) <= 24, folder


# What may not be done at run time. Each table lists where it still is, with the reason.

REWRITTEN_OBJECTS = {
    ("keras_gradtape.adaptations", "__bases__"): "Keras' optimizer gets a base class of another backend",
}
FRAME_READERS = {
    "gradtape_tensorflow.python": "TensorFlow's private API has functions that do",
    "gradtape_tensorflow.python.util.tf_decorator": "TensorFlow's private API has functions that do",
    "gradtape.engine.run.source_lines": "the line of the user's program that an op belongs to, and who reads a value",
}


# Functions that assign variables of their module. State that functions change belongs to an object: a `Mode`, an
# extension point, or a class of its own.
GLOBAL_STATEMENTS = {
    "gradtape_tensorflow.python.util.deprecation": "TensorFlow's private API has this module variable",
    "gradtape.core.modes": "op runners read `active` on every call: a module variable is the fastest to read",
}


def imported_modules(module: str, nodes: list[ast.AST]) -> dict[str, str]:
    """The modules of ours that a module has as variables, by the names of these."""
    package = module.split(".") if is_package(module) else module.split(".")[:-1]
    found = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            found |= {a.asname or a.name: path for a in node.names if (path := f"{origin}.{a.name}") in MODULES}
        elif isinstance(node, ast.Import):
            found |= {a.asname: a.name for a in node.names if a.asname and a.name in MODULES}
    return found


def patches(module: str, nodes: list[ast.AST]) -> tuple[set, set, bool]:
    """The objects that a module rewrites, the attributes of other modules that it assigns, whether it reads frames."""
    others = imported_modules(module, nodes)
    rewritten, assigned, reads_frames = set(), set(), False
    for node in nodes:
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = [node.target]
        else:
            targets = []
        for target in targets:
            if not isinstance(target, ast.Attribute):
                continue
            owner = getattr(target.value, "id", None)
            if target.attr in ("__code__", "__class__", "__bases__"):
                rewritten.add((module, target.attr))
            elif owner in others:
                assigned.add((module, f"{others[owner]}.{target.attr}"))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setattr":
            owner, name = getattr(node.args[0], "id", None), getattr(node.args[1], "value", None)
            if name in ("__code__", "__class__", "__bases__"):
                rewritten.add((module, name))
            elif owner in others:
                assigned.add((module, f"{others[owner]}.{name}"))
        reads_frames |= isinstance(node, ast.Attribute) and node.attr in ("_getframe", "f_back", "currentframe")
    return rewritten, assigned, reads_frames


def test_nothing_is_patched_at_run_time():
    found = {module: known.patches for module, known in facts().items()}
    assert set().union(*(rewritten for rewritten, _, _ in found.values())) == set(REWRITTEN_OBJECTS)
    assert not {"__class__", "__code__"} & {attribute for _, attribute in REWRITTEN_OBJECTS}  # without exceptions
    assert not set().union(*(assigned for _, assigned, _ in found.values()))  # without exceptions
    assert {module for module, (_, _, reads_frames) in found.items() if reads_frames} == set(FRAME_READERS)


@pytest.mark.parametrize(
    "line",
    [
        "def f(x):\n    x.__class__ = int",
        "def f(g):\n    setattr(g, '__code__', f.__code__)",
        "from ..engine.run import dispatch\ndispatch.run = print",
        "from ..engine.run import dispatch as d\nd.active += 1",
        "from ..engine.run import dispatch\nsetattr(dispatch, 'run', print)",
        "import sys\ndef f():\n    return sys._getframe(1).f_locals",
    ],
)
def test_a_patch_is_seen(line):
    assert any(patches("gradtape.core.tensor", list(ast.walk(ast.parse(line)))))


def global_statements(nodes: list[ast.AST]) -> int:
    return sum(isinstance(node, ast.Global) for node in nodes)


def test_functions_assign_no_module_variables():
    assert {module for module, known in facts().items() if known.global_statements} == set(GLOBAL_STATEMENTS)
    source = "hook = None\ndef install(f):\n    global hook\n    hook = f"
    assert global_statements(list(ast.walk(ast.parse(source)))) == 1


def test_an_extension_point_without_an_implementation_says_so():
    point = ExtensionPoint("convert_function")
    with pytest.raises(RuntimeError, match="convert_function is not installed"):
        point()
    point.install(lambda: 1)
    assert point() == 1


def test_reference_counts_are_read_in_one_module():
    """They decide whether a value is updated in place: see `is_exclusive`."""
    found = [module for module, path in MODULES.items() if "getrefcount(" in path.read_text()]
    assert found == ["gradtape.state.storage"]


def test_classes_below_the_api_have_names_of_their_own():
    """A reader searches for a class by its name. What is private to a module may be called as elsewhere."""
    defined: dict[str, list[str]] = {}
    for module, known in facts().items():
        if is_below_the_api(module):
            for name in known.classes:
                if not name.startswith("_"):
                    defined.setdefault(name, []).append(module)
    assert not {name: modules for name, modules in defined.items() if len(modules) > 1}
