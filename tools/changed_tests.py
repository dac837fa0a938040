"""Runs the tests that a change most likely breaks: `make test-changed`.

    python tools/changed_tests.py [--since COMMIT] [--list] [PYTEST ARGUMENT ...]

The change is what differs from the branch point with `main`, untracked files included. It selects

- the changed tests, and those that import a changed helper of the tests;
- the examples in the docstrings of changed modules;
- the tests that use a changed module, or a function of another module that uses it: they import it, or use a public
  name (`tf.math.sin`) that it implements, also in the expressions of `tests/recorded`;
- the tests of every op and the recorded cases whose names contain the name of an op of a changed file in `ops`;
- the tests that name a changed file of another kind (a page, a tool, an example), or go through its folder;
- the tests that look at all sources, such as `tests/test_stubs.py`; if only comments differ, two that read them.

The likeliest failures run first, in one process: the examples, and the test functions that name a definition that
differs (or one that uses it, or is implemented by it), and of the tests for changed pages, tools and examples those
that are not about another one. Then the rest runs.

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
import textwrap
import time
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "src")]

from source_modules import MODULES, imports, syntax_tree  # noqa: E402

from gradtape.api.names import NAMES  # noqa: E402

TESTS = ROOT / "tests"
OF_ALL_SOURCES = ["test_architecture.py", "test_contract.py", "test_layers.py", "test_names.py", "test_stubs.py"]
OF_COMMENTS = ["test_architecture.py", "test_layers.py"]
OF_OPS = ["test_ops.py", "test_recorded.py", "test_recorded_traced.py", "test_xla_ops.py"]
RECORDED = ["test_recorded.py", "test_recorded_traced.py"]
MOST_LIKELY = 60  # test functions
FOLDERS = ["benchmarks/", "docs/", "examples/", "tools/"]  # the names of tests of one file begin so
NO_TESTS = 5  # an exit code of pytest
STOP_AT_ONCE = {"-x", "--exitfirst", "--maxfail=1"}
PUBLIC_NAME = re.compile(r"\b(?:tf|gradtape)\.((?:\w+\.)*\w+)")


class Selection(NamedTuple):
    """What to run: files, and words of which one is in the name of a test of these other files.

    `likely` are arguments of pytest, for the calls that run first.
    """

    files: list[str]
    words: list[str]
    files_of_words: list[str]
    likely: list[list[str]]


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
        nodes = import_statements(path).body
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
def import_statements(path: Path) -> ast.Module:
    """Returns the imports of a file, wherever they are. Only its statements are searched, which takes little time."""
    found, waiting = [], list(ast.parse(path.read_text()).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append(node)
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, field, [])
    return ast.Module(found, [])


@cache
def modules_used(path: Path) -> frozenset[str]:
    """Returns what a file uses of gradtape: modules that it imports, and public names as `module:attribute`."""
    text = path.read_text()
    found = set(imports(path.stem, import_statements(path)))
    for name in PUBLIC_NAME.findall(text):
        while name and name not in NAMES:  # an attribute of the value
            name = name.rpartition(".")[0]
        if name:
            found |= {NAMES[name], f"{NAMES[name].partition(':')[0]}:*"}
    return frozenset(found - {"gradtape"})


def changed_definitions(module: str, since: str) -> set[str]:
    """Returns the names whose definitions differ from those at a commit, and those in the module that use them.

    `*` stands for all, because a statement differs that defines nothing.
    """
    path = MODULES[module]
    command = ["git", "show", f"{since}:./{path.relative_to(ROOT)}"]
    before = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout  # empty for a new file
    try:
        codes = [{ast.dump(node): node for node in ast.parse(text).body} for text in (before, path.read_text())]
    except SyntaxError:
        return {"*"}
    differing = [code[key] for code in codes for key in codes[0].keys() ^ codes[1].keys() if key in code]
    imported = {name for node in differing if isinstance(node, ast.Import | ast.ImportFrom) for name in _bound(node)}
    names = {name for node in differing for name in _bound(node) or {"*"}}
    return _with_users(syntax_tree(module), names) - imported or names


def _bound(node: ast.stmt) -> set[str]:
    """Returns the names that a statement of a module binds."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    found = {getattr(part, "id", "") for target in targets for part in ast.walk(target)}
    return (found | {getattr(node, "name", "")}) - {""}


