"""Static analysis of the TensorFlow names that a program uses, on its syntax tree; nothing is executed.

A scope maps its names to TensorFlow paths, independently of statement order: `tf` to `tensorflow`, `K` to
`tf.keras.backend` after `K = tf.keras.backend`. Names bound to other values shadow those of enclosing scopes. Function
bodies are analyzed when the enclosing scope is complete, as Python would run them.

A name that is only ever assigned instances of one class, such as `ds` in `ds = tf.data.Dataset.range(3)`, has the path
`tf.data.Dataset()`, and `ds.map` the path `tf.data.Dataset().map`. Any other assignment to it ends the inference. The
same holds for the attributes that the methods of a class assign to `self`.
"""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Callable, Iterable, MutableMapping
from typing import TypeGuard

# The tracked packages, and their names in paths.
PACKAGES = {"tensorflow": "tf", "gradtape": "tf", "keras": "keras"}

# A scope: the path of each name, such as `tf.keras.layers`, or None if it is not TensorFlow's.
Names = MutableMapping[str, str | None]


def public_path(module: str) -> str | None:
    """Converts `tensorflow.keras.layers` to `tf.keras.layers`; returns None for other packages."""
    package, dot, rest = module.partition(".")
    return f"{PACKAGES[package]}{dot}{rest}" if package in PACKAGES else None


class NameCollector(ast.NodeVisitor):
    """Analyzes one program, in one or several pieces.

    `uses` maps each name to the lines that use it, `imports` each other top-level module to those that import it.
    `calls` has the names that are called, except where the program handles errors; `compiled` the lines of the calls
    with `jit_compile=True`.
    `instance_made_by` returns the path of the class whose instances a call to a path returns, or None.
    """

    def __init__(self, instance_made_by: Callable[[str], str | None]) -> None:
        self.instance_made_by = instance_made_by
        self.uses: dict[str, list[str]] = {}
        self.imports: dict[str, list[str]] = {}
        self.calls: set[str] = set()
        self.compiled: list[str] = []
        self.handlers = 0  # of the errors of the statement being read
        self.shared: set[str] = set()  # names that functions assign in enclosing scopes
        self.assigned: set[str] = set()  # attributes that the program assigns to instances
        self.targets: set[ast.expr] = set()  # names whose assignment is already followed
        self.classes: dict[str, dict[str, str | None]] = {}  # by the path of a `self`: the paths of its attributes
        self.selves: dict[ast.AST, str] = {}  # by method: the path of its `self`
        self.names: Names = ChainMap({})
        self.later: list[Callable[[], None]] = []
        self.piece = ""

    def read(self, tree: ast.Module, piece: str = "") -> None:
        """Analyzes the statements of a file or of a notebook cell, whose lines are named `piece:line`."""
        self.piece = piece
        for node in ast.walk(tree):
            if isinstance(node, ast.Global | ast.Nonlocal):
                self.shared.update(node.names)
        self._scope(tree.body)

    def finish(self) -> dict[str, list[str]]:
        """Returns the used names and their lines, after all pieces are read."""
        while self.later:
            self.later.pop(0)()
        return {path: lines for path, lines in self.uses.items() if not self._is_assigned(path)}

    def _is_assigned(self, path: str) -> bool:
        of, _, name = path.rpartition(".")
        return of.endswith("()") and name in self.assigned

    def _line(self, node: ast.AST) -> str:
        return f"{self.piece}{getattr(node, 'lineno', 0)}"

    def _note(self, path: str, node: ast.AST, kind: dict[str, list[str]] | None = None) -> None:
        line = self._line(node)
        lines = (self.uses if kind is None else kind).setdefault(path, [])
        if line not in lines:
            lines.append(line)

    def _scope(self, body: Iterable[ast.AST]) -> None:
        """Binds the names of a scope, then visits their uses."""
        statements = list(body)
        for statement in statements:
            for node in _nodes_in_scope(statement):
                self._bind(node)
        for statement in statements:
            self.visit(statement)

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                path = public_path(alias.name)
                root = public_path(alias.name.partition(".")[0])
                self._stands_for(alias.asname or alias.name.partition(".")[0], path if alias.asname else root)
        elif isinstance(node, ast.ImportFrom):
            source = None if node.level else public_path(node.module or "")
            for alias in node.names:
                self._stands_for(alias.asname or alias.name, source and f"{source}.{alias.name}")
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._assign(node.target, node.value)
        elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
            manager = self._path(node.context_expr)
            entered = manager and self.instance_made_by(f"{manager}.__enter__")
            self._bind_target(node.optional_vars, f"{entered}()" if entered else None)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._stands_for(node.name, None)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del) and node not in self.targets:
            self._stands_for(node.id, None)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
            for one, its in zip(target.elts, value.elts, strict=False):
                self._assign(one, its)
        elif isinstance(target, ast.Name):
            self._bind_target(target, self._path(value))

    def _bind_target(self, target: ast.Name, path: str | None) -> None:
        self.targets.add(target)
        self._stands_for(target.id, path)

    def _stands_for(self, name: str, path: str | None) -> None:
        """Binds a name; a TensorFlow name takes precedence: `except ImportError: tf = None` does not shadow it.

        Instances do not: a name that is bound to anything else, too, is unknown.
        """
        own = _innermost(self.names)
        before = own.get(name)
        if name in own and before != path and _is_instance(before, path):
            own[name] = None
        elif name in self.shared and _is_instance(path):
            own[name] = None
        elif path is not None or name not in own:
            own[name] = path

    def _path(self, node: ast.expr) -> str | None:
        """Returns the path of an expression, such as `tf.math.sin`, or None."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            return self._member(node.value, node.attr)
        if isinstance(node, ast.Call) and not _calls_getattr(node):
            function = self._path(node.func)
            made = function and self.instance_made_by(function)
            return f"{made}()" if made else None
        if isinstance(node, ast.Call):
            match node.args:
                case [of, ast.Constant(value=str(name)), *_]:
                    return self._member(of, name)
        return None

    def _member(self, of: ast.expr, name: str) -> str | None:
        """Returns the path of the attribute `name` of an expression, or None."""
        base = self._path(of)
        if base in self.classes:
            return self.classes[base].get(name)
        return base and f"{base}.{name}"

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            path = public_path(alias.name)
            if path and "." in path:
                self._note(path, node)
            elif not path:
                self._note(alias.name.partition(".")[0], node, self.imports)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        source = None if node.level else public_path(node.module or "")
        for alias in node.names:
            if source:
                self._note(f"{source}.{alias.name}", node)
        if not source and not node.level and node.module:
            self._note(node.module.partition(".")[0], node, self.imports)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = self._path(node)
        if path and "()" in path and isinstance(node.ctx, ast.Store):
            self.assigned.add(node.attr)
        elif path and ("()" not in path or _is_instance(path.rpartition(".")[0])):
            self._note(path, node)
        if not path or "()" in path:  # the call that makes the instance
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        path = self.names.get(node.id)
        if path and "." in path and isinstance(node.ctx, ast.Load) and not _is_instance(path):
            self._note(path, node)

    def visit_Call(self, node: ast.Call) -> None:
        path = self._path(node) if _calls_getattr(node) else None
        if path:
            self._note(path, node)
        function = self._path(node.func)
        if function and not self.handlers:
            self.calls.add(function)
        if any(_is_jit_compile(keyword) for keyword in node.keywords) and self._line(node) not in self.compiled:
            self.compiled.append(self._line(node))
        self.generic_visit(node)

    def visit_Try(self, node: ast.Try | ast.TryStar) -> None:
        """Visits a statement whose errors the program may handle."""
        self.handlers += len(node.handlers)
        for statement in node.body:
            self.visit(statement)
        self.handlers -= len(node.handlers)
        rest: tuple[ast.AST, ...] = (*node.handlers, *node.orelse, *node.finalbody)
        for part in rest:
            self.visit(part)

    visit_TryStar = visit_Try

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Finds the classes of the attributes that methods assign to `self`, then visits the body."""
        me = f"<self {len(self.classes)}>"
        own = (one for one in node.body if isinstance(one, ast.Assign | ast.AnnAssign))
        found: dict[str, str | None] = dict.fromkeys(
            name.id for one in own for name in ast.walk(one) if isinstance(name, ast.Name)
        )
        for method in node.body:
            if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) or not _has_self(method):
                continue
            self.selves[method] = me
            enclosing, self.names = self.names, ChainMap(dict.fromkeys(_local_names(method)), self.names)
            known = {
                target: self._path(one.value)
                for one in ast.walk(method)
                if isinstance(one, ast.Assign)
                for target in one.targets
            }
            self.names = enclosing
            for target in ast.walk(method):
                if _is_assigned_attribute(target, method.args.args[0].arg):
                    path = known.get(target)
                    same = found.setdefault(target.attr, path) == path
                    found[target.attr] = path if same and _is_instance(path) else None
        self.classes[me] = found
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        for part in (*getattr(node, "decorator_list", ()), getattr(node, "returns", None)):
            if part is not None:
                self.visit(part)
        self.calls |= {path for one in getattr(node, "decorator_list", ()) if (path := self._path(one))}
        self.visit(node.args)
        body = node.body if isinstance(node.body, list) else [node.body]
        names, piece = self.names, self.piece
        arguments: Names = dict.fromkeys(a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg))
        if node in self.selves:
            arguments[node.args.args[0].arg] = self.selves[node]

        def read() -> None:
            self.names, self.piece = ChainMap(arguments, names), piece
            self._scope(body)

        self.later.append(read)

    visit_AsyncFunctionDef = visit_FunctionDef
    visit_Lambda = visit_FunctionDef


