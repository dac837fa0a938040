"""The texts of the reference's pages: one for each function and class, one for each namespace, and the list of all.

Each page costs milliseconds of mkdocs and kilobytes of the theme. The pages here therefore leave the search to the
index of names, and their template (`tools/theme/reference.html`) lists namespaces beside them instead of every page.
"""

from __future__ import annotations

import html
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import griffe
from differences import Difference
from spelling import ROOT, page_of, public_names, space_of, spellings
from support import facts_of

from gradtape.api.namespace import OWN

TAPE = ("GradientTape", "autodiff.ForwardAccumulator", "custom_gradient", "UnconnectedGradients", "load_tape")

Entries = Mapping[str, Sequence[str]]  # by the name that has the entry, its other names


def spaces_of(package: griffe.Module) -> dict[str, tuple[str, Entries]]:
    """Returns the title and the entries of each namespace's page: gradtape's own first, then TensorFlow's."""
    theirs = set((ROOT / "tests/data/tensorflow_public_names.txt").read_text().split())
    every = spellings(public_names())
    tape = {name: every[name] for name in TAPE}
    tape |= {name: also for name, also in every.items() if "." not in name and name not in theirs}
    spaces: dict[str, tuple[str, dict[str, Sequence[str]]]] = {"tape": ("The tape", tape)}
    for space in OWN:
        members = [f"{space}.{name}" for name in package[space].exports if not package[space][name].is_module]
        spaces[space] = (f"tf.{space}", {name: [] for name in sorted(members)})
    spaces["gradtape"] = ("tf", {})
    for name, also in sorted(every.items()):
        if name not in tape:
            space = space_of(name)
            spaces.setdefault(space, (f"tf.{space}", {}))[1][name] = also
    return dict(spaces)


