"""Runs the tests that a change most likely breaks: `make test-changed`.

    python tools/changed_tests.py [--since COMMIT] [--list] [PYTEST ARGUMENT ...]

The change is what differs from the branch point with `main`, untracked files included. It selects

- the changed tests, and those that import a changed helper of the tests;
- the examples in the docstrings of changed modules;
- the tests that use a changed module, or a function of another module that uses it: they import it, or use a public
  name (`tf.math.sin`) that it implements, also in the expressions of `tests/recorded`;
- the tests of every op and the recorded cases whose names contain the name of an op of a changed file in `ops`;
- the tests that name a changed file of another kind (a page, a tool, an example), or go through its folder;
- the tests that look at all sources, such as `tests/test_layers.py`.

Nothing runs to find them, so what only shows at run time is unknown: methods and operators of tensors, modules that
are reached by more than one import, extension points, names looked up by strings, and what `conftest.py` and
`pyproject.toml` set. A change to `core`, `engine` or `backends` needs `make test`, and every change needs it before it
is merged.
"""

import argparse
import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "src")]

from source_modules import MODULES, imports, syntax_tree  # noqa: E402

from gradtape.api.names import NAMES  # noqa: E402

TESTS = ROOT / "tests"
OF_ALL_SOURCES = ["test_architecture.py", "test_contract.py", "test_layers.py", "test_names.py", "test_stubs.py"]
OF_OPS = ["test_ops.py", "test_recorded.py", "test_recorded_traced.py", "test_xla_ops.py"]
RECORDED = ["test_recorded.py", "test_recorded_traced.py"]
PUBLIC_NAME = re.compile(r"\b(?:tf|gradtape)\.((?:\w+\.)*\w+)")


class Selection(NamedTuple):
    """What to run: files, and words of which one is in the name of a test of these other files."""

    files: list[str]
    words: list[str]
    files_of_words: list[str]


def changed_files(since: str) -> list[str]:
    """Returns the files that differ from the commit `since`, and those that git does not know."""
    commands = (["diff", "--name-only", since], ["ls-files", "--others", "--exclude-standard"])
    return sorted({line for command in commands for line in _git(*command).splitlines()})


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


@cache
def test_helpers() -> dict[Path, set[Path]]:
    """Maps each Python file of the tests to the files there that it imports, directly or not."""
    files = {path.relative_to(TESTS).with_suffix("").as_posix().replace("/", "."): path for path in TESTS.rglob("*.py")}
    files |= {name.removesuffix(".__init__"): path for name, path in files.items()}
    direct = {}
    for path in files.values():
        nodes = list(ast.walk(ast.parse(path.read_text())))
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        for node in nodes:
            if isinstance(node, ast.ImportFrom):
                base = path.parent.relative_to(TESTS).parts if node.level else ()
                origin = ".".join([*base, *([node.module] if node.module else [])])
                names += [origin, *(f"{origin}.{alias.name}" for alias in node.names)]
        direct[path] = {files[name] for name in names if name in files} - {path}
    return {path: _reached(path, direct) for path in direct}


def _reached(start: Path, arrows: dict[Path, set[Path]]) -> set[Path]:
    found, waiting = set(), [start]
    while waiting:
        new = arrows[waiting.pop()] - found
        found |= new
        waiting += new
    return found


@cache
def modules_used(path: Path) -> frozenset[str]:
    """Returns what a file uses of gradtape: modules that it imports, and public names as `module:attribute`."""
    text = path.read_text()
    found = set(imports(path.stem, ast.parse(text)))
    for name in PUBLIC_NAME.findall(text):
        while name and name not in NAMES:  # an attribute of the value
            name = name.rpartition(".")[0]
        if name:
            found |= {f"gradtape.{NAMES[name]}", f"gradtape.{NAMES[name].partition(':')[0]}:*"}
    return frozenset(found - {"gradtape"})


