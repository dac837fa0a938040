"""What of a test is private to TensorFlow: the rule is in `__main__.py`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from machinery import COUNTERPARTS, MACHINERY, OWN_FILES

PYTHON = "tensorflow.python."
LIKE = "like "  # before the public name of what is only called like it
NOT_ASKED = (
    "Graph", "Operation", "compat.v1.Session", "compat.v1.Graph", "compat.v1.train.Saver", "compat.v1.ConfigProto",
    "distribute.Server", "compat.v1.distribute.StrategyExtended", "compat.v1.placeholder",
)  # fmt: skip
PROTOCOL = ("_type_spec", "_to_components", "_from_components", "_component_specs")
ALWAYS = ("setUp", "setUpClass", "tearDown")
KIND_ASKED = ("isinstance", "assertIsInstance", "assertNotIsInstance", "assertAllIsInstance")


class Source:
    """The text of a test file, and what its tests reach in it."""

    def __init__(self, path: Path, names: dict[str, str | None], support: Source | None = None) -> None:
        self.names, self.support = names, support
        tree = ast.parse(path.read_text())
        self.aliases = aliases_of(tree)
        self.defined = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}

    def bases(self, owner: str) -> Iterator[tuple[Source, str]]:
        """A class and those it is made of, as far as they are in files that are read; what others are, is a name."""
        node = self.defined[owner]
        assert isinstance(node, ast.ClassDef)
        yield self, owner
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id in self.defined:
                yield from self.bases(base.id)
            elif isinstance(base, ast.Attribute) and self.support and base.attr in self.support.defined:
                yield from self.support.bases(base.attr)

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
                    for part in (*decorators, *each.body):
                        source._look(part, classes, found, seen)
                    return

    def _look(self, node: ast.AST, classes: list[tuple[Source, str]], found: set[str], seen: set[int]) -> None:
        """Adds what is private in `node`, and in what it names."""
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in KIND_ASKED:
            self._look(node.func, classes, found, seen)
            self._look(node.args[0], classes, found, seen)
            return
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            holder = node.value.id
            if holder in ("self", "cls"):
                self._method(node.attr, classes, found, seen)
                return
            if holder in self.aliases:
                self._named(f"{self.aliases[holder]}.{node.attr}", found)
                return
        if isinstance(node, ast.Attribute) and _is_private(node.attr) and node.attr not in PROTOCOL:
            found.add(f".{node.attr}")
        if isinstance(node, ast.Name) and node.id in self.aliases:
            self._named(self.aliases[node.id], found)
        if isinstance(node, ast.Name) and id(named := self.defined.get(node.id)) not in seen and named is not None:
            seen.add(id(named))
            self._look(named, classes, found, seen)
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
        replaced = leaf in MACHINERY.get(module, ()) or module in OWN_FILES or f"{module}.{leaf}" in COUNTERPARTS
        if not replaced and (public is None or public in NOT_ASKED or _is_private(leaf)):
            found.add(name.removeprefix(PYTHON))


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


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
