"""The API reference: pages made from the docstrings when mkdocs builds the documentation.

mkdocs runs `on_config` and `on_files` (`hooks:` in mkdocs.yml); mkdocstrings renders the entries from what griffe reads
out of the sources, and hands griffe the extension below. It gives the public names, which gradtape resolves when they
are used (`gradtape/api/names.txt`), a place in griffe's tree: `gradtape.nn.relu` rather than the module it lives in.
"""

from __future__ import annotations

import html
import importlib
import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

import griffe
from mkdocs.structure.files import File

from gradtape.api.catalogue.row import Row
from gradtape.api.names import NAMES
from gradtape.api.namespace import resolve

sys.path.insert(0, str(Path(__file__).parent))  # mkdocs and griffe load this file by its path
from differences import Difference, differences, mentioned
from parameters import with_sections
from spelling import ROOT, fenced, page_of, public_names, spellings
from support import facts_of, row_of
from tables import raw_lines, texts, v1_lines

OWN = ("inspect", "extend")  # modules that TensorFlow does not have, with what their `__all__` says
TAPE = ("GradientTape", "autodiff.ForwardAccumulator", "custom_gradient", "UnconnectedGradients", "load_tape")


class PublicNames(griffe.Extension):
    """Gives griffe's tree the public names, and examples the look of code."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """An example is code: a fence around the lines from `>>>` to the next empty one."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        """Puts an alias of each public name where the user finds it."""
        if pkg.name != "gradtape":
            return
        loader.load("gradtape_tensorflow")
        sources = loader.modules_collection
        inspected: dict[str, griffe.Module] = {}
        own = {f"{space}.{name}": f"gradtape.{space}:{name}" for space in OWN for name in pkg[space].exports or ()}
        for name, where in (public_names() | own).items():
            module, _, attribute = where.partition(":")
            row = row_of([name])
            if row is not None:
                target = function_of(row, sources[module])
            else:
                target = read(sources, f"{module}.{attribute}") or imported_late(sources, module, attribute)
            if target is None:  # made by a loop or a table: only running the module tells
                if module not in inspected:
                    inspected[module] = griffe.inspect(module)
                target = self.inspected(inspected[module], attribute)
            self.describe_parameters(target, name)
            *spaces, leaf = name.split(".")
            parent = pkg
            for space in spaces:
                if space not in parent.members:
                    parent.set_member(space, griffe.Module(space, filepath=pkg.filepath, parent=parent))
                parent = parent.members[space]
            parent.set_member(leaf, griffe.Alias(leaf, target, parent=parent))

    def describe_parameters(self, target: griffe.Object, name: str) -> None:
        """Lists the parameters of a function, or of a class, that its docstring leaves to the common table."""
        if target.docstring is None:
            return
        if target.is_function:
            parameters = [parameter.name for parameter in target.parameters]
            result = None if target.returns is None else str(target.returns)
        elif target.is_class and "__init__" in target.members:
            initializer = target.members["__init__"]
            parameters = [parameter.name for parameter in initializer.parameters if parameter.name != "self"]
            result = None
        else:
            return
        target.docstring.value = with_sections(target.docstring.value, name, parameters, result)

    def inspected(self, module: griffe.Module, name: str) -> griffe.Object:
        found = module.members[name]
        if found.is_alias:  # of another library: `numpy.float32`
            text = griffe.Docstring(f"`{found.target_path}` itself.")
            return griffe.Attribute(name, parent=module, docstring=text)
        if found.is_attribute:
            found.docstring = None  # that of its class
        self.on_object(obj=found)
        return found


def read(sources: griffe.ModulesCollection, path: str) -> griffe.Object | None:
    """What griffe has read at `path`, or None."""
    try:
        found = sources[path]
        return found.final_target if found.is_alias else found
    except (KeyError, griffe.AliasResolutionError, griffe.CyclicAliasError):
        return None


def function_of(row: Row, module: griffe.Module) -> griffe.Function:
    """Returns the function that a row of the catalogue describes; its source is the row in `module`."""
    front = resolve(row.names[0])
    parameters = [
        griffe.Parameter(
            parameter.name,
            annotation=parameter.annotation,
            kind=griffe.ParameterKind.positional_or_keyword,
            default=None if parameter.default is parameter.empty else repr(parameter.default),
        )
        for parameter in inspect.signature(front).parameters.values()
    ]
    written = module.members[NAMES[row.names[0]].partition(":")[2]]
    function = griffe.Function(
        written.name,
        parameters=griffe.Parameters(*parameters),
        returns=row.result,
        lineno=written.lineno,
        endlineno=written.endlineno,
        docstring=griffe.Docstring(fenced(inspect.getdoc(front) or "")),
        parent=module,
    )
    function.docstring.parent = function
    return function


def imported_late(sources: griffe.ModulesCollection, module: str, name: str) -> griffe.Object | None:
    """Returns what a module of gradtape's own imports when it is first used, from where it is defined; else None."""
    if module.removeprefix("gradtape.") not in OWN:
        return None
    value = getattr(importlib.import_module(module), name)
    if not callable(value):
        return None
    return read(sources, f"{value.__module__}.{value.__qualname__}")