def users_of(changed: set[str]) -> set[str]:
    """Returns what uses these modules, as `module:attribute`: definitions that contain a name imported from them."""
    words = {module.rpartition(".")[2] for module in changed}
    found = set()
    for module, path in MODULES.items():
        if any(word in path.read_text() for word in words) and imports(module, syntax_tree(module)) & changed:
            found |= {f"{module}:{name}" for name in _definitions_that_use(changed, module)}
    return found


def _definitions_that_use(changed: set[str], module: str) -> set[str]:
    tree = syntax_tree(module)
    using = set()  # names of the module that lead to a changed one
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and imports(module, ast.Module([node], [])) & changed:
            using |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    contents = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node]
            words = {getattr(part, "id", None) for part in ast.walk(node)}
            for name in {getattr(part, "id", "") for target in targets for part in ast.walk(target)}:
                contents[name] = words
            contents[getattr(node, "name", "")] = words
    found = set()
    while new := {name for name, words in contents.items() if words & (using | found)} - found:
        found |= new
    return found - {""}


def names_of_ops(module: str) -> list[str]:
    """Returns the names that a module of ops assigns: those of its ops."""
    targets = [t for node in syntax_tree(module).body if isinstance(node, ast.Assign) for t in node.targets]
    return [t.id for t in targets if isinstance(t, ast.Name) and not t.id.startswith("_") and not t.id.isupper()]


def select(changed: list[str]) -> Selection:
    """Returns the tests for changed files, which are named relative to the repository."""
    paths = {ROOT / name for name in changed}
    modules = {module for module, path in MODULES.items() if path in paths}
    affected = modules | {f"{module}:*" for module in modules} | (users_of(modules) if modules else set())
    named = [name for name in changed if not name.startswith(("src/", "tests/"))]
    files, words = {MODULES[module] for module in modules if ">>> " in MODULES[module].read_text()}, set()
    files |= {TESTS / name for name in OF_ALL_SOURCES if modules and (TESTS / name).exists()}
    for path, helpers in test_helpers().items():
        used = frozenset().union(*map(modules_used, {path, *helpers}))
        is_affected = path in paths or not paths.isdisjoint(helpers) or not affected.isdisjoint(used)
        if path.parent.name == "recorded":
            is_changed = is_affected or path.with_suffix(".json") in paths
            words |= {path.stem} if is_changed and path.with_suffix(".json").exists() else set()
        elif path.name.startswith("test_"):
            text = path.read_text()
            if is_affected or any(_mentions(text, name) for name in named):
                files.add(path)
    ops = [name for module in modules if module.startswith("gradtape.ops.") for name in names_of_ops(module)]
    by_words = sorted({*(OF_OPS if ops else []), *(RECORDED if words else [])})
    whole = [path for path in files if path.name not in by_words or path in paths]
    by_words = [str(TESTS / name) for name in by_words if TESTS / name not in whole]
    return Selection(sorted(map(str, whole)), sorted({*words, *ops}), by_words)


def _mentions(text: str, name: str) -> bool:
    """Whether a test names a file, or goes through the folder that it is in."""
    folder = name.partition("/")[0]
    return Path(name).name in text or ("/" in name and re.search(rf'"{folder}".*glob\(', text) is not None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--since", help="the commit to compare with; by default the branch point with `main`")
    parser.add_argument("--list", action="store_true", help="print what would run")
    options, more = parser.parse_known_args()
    changed = changed_files(options.since or _git("merge-base", "HEAD", "main").strip())
    selection = select(changed)
    commands = [selection.files] if selection.files else []
    if selection.files_of_words:
        commands.append([*selection.files_of_words, "-k", " or ".join(selection.words)])
    print(f"{len(changed)} changed files: {len(selection.files)} files of tests", end="")
    print(f", and tests of {', '.join(selection.words)}" if selection.words else "", flush=True)
    if options.list:
        print(*(" ".join(command).replace(f"{ROOT}/", "") for command in commands), sep="\n")
        return 0
    pytest = [sys.executable, "-m", "pytest", "-m", "not several"]
    codes = [subprocess.run([*pytest, *command, *more], cwd=ROOT).returncode for command in commands]
    return max((code for code in codes if code != 5), default=0)  # 5: none of the tests has such a name


if __name__ == "__main__":
    sys.exit(main())