def _with_users(tree: ast.Module, names: set[str]) -> set[str]:
    """Returns names and those of the module's definitions that contain one of them, directly or not."""
    contents = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign):
            words = {getattr(part, "id", None) for part in ast.walk(node)}
            contents |= {name: words for name in _bound(node)}
    found = set(names)
    while new := {name for name, words in contents.items() if words & found} - found:
        found |= new
    return found


def users_of(definitions: Mapping[str, set[str]]) -> set[str]:
    """Returns what uses these definitions of modules, as `module:attribute`; `*` stands for all of a module."""
    words = {module.rpartition(".")[2] for module in definitions}
    found = set()
    for module, path in MODULES.items():
        if any(word in path.read_text() for word in words):
            if names := _imported(definitions, module):
                found |= {f"{module}:{name}" for name in _with_users(syntax_tree(module), names) - names}
    return found


def _imported(definitions: Mapping[str, set[str]], module: str) -> set[str]:
    """Returns the names of a module that lead to definitions of others."""
    found = set()
    for node in import_statements(MODULES[module]).body:
        for origin in imports(module, ast.Module([node], [])) & set(definitions):
            for alias in node.names:
                is_module = alias.name.rpartition(".")[2] == origin.rpartition(".")[2]
                if is_module or "*" in definitions[origin] or alias.name in definitions[origin]:
                    found.add(alias.asname or alias.name.partition(".")[0])
    return found


def names_of_ops(module: str) -> list[str]:
    """Returns the names that a module of ops assigns: those of its ops."""
    targets = [t for node in syntax_tree(module).body if isinstance(node, ast.Assign) for t in node.targets]
    return [t.id for t in targets if isinstance(t, ast.Name) and not t.id.startswith("_") and not t.id.isupper()]


def select(changed: list[str], since: str | None = None) -> Selection:
    """Returns the tests for changed files, which are named relative to the repository.

    Without a commit to compare with, everything in them counts as different.
    """
    paths = {ROOT / name for name in changed}
    edited = {module for module, path in MODULES.items() if path in paths}
    definitions = {module: changed_definitions(module, since) if since else {"*"} for module in edited}
    modules = {module for module, names in definitions.items() if names}  # the others differ in comments
    affected = modules | {f"{module}:*" for module in modules}
    affected |= users_of({module: {"*"} for module in modules}) if modules else set()
    named = [name for name in changed if not name.startswith(("src/", "tests/"))]
    examples = {MODULES[module] for module in modules if ">>> " in MODULES[module].read_text()}
    files, words, naming = set(examples), set(), set()
    of_sources = OF_ALL_SOURCES if modules else OF_COMMENTS if edited else []
    files |= {TESTS / name for name in of_sources if (TESTS / name).exists()}
    for path, helpers in test_helpers().items():
        used = frozenset().union(*map(modules_used, {path, *helpers}))
        is_affected = path in paths or not paths.isdisjoint(helpers) or not affected.isdisjoint(used)
        if path.parent.name == "recorded":
            is_changed = is_affected or path.with_suffix(".json") in paths
            words |= {path.stem} if is_changed and path.with_suffix(".json").exists() else set()
        elif path.name.startswith("test_"):
            text = path.read_text()
            if any(_mentions(text, name) for name in named):
                naming.add(path)
            if is_affected:
                files.add(path)
    files |= naming
    ops = [name for module in modules if module.startswith("gradtape.ops.") for name in names_of_ops(module)]
    by_words = sorted({*(OF_OPS if ops else []), *(RECORDED if words else [])})
    whole = [path for path in files if path.name not in by_words or path in paths]
    by_words = [str(TESTS / name) for name in by_words if TESTS / name not in whole]
    differing = {name for names in definitions.values() for name in names}
    likely = []
    if about := [name for name in ops if differing & {name, "*"}]:
        likely.append([*by_words[:1], "-k", " or ".join(about)])  # values and derivatives of their samples
    first = {path: [path.name] for path in sorted((paths & files) | examples)}
    for path, name in functions_that_name(public_words(definitions), whole):
        first.setdefault(path, []).append(name)
    if first:  # by names: in a file that is skipped, pytest does not find `file::function`
        likely.append([*map(str, first), "-k", " or ".join(name for names in first.values() for name in names)])
    if naming:
        likely.append([*map(str, sorted(naming)), "-k", " or ".join([*named, f"not ({' or '.join(FOLDERS)})"])])
    return Selection(sorted(map(str, whole)), sorted({*words, *ops}), by_words, likely)