def on_config(config: Any) -> Any:
    """The reference has its own place in the navigation."""
    config.nav.append({"API reference": []})
    return config


def on_files(files: Any, config: Any) -> Any:
    """Adds the index, a page for each namespace, and the sources that they link to."""
    handler = config.plugins["mkdocstrings"].get_handler("python")
    package = handler.collect("gradtape", handler.get_options({}))
    pages = pages_of(package)
    entries = spellings(public_names())
    differs = differences((ROOT / "docs/differences.md").read_text("utf-8"), entries)
    tables = texts(entries)
    made = {f"reference/{page}.md": page_text(title, names, differs) for page, (title, names) in pages.items()}
    made |= {f"reference/{page}.md": text for page, (_, text) in tables.items()}
    made["reference/index.md"] = index_text(package, pages)
    made["reference/names.js"] = names_script(package, pages)
    made["reference/search.js"] = (ROOT / "tools/reference/search.js").read_text("utf-8")
    sources = {file: ROOT / "src" / file for file in sorted(sources_of(package, pages))}
    sources |= {f"examples/{file.name}": file for file in sorted((ROOT / "examples").glob("*.py"))}  # of the gallery
    for file, path in sources.items():
        text = path.read_text("utf-8")
        hidden = "---\nsearch:\n  exclude: true\nhide: [navigation, toc]\n---\n"
        made[source_page(file)] = f'{hidden}# {file}\n\n````python linenums="1"\n{text}````\n'
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    titles = {title: f"reference/{page}.md" for page, (title, _) in (pages | tables).items()}
    config.nav[-1] = {"API reference": [{"All names": "reference/index.md"}, *({t: p} for t, p in titles.items())]}
    return files


Entries = dict[str, list[str]]  # by the name that has the entry, its other names


def pages_of(package: griffe.Module) -> dict[str, tuple[str, Entries]]:
    """The title and the names of each page: gradtape's own first, then TensorFlow's namespaces."""
    names = public_names()
    theirs = set((ROOT / "tests/data/tensorflow_public_names.txt").read_text().split())
    every = spellings(names)
    tape = {name: every[name] for name in TAPE}
    tape |= {name: also for name, also in every.items() if "." not in name and name not in theirs}
    pages: dict[str, tuple[str, Entries]] = {"tape": ("The tape", tape)}
    for space in OWN:
        members = [f"{space}.{name}" for name in package[space].exports if not package[space][name].is_module]
        pages[space] = (f"gradtape.{space}", {name: [] for name in sorted(members)})
    pages["gradtape"] = ("gradtape", {})
    for name, also in sorted(every.items()):
        page = page_of(name)
        if name not in tape:
            pages.setdefault(page, (f"gradtape.{page}", {}))[1][name] = also
    return pages


SEARCH = """\
<div class="name-search">
<input type="search" placeholder="Find a function: softmax, reduce_sum, cross entropy" aria-label="Find a function">
<ul></ul>
</div>
"""
SCRIPTS = '<script src="names.js"></script>\n<script src="search.js"></script>\n'


def page_text(title: str, entries: Entries, differs: dict[str, list[Difference]]) -> str:
    """Returns a page: a search field and an entry for each name."""
    lines = [f"# {title}", "", SEARCH]
    for name, also in entries.items():
        lines += [f"[](){{#gradtape.{other}}}" for other in also]
        extra = json.dumps({"also": also, "facts": facts(name, also, differs)})
        lines += [f"::: gradtape.{name}", "    options:", f"      extra: {extra}", ""]
    return "\n".join([*lines, SCRIPTS])


def facts(name: str, also: list[str], differs: dict[str, list[Difference]]) -> dict[str, str]:
    """Returns what the entry of a name says besides its docstring, as HTML by label."""
    found = {} if name.partition(".")[0] in OWN else facts_of(name, also)
    said = differs.get(name, ())
    if said:
        short = [item for item in said if len(item.text) < 240][:3]
        texts = [f'{item.text} (<a href="../differences.html#{item.anchor}">more</a>)' for item in short]
        links = {f'<a href="../differences.html#{item.anchor}">{item.anchor.replace("-", " ")}</a>' for item in said}
        found["Differs from TensorFlow"] = "<br>".join(texts) or f"see {', '.join(sorted(links))}"
    return {label: as_html(text) for label, text in found.items()}


