"""What of a test is private to TensorFlow.

A test *relies on private APIs*, whatever came of it here, if the text of its method, its parameters, or what it
reaches in its file or in those of `OWN_FILES` by name (functions, classes, values, methods of `self`, `setUp`), has one
of these:

- a name of a module of TensorFlow's that is not found in `tf` or `tf.compat.v1`, is no function of a generated module
  whose op is in `tf.raw_ops`, is not called like a function of their roots, is no part of the replaced machinery
  (`MACHINERY`), stands for nothing that a public name does as well (`COUNTERPARTS`), and is not only asked whether
  something is of that kind, in `isinstance` or `assertIsInstance`;
- an attribute with an underscore of anything but `self`, unless a `tf.TypeSpec` of one's own has to have it
  (`PROTOCOL`), or a method with an underscore of a class of TensorFlow's that a class of the file defines anew, as
  those of a strategy of one's own;
- TensorFlow 1's sessions, savers and graphs, or servers (`NOT_ASKED`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from machinery import COUNTERPARTS, HELPER_FILES, MACHINERY, OWN_FILES

PYTHON = "tensorflow.python."
LIKE = "like "  # before the public name of what is only called like it
SUPPORT = (*OWN_FILES, *HELPER_FILES)  # files that tests share, which are run as they are
NOT_ASKED = (
    "Graph", "Operation", "compat.v1.Session", "compat.v1.Graph", "compat.v1.train.Saver", "compat.v1.ConfigProto",
    "distribute.Server", "compat.v1.distribute.StrategyExtended", "compat.v1.placeholder",
)  # fmt: skip
PROTOCOL = ("_type_spec", "_to_components", "_from_components", "_component_specs")
ALWAYS = ("setUp", "setUpClass", "tearDown")
KIND_ASKED = ("isinstance", "assertIsInstance", "assertNotIsInstance", "assertAllIsInstance")


class Source:
    """The text of a test file, and what its tests reach in it."""

    def __init__(self, path: Path, names: dict[str, str | None], sources: Path | None = None) -> None:
        self.names = names
        tree = ast.parse(path.read_text())
        self.aliases = aliases_of(tree)
        own = {} if sources is None else own_modules(self.aliases)
        self.is_helper = sources is not None and any(path == file_of(sources, PYTHON + name) for name in HELPER_FILES)
        self.support = {alias: Source(file_of(sources, name), names, sources) for alias, name in own.items() if sources}
        self.defined = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assigned = [(name, node.value) for node in tree.body if isinstance(node, ast.Assign) for name in node.targets]
        self.assigned = {name.id: value for name, value in assigned if isinstance(name, ast.Name)}

    def bases(self, owner: str) -> Iterator[tuple[Source, str]]:
        """A class and those it is made of, as far as they are in files that are read; what others are, is a name."""
        node = self.defined[owner]
        assert isinstance(node, ast.ClassDef)
        yield self, owner
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id in self.defined:
                yield from self.bases(base.id)
            elif isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name):
                support = self.support.get(base.value.id)
                if support is not None and isinstance(support.defined.get(base.attr), ast.ClassDef):
                    yield from support.bases(base.attr)

    def private(self, owner: str, method: str) -> list[str]:
        """What the test `owner.method` uses that is private."""
        found: set[str] = set()
        seen: set[int] = set()
        classes = list(self.bases(owner))
        for source, name in classes:
            node: Any = source.defined[name]
            for base in node.bases:
                source._look(base, classes, found, seen)
        for name in (method, *ALWAYS):
            self._method(name, classes, found, seen)
        return sorted(found)

    def _method(self, name: str, classes: list[tuple[Source, str]], found: set[str], seen: set[int]) -> None:
        for source, owner in classes:
            node: Any = source.defined[owner]
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and each.name == name and id(each) not in seen:
                    seen.add(id(each))
                    decorators = [d for d in each.decorator_list if isinstance(d, ast.Name)]  # those of the file
                    for part in (*decorators, *map(_parameters, each.decorator_list), *each.body):
                        source._look(part, classes, found, seen)
                    return

    def _look(self, node: ast.AST, classes: list[tuple[Source, str]], found: set[str], seen: set[int]) -> None:
        """Adds what is private in `node`, and in what it names; a helper file is not asked."""
        if self.is_helper:
            return
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in KIND_ASKED:
            self._look(node.func, classes, found, seen)
            self._look(node.args[0], classes, found, seen)
            return
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            holder = node.value.id
            if holder in ("self", "cls"):
                self._method(node.attr, classes, found, seen)
                return
            if holder in self.support:
                support = self.support[holder]
                named = support.defined.get(node.attr)
                if named is not None and id(named) not in seen:
                    seen.add(id(named))
                    support._look(named, classes, found, seen)
                return
            if holder in self.aliases:
                self._named(f"{self.aliases[holder]}.{node.attr}", found)
                return
        if isinstance(node, ast.Attribute) and _is_private(node.attr) and node.attr not in PROTOCOL:
            found.add(f".{node.attr}")
        if isinstance(node, ast.Name) and node.id in self.aliases:
            self._named(self.aliases[node.id], found)
        if isinstance(node, ast.Name):
            reached = self.defined.get(node.id) or self.assigned.get(node.id)
            if reached is not None and id(reached) not in seen:
                seen.add(id(reached))
                self._look(reached, classes, found, seen)
        if isinstance(node, ast.ClassDef) and any(self._of_tensorflow(base) for base in node.bases):
            methods = [each.name for each in node.body if isinstance(each, ast.FunctionDef)]
            found |= {f"def {name}" for name in methods if _is_private(name)}
        for child in ast.iter_child_nodes(node):
            self._look(child, classes, found, seen)

    def _of_tensorflow(self, base: ast.AST) -> bool:
        known = isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name) and base.value.id in self.aliases
        return known and base.attr != "TestCase"  # type: ignore[attr-defined]

    def _named(self, name: str, found: set[str]) -> None:
        public = self.names.get(name)
        module, _, leaf = name.removeprefix(PYTHON).rpartition(".")
        replaced = leaf in MACHINERY.get(module, ()) or module in SUPPORT or f"{module}.{leaf}" in COUNTERPARTS
        if not replaced and (public is None or public in NOT_ASKED or _is_private(leaf)):
            found.add(name.removeprefix(PYTHON))


def _parameters(decorator: ast.AST) -> ast.AST:
    """The values that a decorator of absl's `parameterized` gives a test."""
    named = isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute) and decorator.func.value
    is_given = isinstance(named, ast.Name) and named.id == "parameterized"
    return decorator if is_given else ast.Pass()


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def own_modules(aliases: dict[str, str]) -> dict[str, str]:
    """Those of the modules that a file imports that are support files."""
    return {alias: name for alias, name in aliases.items() if name.removeprefix(PYTHON) in SUPPORT}