def _is_instance(*paths: str | None) -> bool:
    """Whether any of the paths is that of an instance."""
    return any(path is not None and path.endswith("()") for path in paths)


def _has_self(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the first parameter of a function in a class is an instance."""
    names = {one.id for one in method.decorator_list if isinstance(one, ast.Name)}
    return bool(method.args.args) and not names & {"classmethod", "staticmethod"}


def _local_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Returns the parameters of a function, and the names that it assigns."""
    nodes = list(ast.walk(function))
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return stored | {node.arg for node in nodes if isinstance(node, ast.arg)}


def _is_assigned_attribute(node: ast.AST, owner: str) -> TypeGuard[ast.Attribute]:
    """Whether a node is the target of an assignment to an attribute of the name `owner`."""
    return (
        isinstance(node, ast.Attribute)
        and not isinstance(node.ctx, ast.Load)
        and isinstance(node.value, ast.Name)
        and node.value.id == owner
    )


def _is_jit_compile(keyword: ast.keyword) -> bool:
    """Whether an argument asks for XLA."""
    return keyword.arg == "jit_compile" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True


def _calls_getattr(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "getattr"


def _innermost(names: Names) -> MutableMapping[str, str | None]:
    assert isinstance(names, ChainMap)
    return names.maps[0]


def _nodes_in_scope(statement: ast.AST) -> Iterable[ast.AST]:
    """Yields the nodes of a statement in its own scope, without the contents of functions and lambdas."""
    yield statement
    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        for child in ast.iter_child_nodes(statement):
            yield from _nodes_in_scope(child)