def public_words(definitions: Mapping[str, set[str]]) -> set[str]:
    """Returns the names of definitions, and the last words of the public names that they implement, or their users."""
    places = {f"{module}:{name}" for module, names in definitions.items() for name in names}
    places |= users_of({module: names for module, names in definitions.items() if names})
    words = {name.rpartition(".")[2] for name, place in NAMES.items() if place in places}
    return words | {name for names in definitions.values() for name in names} - {"*"}


def functions_that_name(words: set[str], files: Iterable[Path]) -> list[tuple[Path, str]]:
    """Returns the test functions that contain most of these words, those first."""
    if not words:
        return []
    word, found = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(words)))})\b"), []
    for path in files:
        if path.name.startswith("test_") and word.search(text := path.read_text()):
            lines = text.splitlines()
            for node in ast.parse(text).body:
                if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                    start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                    count = len(word.findall("\n".join(lines[start - 1 : node.end_lineno])))
                    found.append((-count, path, node.name))
    return [(path, name) for count, path, name in sorted(found) if count][:MOST_LIKELY]


def _mentions(text: str, name: str) -> bool:
    """Whether a test names a file, or goes through the folder that it is in."""
    folder = name.partition("/")[0]
    return Path(name).name in text or ("/" in name and re.search(rf'"{folder}".*glob\(', text) is not None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--since", help="the commit to compare with; by default the branch point with `main`")
    parser.add_argument("--list", action="store_true", help="print what would run")
    options, more = parser.parse_known_args()
    since = options.since or _git("merge-base", "HEAD", "main").strip()
    changed = changed_files(since)
    selection = select(changed, since)
    rest = [selection.files] if selection.files else []
    if selection.files_of_words:
        rest.append([*selection.files_of_words, "-k", " or ".join(selection.words)])
    print(f"{len(changed)} changed files: {len(selection.files)} files of tests", end="")
    print(f", and tests of {', '.join(selection.words)}" if selection.words else "", flush=True)
    if options.list:
        for title, calls in (("first:", selection.likely), ("then:", rest)):
            print(title, *(" ".join(call).replace(f"{ROOT}/", "") for call in calls), sep="\n")
        return 0
    start, failures = time.perf_counter(), 0
    # The first parts without pytest-xdist, whose processes take seconds to start.
    calls = [*([*call, *more, "-n", "0"] for call in selection.likely), *([*call, *more] for call in rest)]
    for number, call in enumerate(calls, 1):
        names = " ".join(call).replace(f"{ROOT}/", "")
        print(f"part {number} of {len(calls)}: {textwrap.shorten(names, 100)}", flush=True)
        failures += run(call)
        verdict = f"{failures} with failures" if failures else "no failures so far"
        print(f"part {number} of {len(calls)}, after {time.perf_counter() - start:.0f} s: {verdict}", flush=True)
        if failures and STOP_AT_ONCE & set(more):
            break
    return min(failures, 1)


def run(arguments: list[str]) -> int:
    """Runs pytest; returns whether a test fails."""
    code = subprocess.run([sys.executable, "-m", "pytest", "-m", "not several", *arguments], cwd=ROOT).returncode
    return code not in (0, NO_TESTS)


if __name__ == "__main__":
    sys.exit(main())