def file_of(sources: Path, module: str) -> Path:
    """The file of a module in TensorFlow's sources."""
    return sources / (module.replace(".", "/") + ".py")


def support_files(path: Path, sources: Path) -> dict[str, Path]:
    """The support files that a test file needs, with those that they need, by the names of their modules."""
    found: dict[str, Path] = {}
    waiting = [path]
    while waiting:
        for name in own_modules(aliases_of(ast.parse(waiting.pop().read_text()))).values():
            if name not in found:
                found[name] = file_of(sources, name)
                waiting.append(found[name])
    return found


def aliases_of(tree: ast.AST) -> dict[str, str]:
    """What a file calls the modules, and things, that it imports from TensorFlow."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in nodes
        if (node.module or "").startswith("tensorflow")
        for alias in node.names
    }


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """Each name that a file imports from TensorFlow, or uses of a module that it imports, and the module it is of."""
    tree = ast.parse(path.read_text())
    aliases = aliases_of(tree)
    for name in aliases.values():
        yield name.rpartition(".")[0], name.rpartition(".")[2]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            yield aliases[node.value.id], node.attr


def method_of(source: Source, test: str) -> tuple[str, str]:
    """The class and the method in the file of a test, whose name has a combination behind it."""
    owner, _, title = test.partition(".")
    methods = [
        each.name
        for known, name in source.bases(owner)
        for each in getattr(known.defined[name], "body", [])
        if isinstance(each, ast.FunctionDef) and title.startswith(each.name)
    ]
    return owner, max(methods, key=len, default=title)
