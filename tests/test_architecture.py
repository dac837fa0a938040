"""The files, classes and functions that `docs/architecture.md` names exist, where it says that they are."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BASES = (ROOT / "src" / "gradtape", ROOT / "src", ROOT)
PAGE = ROOT / "docs" / "architecture.md"

FENCE = re.compile(r"^```.*?^```\n", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.(?:py|md|txt|js))\b[^`]*`")
FOLDER = re.compile(r"`((?:[\w-]+/)+[\w-]*)`")
NAME = r"`[A-Za-z_][\w.]*`"
LOCATED = re.compile(rf"({NAME}(?:(?:, | and |, and ){NAME})*) \(`([\w/.-]+\.py)`\)")
IDENTIFIER = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)`")


def prose_of(page: str) -> str:
    """The page without its diagram, and with each paragraph on one line."""
    return re.sub(r"[ ]*\n[ ]*(?![|#\n])", " ", FENCE.sub("", page))


def path_of(name: str) -> Path | None:
    return next((base / name for base in BASES if (base / name).exists()), None)


@cache
def definitions(path: Path) -> frozenset[str]:
    """What a file defines: functions, classes, constants, and the members of classes as `Class.member`."""
    found: set[str] = set()

    def visit(nodes: list[ast.stmt], prefix: str) -> None:
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.add(prefix + node.name)
                for inner in ast.walk(node) if prefix else ():  # `self.x = ...` in a method
                    if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
                        if isinstance(inner.value, ast.Name) and inner.value.id == "self":
                            found.add(prefix + inner.attr)
            elif isinstance(node, ast.ClassDef):
                found.add(prefix + node.name)
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found.update(prefix + t.id for target in targets for t in ast.walk(target) if isinstance(t, ast.Name))
            elif isinstance(node, ast.If | ast.Try | ast.With | ast.For):
                visit(node.body, prefix)

    visit(ast.parse(path.read_text("utf-8")).body, "")
    return frozenset(found)


@cache
def known_words() -> frozenset[str]:
    """Every identifier in the sources and the tools, and the names of their files and folders."""
    words: set[str] = set()
    for folder in ("src", "tools", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            if path != Path(__file__):
                words.update(re.findall(r"\w+", path.read_text("utf-8")), path.parts, [path.stem])
    return frozenset(words)


def missing_files(page: str) -> list[str]:
    """The files and folders that a page mentions and that are not there."""
    prose = prose_of(page)
    return [name for name in FILE.findall(prose) + FOLDER.findall(prose) if path_of(name) is None]


def missing_definitions(page: str) -> list[str]:
    """Which names, each followed by a file in parentheses, the file does not define."""
    found = []
    for names, file in LOCATED.findall(prose_of(page)):
        path = path_of(file)
        for name in re.findall(r"`(.*?)`", names):
            if path is None or name not in definitions(path):
                found.append(f"{name} ({file})")
    return found


def unknown_names(page: str) -> list[str]:
    """The names, with or without a file, of which a part occurs nowhere in the sources: most are old names."""
    names = IDENTIFIER.findall(prose_of(page))
    return [name for name in names if not known_words().issuperset(name.split("."))]


def missing_anchors(page: str) -> list[str]:
    """The links inside a page that lead to no heading of it."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page), re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
    return [anchor for anchor in re.findall(r"\]\(#([^)]*)\)", page) if anchor not in anchors]


@pytest.mark.parametrize("check", [missing_files, missing_definitions, unknown_names, missing_anchors])
def test_what_the_page_names_exists(check):
    assert check(PAGE.read_text("utf-8")) == []


def test_the_page_says_where_its_names_are():
    """So that the tests above have something to check."""
    prose = prose_of(PAGE.read_text("utf-8"))
    assert len(LOCATED.findall(prose)) > 100
    assert len(FILE.findall(prose)) > 150


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        (missing_files, "`engine/tape/log.py`", "`engine/tape/diary.py`"),
        (missing_files, "`tests/test_ops.py -k tanh`", "`tests/test_opps.py -k tanh`"),
        (missing_files, "`tests/recorded` and `graph/passes/`", "`tests/unrecorded`"),
        (missing_definitions, "`Log` (`engine/tape/log.py`)", "`Diary` (`engine/tape/log.py`)"),
        (missing_definitions, "`Log.binary`\n(`engine/tape/log.py`)", "`Log.ternary`\n(`engine/tape/log.py`)"),
        (missing_definitions, "`Log.disconnections` (`engine/tape/log.py`)", "`Log.exits` (`engine/tape/log.py`)"),
        (missing_definitions, "`LARGE` (`backends/tuning.py`)", "`HUGE` (`backends/tuning.py`)"),
        (missing_definitions, "`sweep` and `between` (`engine/tape/backprop.py`)",
         "`sweeep` and `between` (`engine/tape/backprop.py`)"),
        (missing_definitions, "`Op` (`engine/registry/op.py`)", "`Op` (`engine/registry/families.py`)"),
        (unknown_names, "`Log.disconnections`", "`Log.xyzzies`"),
        (missing_anchors, "# A heading of it\n[x](#a-heading-of-it)", "# A heading\n[x](#another)"),
    ],
)  # fmt: skip
def test_a_wrong_name_is_found(check, right, wrong):
    assert check(right) == []
    assert len(check(wrong)) == 1
