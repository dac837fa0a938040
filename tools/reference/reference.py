"""The API reference and the search field: pages made from the docstrings when mkdocs builds the documentation.

mkdocs runs the functions `on_...` (`hooks:` in mkdocs.yml); mkdocstrings renders the entries from what griffe reads
out of the sources, and hands griffe the extension below. It gives the public names, which gradtape resolves when they
are used (`gradtape/api/names.txt`), a place in griffe's tree: `gradtape.nn.relu` rather than the module it lives in.
"""

from __future__ import annotations

import gc
import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from gradtape.api.catalogue.row import Row
from gradtape.api.names import NAMES
from gradtape.api.namespace import OWN, resolve

sys.path.insert(0, str(Path(__file__).parent))  # mkdocs and griffe load this file by its path
from differences import differences, mentioned
from name_index import rows, script, sections
from pages import Reference, front_matter
from parameters import with_sections
from spelling import ROOT, fenced, public_names, spellings
from support import row_of
from tables import raw_lines, table_text, v1_lines


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
            self.show_value(target, name)
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

    def show_value(self, target: griffe.Object, name: str) -> None:
        """Shows what a constant is, rather than the call that defines it."""
        if target.is_attribute and name in NAMES:
            target.value = repr(resolve(name))

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
    """Returns what griffe has read at `path`, or None."""
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


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The reference has its own place in the navigation."""
    config.nav.append({"API reference": []})
    config.extra_css.append("search/search.css")
    config.extra_javascript.append("search/search.js")
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages of the reference, the sources that they link to, and the index of names."""
    handler = config.plugins["mkdocstrings"].get_handler("python")
    package = handler.collect("gradtape", handler.get_options({}))
    entries = spellings(public_names())
    differs = differences((ROOT / "docs/differences.md").read_text("utf-8"), entries)
    reference = Reference(package, differs)
    tables = {"raw_ops": raw_lines(), "compat.v1": v1_lines()}
    made = {f"reference/{page}.md": text for page, text in reference.texts()}
    for page, lines in tables.items():
        made[f"reference/{page}.md"] = front_matter(title=f"tf.{page}") + table_text(page, lines, entries)
    made["search/names.js"] = script("names", list(rows(reference, tables)))
    sources = {file: ROOT / "src" / file for file in sorted(sources_of(reference))}
    sources |= {f"examples/{file.name}": file for file in sorted((ROOT / "examples").glob("*.py"))}  # of the gallery
    for file, path in sources.items():
        text = path.read_text("utf-8")
        head = front_matter(title=file, hide=["navigation", "toc"])
        made[source_page(file)] = f'{head}# {file}\n\n````python linenums="1"\n{text}````\n'
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    titles = {title: f"reference/{space}.md" for space, (title, _) in reference.spaces.items()}
    titles |= {f"tf.{page}": f"reference/{page}.md" for page in tables}
    config.nav[-1] = {"API reference": [{"All names": "reference/index.md"}, *({t: p} for t, p in titles.items())]}
    gc.freeze()  # griffe's tree lives as long as the build; to look for garbage in it takes seconds
    return files


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Removes the templates' indentation outside of code, 5 % of the generated pages."""
    if page.meta.get("template") != "reference.html":
        return output
    parts = re.split(r"(<(?:pre|script)\b.*?</(?:pre|script)>)", output, flags=re.DOTALL)
    return "".join(part if index % 2 else re.sub(r"\s*\n\s*", "\n", part) for index, part in enumerate(parts))


def on_post_build(config: MkDocsConfig) -> None:
    """Turns the theme's index of texts, which a browser loads from a server only, into a script."""
    index = Path(config.site_dir) / "search/search_index.json"
    (index.parent / "text.js").write_text(script("sections", sections(index.read_text("utf-8"))), "utf-8")
    index.unlink()


def on_page_markdown(markdown: str, page: Any, **kwargs: Any) -> str:
    """Links the functions that the page of differences names to their entries."""
    if page.file.src_uri != "differences.md":
        return markdown
    entries = spellings(public_names())

    def linked(span: re.Match[str]) -> str:
        names = mentioned(span[0], entries)
        return f"[{span[0]}][gradtape.{names[0]}]" if len(names) == 1 else span[0]

    return re.sub(r"(?<!\[)`[\w.]+`", linked, markdown)


def sources_of(reference: Reference) -> set[str]:
    """Returns the files that entries, and the members of classes, are written in."""
    found = set()
    for _, entries in reference.spaces.values():
        for name in entries:
            parts = [reference.package[name], *reference.members(name).values()]
            found |= {str(part.relative_package_filepath) for part in parts if place(part)}
    return found


def place(thing: Any) -> str | None:
    """Returns where a thing is written, `gradtape/nn.py:12`, if that is known."""
    try:
        return f"{thing.relative_package_filepath}:{thing.lineno}" if thing.lineno else None
    except (ValueError, AttributeError, griffe.AliasResolutionError, griffe.BuiltinModuleError):
        return None


def source_page(file: str) -> str:
    return f"reference/source/{file.removesuffix('.py').replace('/', '.')}.md"
