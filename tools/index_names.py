"""Writes `gradtape/api/names.txt`, where each of TensorFlow's public names lives, and `docs/missing-names.md`.

    python tools/index_names.py

A row of the catalogue (`gradtape.api.catalogue`) has all its public names. Every other module with public names says in
`__all__` what it offers and in `NAMESPACES` where TensorFlow has those names, the most specific place first; the other
places a name has in TensorFlow are in the recorded table.
"""

import importlib
import json
import textwrap
from collections.abc import Collection, Iterable
from pathlib import Path

from gradtape.api.catalogue import SECTIONS
from gradtape.api.catalogue.row import Row
from gradtape.api.missing_names import MISSING, RAISING, Group, missing_names

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
# What people ask for first: the subject, and what to use instead.
ASKED_FOR = (
    ("TPUs", "`tf.distribute.MirroredStrategy` on [GPUs](guides/gpu.md) or CPUs"),
    (
        "TensorFlow Lite's converter, TensorFlow.js",
        "save a [SavedModel](guides/saved-models.md), and convert it where TensorFlow is installed; "
        "`tf.lite.Interpreter` runs `.tflite` files with `pip install ai-edge-litert`",
    ),
    (
        "sessions and placeholders of TensorFlow 1",
        "`tf.function`; `tf.compat.v1.Session` runs graphs that `import_graph_def` reads",
    ),
    ("`tf.estimator`, `tf.contrib`", "[Keras](keras.md); TensorFlow 2.21 does not have them either"),
    ("ops compiled in C++ (`tf.load_op_library`)", "[`gradtape.extend`](guides/add-an-op.md): ops in Python"),
    (
        "TensorFlow Text, IO, Decision Forests: libraries with compiled ops",
        "libraries in Python, [of which many run](ecosystem.md)",
    ),
    ("TensorRT, MLIR", "`tf.function(jit_compile=True)`, which compiles [with XLA](guides/functions.md)"),
    (
        "parameter servers, `tf.distribute.Server`",
        "`tf.distribute.MultiWorkerMirroredStrategy` and [`gradtape launch`](guides/many-devices.md)",
    ),
    (
        "TensorFlow's debugger (`enable_dump_debug_info`)",
        "[`tape.explain`](guides/why-none.md), `gradtape run --trace`, `tf.debugging.enable_check_numerics`",
    ),
    ("most of the 1,462 `tf.raw_ops`", "public functions; [about 430 raw ops](differences.md#single-functions) exist"),
)


def offering_modules() -> list[str]:
    """The modules that offer public names: those that say where, and the catalogue's."""
    found = [name for section in SECTIONS for name in [f"gradtape.api.catalogue.{section}"]]
    for package in ("gradtape", "gradtape_tensorflow"):
        for file in sorted((SOURCE / package).rglob("*.py")):
            if "\nNAMESPACES = " in file.read_text("utf-8"):
                found.append(".".join(file.relative_to(SOURCE).with_suffix("").parts))
    return found


def index(table: dict) -> tuple[dict[str, str], list[str]]:
    """Where each name lives, and what is wrong with the modules that offer them."""
    found: dict[str, str] = {}
    wrong: list[str] = []
    for path in offering_modules():
        try:
            module = importlib.import_module(path)
        except Exception as error:
            wrong.append(f"{path} does not import: {error}")
            continue
        for name, row in vars(module).items():
            if isinstance(row, Row):
                where = f"{path}:{name}"
                for public in row.names:
                    if public in found:
                        wrong.append(f"{public} is offered by {found[public]} and by {where}")
                    found[public] = where
        for name in getattr(module, "__all__", ()) if hasattr(module, "NAMESPACES") else ():
            paths = [f"{space}.{name}".lstrip(".") for space in module.NAMESPACES]
            known = [path for path in paths if path in table]
            first = known[0] if known else paths[0]
            value = table.get(first, {}).get("kind") == "value"  # the table knows the aliases of functions only
            where = f"{path}:{name}"
            for public in {first, *(known if value else table.get(first, {}).get("same_as", ()))}:
                if found.get(public, where).partition(":")[0] != where.partition(":")[0]:
                    wrong.append(f"{public} is offered by {found[public]} and by {where}")
                found[public] = where
    return found, wrong


def wrapped(text: str) -> str:
    """The text in lines of at most 120 columns."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def missing_page(public: set[str], found: Collection[str]) -> str:
    """Returns the page of missing names with what to use instead, from the table of `gradtape.api.missing_names`."""
    counted = [name for name in public if not name.startswith(("compat.", "experimental.dtensor.", "tpu."))]
    here = sum(name in found for name in counted)
    intro = (
        f"Of the {len(counted):,} public names of TensorFlow 2.21 outside Keras, `tf.compat`, `tf.raw_ops`, DTensor "
        f"and TPUs, gradtape has {here:,}. `gradtape check train.py` lists the missing ones that a program uses, with "
        "what to use instead. [Differences from TensorFlow](differences.md) covers names that behave differently."
    )
    lines = ["# Missing names", "", wrapped(intro), "", "## What people ask for most", ""]
    lines += ["| missing | use instead |", "| --- | --- |"]
    lines += [f"| {subject} | {instead} |" for subject, instead in ASKED_FOR]
    working = (
        "SavedModels written by gradtape load in TensorFlow, and so in TensorFlow Serving; [tf2onnx](faq.md) exports "
        "them to ONNX."
    )
    lines += ["", wrapped(working), "", "## Names that do not exist", ""]
    lines += _sections(MISSING)
    lines += ["## Names that raise an error when used", ""]
    lines += _sections(RAISING)
    return "\n".join(lines).rstrip() + "\n"


def _sections(groups: Iterable[Group]) -> list[str]:
    lines = []
    for group in groups:
        lines += [f"### {group.subject}", "", wrapped(group.instead), ""]
        signatures = (f"tf.{signature}" for signature in group.signatures)
        lines += ["```text", *(textwrap.fill(line, 116, subsequent_indent="    ") for line in signatures), "```", ""]
    return lines


def main() -> None:
    table = json.loads((ROOT / "tests/data/tensorflow_api.json").read_text())["names"]
    found, wrong = index(table)
    lines = "".join(f"{path} {where}\n" for path, where in sorted(found.items()))
    (ROOT / "src/gradtape/api/names.txt").write_text(lines)
    public = set((ROOT / "tests/data/tensorflow_public_names.txt").read_text().split())
    (ROOT / "docs/missing-names.md").write_text(missing_page(public, found))
    missing = sorted(set(table) - set(found) - set(missing_names()))
    print(*wrong, sep="\n")
    print(f"{len(found)} names; {len(missing)} of TensorFlow's are missing: {' '.join(missing)}")


if __name__ == "__main__":
    main()