class Reference:
    """The pages of a package whose public names griffe knows."""

    def __init__(self, package: griffe.Module, differs: Mapping[str, Sequence[Difference]]) -> None:
        self.package, self.differs = package, differs
        self.spaces = spaces_of(package)
        self.members = cache(self._members)

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yields each page: its name without suffix, and its Markdown."""
        yield "index", self.index_text()
        for space, (title, entries) in self.spaces.items():
            yield space, self.space_text(space, title, entries)
            for name, also in entries.items():
                if page_of(name) != space_of(name):
                    yield page_of(name), self.name_text(name, also, space, title)

    def name_text(self, name: str, also: Sequence[str], space: str, title: str) -> str:
        """Returns the page of a function or a class."""
        head = front_matter(title=f"tf.{name}", space={"title": title, "page": f"{space}.html"})
        return f"{head}\n{self.entry_text(name, also, level=1)}"

    def space_text(self, space: str, title: str, entries: Entries) -> str:
        """Returns the page of a namespace: a table of its names, then the entries that have no page of their own."""
        lines = [front_matter(title=title), f"# {title}", ""]
        groups: dict[str, list[str]] = defaultdict(list)
        for name in entries:
            groups["" if space in ("tape", *OWN) else name.rpartition(".")[0]].append(name)
        for group, names in sorted(groups.items()):
            if len(groups) > 1 and group != space:
                lines += ["", f"## tf.{group} {{#of-{group.replace('.', '-')}}}"]
            lines += ["", "| name | |", "| --- | --- |"]
            lines += [self.row(name, entries[name]) for name in names]
        together = [name for name in entries if page_of(name) == space]
        if together:
            lines += ["", "## Constants and types" if space != "errors" else "## Exceptions and codes", ""]
            lines += [self.entry_text(name, entries[name], level=3) for name in together]
        return "\n".join([*lines, ""])

    def row(self, name: str, also: Sequence[str]) -> str:
        """Returns the row of a name in the table of its namespace; its anchor is where the entry once was."""
        spelled = " ".join([f"[`tf.{name}`]({page_of(name)}.md#gradtape.{name})", *(f"`tf.{other}`" for other in also)])
        anchor = "" if page_of(name) == space_of(name) else f'<a id="gradtape.{name}"></a>'
        return f"| {anchor}{spelled} | {summary(self.package[name])} |"

    def entry_text(self, name: str, also: Sequence[str], level: int) -> str:
        """Returns the entry that mkdocstrings renders, and the anchors of its other names."""
        extra = json.dumps({"name": f"tf.{name}", "also": list(also), "facts": self.facts(name, also)})
        options = {"heading": f"tf.{name}", "toc_label": f"tf.{name}", "heading_level": level}
        lines = [f"::: gradtape.{name}", "    options:", f"      extra: {extra}"]
        lines += [f"      {key}: {json.dumps(value)}" for key, value in options.items()]
        return "\n".join([*lines, "", *(f"[](){{#gradtape.{other}}}" for other in also), ""])

    def facts(self, name: str, also: Sequence[str]) -> dict[str, str]:
        """Returns what the entry of a name says besides its docstring, as HTML by label."""
        facts = {} if name.partition(".")[0] in OWN else dict(facts_of(name, also))
        items = self.differs.get(name, ())
        if items:
            short = [item for item in items if len(item.text) < 240][:3]
            texts = [f'{item.text} (<a href="../differences.html#{item.anchor}">more</a>)' for item in short]
            links = {
                f'<a href="../differences.html#{item.anchor}">{item.anchor.replace("-", " ")}</a>' for item in items
            }
            facts["Differs from TensorFlow"] = "<br>".join(texts) or f"see {', '.join(sorted(links))}"
        return {label: as_html(text) for label, text in facts.items()}

    def index_text(self) -> str:
        """Returns the page that lists all names."""
        lines = [
            front_matter(title="API reference"), "# API reference", "",
            "Every public name of `gradtape`, which the examples import as `tf` (and NumPy as `np`). The search field",
            "above finds names, members of classes and other spellings: press `/` and type, as in `Dataset.batch`.",
            "TensorFlow's ops under their own names are in [`tf.raw_ops`](raw_ops.md), those of TensorFlow 1 in",
            "[`tf.compat.v1`](compat.v1.md). [Missing names](../missing-names.md) lists what gradtape does not have.",
        ]  # fmt: skip
        for space, (title, entries) in self.spaces.items():
            lines += ["", f"## [{title}]({space}.md) {{#of-{space.replace('.', '-')}}}", ""]
            shown = {name: name.removeprefix(f"{space}.") for name in entries}
            links = [f"[`{leaf}`]({page_of(name)}.md#gradtape.{name})" for name, leaf in shown.items()]
            lines.append(" · ".join(links))
        return "\n".join([*lines, ""])

    def _members(self, name: str) -> dict[str, griffe.Object | griffe.Alias]:
        """Returns the members of a class that its page shows."""
        thing = self.package[name]
        if not thing.is_class:
            return {}
        return {key: value for key, value in thing.all_members.items() if key[0] != "_" and value.docstring}


def front_matter(**values: object) -> str:
    """Returns the front matter of a page of the reference."""
    values |= {"template": "reference.html", "search": {"exclude": True}}
    return "\n".join(["---", *(f"{key}: {json.dumps(value)}" for key, value in values.items()), "---", ""])


def summary(thing: griffe.Object | griffe.Alias) -> str:
    """Returns the first sentence of a docstring, as the cell of a table; what a value is, without one."""
    if thing.docstring is None:
        value = getattr(thing, "value", None)
        return f"`{str(value).strip()}`".replace("|", "\\|") if value is not None else ""
    first = thing.docstring.value.partition("\n\n")[0].replace("\n", " ")
    return first.replace("|", "\\|")


def as_html(text: str) -> str:
    """Returns Markdown of code spans and links, with HTML tags of this module, as HTML.

    >>> as_html("`a<b` in [there](x.md)")
    '<code>a&lt;b</code> in there'
    """
    text = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text)
    return re.sub(r"`([^`]+)`", lambda span: f"<code>{html.escape(span[1])}</code>", text)