def as_html(text: str) -> str:
    """Returns Markdown of code spans and links, with HTML tags of this module, as HTML.

    >>> as_html("`a<b` in [there](x.md)")
    '<code>a&lt;b</code> in there'
    """
    text = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text)
    return re.sub(r"`([^`]+)`", lambda span: f"<code>{html.escape(span[1])}</code>", text)


def names_script(package: griffe.Module, pages: dict[str, tuple[str, Entries]]) -> str:
    """Returns a script with the names that the search field finds: name, page, first line, other names.

    It is a script, not JSON, so that a browser loads it from a folder (`file://`) too.
    """
    rows = [
        [name, page, summary(package[name]).replace("\\|", "|"), *also]
        for page, (_, entries) in pages.items()
        for name, also in entries.items()
    ]
    for page, lines in {"raw_ops": raw_lines(), "compat.v1": v1_lines()}.items():
        rows += [[line.name, page, line.text or (line.same_as and f"`tf.{line.same_as}`")] for line in lines]
    return f"const NAMES = {json.dumps(rows, ensure_ascii=False, separators=(',', ':'))};\n"


def on_page_markdown(markdown: str, page: Any, **kwargs: Any) -> str:
    """Links the functions that the page of differences names to their entries."""
    if page.file.src_uri != "differences.md":
        return markdown
    entries = spellings(public_names())

    def linked(span: re.Match[str]) -> str:
        names = mentioned(span[0], entries)
        return f"[{span[0]}][gradtape.{names[0]}]" if len(names) == 1 else span[0]

    return re.sub(r"(?<!\[)`[\w.]+`", linked, markdown)


def index_text(package: griffe.Module, pages: dict[str, tuple[str, Entries]]) -> str:
    """Every name with a line about it."""
    lines = [
        "# All names", "",
        "Every public name of `gradtape`, which the examples import as `tf` (and NumPy as `np`), with the other",
        "spellings it has. The same functions under the names of TensorFlow's ops are in",
        "[`tf.raw_ops`](raw_ops.md), those of TensorFlow 1 in [`tf.compat.v1`](compat.v1.md).",
        "",
        SEARCH,
    ]  # fmt: skip
    for page, (title, entries) in pages.items():
        lines += [f"## {title} {{#of-{page.replace('.', '-')}}}", "", "| name | |", "| --- | --- |"]
        for name, also in entries.items():
            others = "".join(f", `{other}`" for other in also)
            lines.append(f"| [`{name}`]({page}.md#gradtape.{name}){others} | {summary(package[name])} |")
            if page == "tape" and package[name].is_class:
                members = [member for member in sorted(package[name].all_members) if not member.startswith("_")]
                lines += [
                    f"| [`{name}.{member}`]({page}.md#gradtape.{name}.{member}) | {summary(package[name][member])} |"
                    for member in members
                    if package[name].all_members[member].docstring
                ]
        lines.append("")
    return "\n".join([*lines, SCRIPTS])


def summary(thing: griffe.Object | griffe.Alias) -> str:
    """The first sentence of a docstring, as the cell of a table; what a value is, without one."""
    if thing.docstring is None:
        value = getattr(thing, "value", None)
        return f"`{str(value).strip()}`".replace("|", "\\|") if value is not None else ""
    first = thing.docstring.value.partition("\n\n")[0].replace("\n", " ")
    return first.replace("|", "\\|")


def sources_of(package: griffe.Module, pages: dict[str, tuple[str, Entries]]) -> set[str]:
    """The files that entries, and the members of classes, are written in."""
    found = set()
    for _, entries in pages.values():
        for name in entries:
            thing = package[name]
            parts = [thing, *(thing.all_members.values() if thing.is_class else ())]
            found |= {str(part.relative_package_filepath) for part in parts if place(part)}
    return found


def place(thing: Any) -> str | None:
    """Where a thing is written, `gradtape/nn.py:12`, if that is known."""
    try:
        return f"{thing.relative_package_filepath}:{thing.lineno}" if thing.lineno else None
    except (ValueError, AttributeError, griffe.AliasResolutionError, griffe.BuiltinModuleError):
        return None


def source_page(file: str) -> str:
    return f"reference/source/{file.removesuffix('.py').replace('/', '.')}.md"
