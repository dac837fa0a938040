"""gradtape's modules as source code: their files, syntax trees and imports."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"
PACKAGES = ("gradtape", "gradtape_tensorflow", "keras_gradtape")
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for package in PACKAGES
    for path in sorted((SOURCE / package).rglob("*.py"))
}


def syntax_tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text())


def is_package(module: str) -> bool:
    return MODULES[module].name == "__init__.py"


def imports(module: str, tree: ast.Module) -> set[str]:
    """The modules of ours that a module imports, anywhere in its source but where only type checkers look."""
    package = module.split(".") if module in MODULES and is_package(module) else module.split(".")[:-1]
    found = set()
    body = [node for node in tree.body if not _for_type_checkers(node)]
    for node in (inner for outer in body for inner in ast.walk(outer)):
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
