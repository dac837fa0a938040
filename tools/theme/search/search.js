// The search field of the header: names first, then the sections of the pages. It needs no server and no network.
//
// searchIndex.names, from names.js, has rows [name, address, text, ...other names]; an empty address is the page of the
// name, and "#" the entry of a member on the page of its class. searchIndex.sections, from text.js, has rows
// [address, title of the page, title of the section, text]. Both are loaded when the field is first used.
"use strict";

const searchIndex = { names: [], sections: [] };

{
  function folded(text) {
    return text.toLowerCase().replace(/[_\s]/g, "");
  }

  // The ends of a name that begin with a word of its last part: `a.max_pool` has "maxpool" and "pool".
  function starts(name) {
    const leaf = name.slice(name.lastIndexOf(".") + 1);
    const words = leaf.split(/_+|(?<=[a-z0-9])(?=[A-Z])/);
    return words.map((_, index) => folded(words.slice(index).join("")));
  }

  // Adds to each row its address and the spellings to compare with. A member has those of its class as well.
  function prepared(rows) {
    const entries = new Map();
    for (const [name, address, text, ...also] of rows) {
      const owner = address === "#" ? entries.get(name.slice(0, name.lastIndexOf("."))) : undefined;
      const leaf = name.slice(name.lastIndexOf(".") + 1);
      const names = owner ? owner.names.map((prefix) => `${prefix}.${leaf}`) : [name, ...also];
      const page = owner ? `${owner.address.split("#")[0]}#gradtape.${name}` : address;
      const entry = { name, names, text, isMember: Boolean(owner) };
      entry.paths = names.map(folded);
      entry.starts = names.map(starts);
      entry.address = page || `reference/tf.${name}.html`;
      entry.isMissing = entry.address.startsWith("missing-names.html");
      entry.summary = folded(text);
      if (!entries.has(name) || entries.get(name).isMissing) entries.set(name, entry);
    }
    return [...entries.values()];
  }

  // How well a spelling matches a word, both folded; 0 means that it does not.
  function likeness(path, starts, word) {
    if (path === word) return 1000;
    if (path.endsWith(`.${word}`)) return 900;
    const leaf = path.slice(path.lastIndexOf(".") + 1);
    if (leaf.startsWith(word)) return 600;
    if (path.startsWith(word) || path.includes(`.${word}`)) return 500;
    if (starts.some((start) => start.startsWith(word))) return 450;
    return path.includes(word) ? 200 : 0;
  }

  const STRONG = 350; // from here on, words of the name match, not only letters or what is said about it

  function score(entry, words) {
    let total = 0;
    for (const word of words) {
      let best = Math.max(...entry.paths.map((path, index) => likeness(path, entry.starts[index], word)));
      if (best === 0 && word.length > 2 && entry.summary.includes(word)) best = 100;
      if (best === 0) return 0;
      total += best;
    }
    const isRare = /^(compat|experimental|raw_ops|distribute\.experimental|tpu)\b/.test(entry.name);
    const depth = entry.name.split(".").length;
    return total / words.length - (isRare ? 40 : 0) - (entry.isMember ? 30 : 0) - depth * 5 - entry.name.length / 10;
  }

  // The words of a query as a name has them: without `tf.`, underscores, and what follows a parenthesis.
  function wordsOf(query) {
    const words = query.trim().replace(/\(.*$/, "").split(/\s+/);
    const prefix = /^(tf|gradtape|tensorflow)(\.(?=.)|\.?$)/i;
    return words.map((word) => folded(word.replace(prefix, "")).replace(/^\.|\.$/g, "")).filter(Boolean);
  }

  // The entries that match a query, best first, each with its points.
  function ranked(query, entries) {
    const words = wordsOf(query);
    if (words.length === 0) return [];
    const joined = words.length > 1 ? [words.join("")] : null; // "cross entropy" is also "cross_entropy"
    const raw = query.trim();
    const exact = (entry) => (entry.names.some((name) => `.tf.${name}`.endsWith(`.${raw}`)) ? 3 : 0);
    return entries
      .map((entry) => ({ entry, points: Math.max(score(entry, words), joined ? score(entry, joined) : 0) }))
      .filter(({ points }) => points > 0)
      .map(({ entry, points }) => ({ entry, points: points + exact(entry) }))
      .sort((a, b) => b.points - a.points);
  }

  // What is nearest to a dotted name that does not exist: the longest beginning of it that does.
  function enclosing(query, entries) {
    for (let name = wordsOf(query)[0] || ""; name.includes("."); ) {
      name = name.slice(0, name.lastIndexOf("."));
      const hits = entries.filter((entry) => entry.paths.includes(name));
      if (hits.length > 0) return hits;
    }
    return [];
  }

  // The sections that have all words, at the beginnings of words, best first.
  function sectionsWith(query, sections) {
    const words = query.toLowerCase().split(/[^\p{L}\p{N}_.]+/u).map(stem).filter(Boolean);
    if (words.length === 0) return [];
    const patterns = words.map((word) => new RegExp(`(?<![\\p{L}\\p{N}])${word.replace(/\./g, "\\.")}`, "giu"));
    const hits = [];
    for (const section of sections) {
      const [, page, title, text] = section;
      section[4] ??= `${page} ${title} ${text}`.toLowerCase(); // kept: a pattern costs ten times as much as `includes`
      if (!words.every((word) => section[4].includes(word))) continue;
      let points = 0;
      for (const pattern of patterns) {
        const count = (text.match(pattern) || []).length;
        const found = (title || page).search(pattern) >= 0 ? 20 : page.search(pattern) >= 0 ? 8 : 0;
        if (count === 0 && found === 0) { points = 0; break; }
        points += found + 2 * Math.log2(1 + count);
      }
      if (points > 0) hits.push({ section, points: points - text.length / 2000 + (title ? 0 : 2), patterns });
    }
    return hits.sort((a, b) => b.points - a.points);
  }

  function stem(word) {
    const short = word.replace(/^\.+|\.+$/g, "").replace(/(ing|ed|es|s)$/, "");
    return short.length > 3 ? short : word.replace(/^\.+|\.+$/g, "");
  }

  // The hits of a query: names that match, sections, then names whose description matches.
  function find(query, entries, sections, count = 30) {
    const names = ranked(query, entries);
    const strong = names.filter(({ points }) => points >= STRONG);
    const weak = names.slice(strong.length, strong.length + 8);
    const nearest = strong.length > 0 ? [] : enclosing(query, entries).map((entry) => ({ entry }));
    const texts = sectionsWith(query, sections);
    const room = texts.length > 0 ? 12 : count;
    return [...nearest, ...strong.slice(0, room), ...texts.slice(0, 12), ...weak].slice(0, count);
  }

  // The name to show: another spelling of it if that is what the user types.
  function shownName({ name, names, paths, starts }, query) {
    const [word] = wordsOf(query);
    const typed = paths.indexOf(word);
    if (typed >= 0 && query.includes(".")) return names[typed];
    const points = paths.map((path, index) => likeness(path, starts[index], word));
    const best = points.indexOf(Math.max(...points));
    return points[0] < 500 && points[best] >= 500 ? names[best] : name;
  }

  // The part of a text around the first match.
  function excerpt(text, patterns) {
    const at = Math.min(...patterns.map((pattern) => text.search(pattern)).filter((index) => index >= 0), text.length);
    const start = at < text.length ? Math.max(0, text.lastIndexOf(" ", Math.max(0, at - 40)) + 1) : 0;
    return (start > 0 ? "… " : "") + text.slice(start, start + 140);
  }

  function marked(element, text, patterns) {
    const pattern = new RegExp(patterns.map((each) => `${each.source}[\\p{L}\\p{N}]*`).join("|"), "giu");
    let end = 0;
    for (const match of text.matchAll(pattern)) {
      const mark = document.createElement("mark");
      mark.textContent = match[0];
      element.append(text.slice(end, match.index), mark);
      end = match.index + match[0].length;
    }
    element.append(text.slice(end));
    return element;
  }

  function attach(box, root) {
    const field = box.querySelector("input");
    const list = box.querySelector("[role=listbox]");
    const status = box.querySelector("[role=status]");
    const toggle = document.getElementById("__search");
    let loading = null;
    let entries = [];
    let chosen = -1;

    function load(file) {
      return new Promise((resolve, reject) => {
        const script = document.createElement("script");
        Object.assign(script, { src: new URL(`search/${file}`, root).href, onload: resolve, onerror: reject });
        document.head.append(script);
      });
    }

    function prepare() {
      loading ??= Promise.all([load("names.js"), load("text.js")]).then(() => {
        entries = prepared(searchIndex.names);
      });
      return loading;
    }

    function choose(index) {
      const items = list.children;
      if (items.length === 0) return;
      if (chosen >= 0) items[chosen].setAttribute("aria-selected", "false");
      chosen = (index + items.length) % items.length;
      items[chosen].setAttribute("aria-selected", "true");
      items[chosen].scrollIntoView({ block: "nearest" });
      field.setAttribute("aria-activedescendant", items[chosen].id);
    }

    function shown({ entry, section, patterns }, index) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      const title = document.createElement("strong");
      const about = document.createElement("span");
      Object.assign(item, { id: `site-search-hit-${index}`, className: entry ? "name" : "text" });
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      link.tabIndex = -1;
      link.href = new URL(entry ? entry.address : section[0], root).href;
      if (entry) {
        title.textContent = `tf.${shownName(entry, field.value)}`;
        about.textContent = entry.text;
      } else {
        title.textContent = section.slice(1, 3).filter(Boolean).join(" › ");
        marked(about, excerpt(section[3], patterns), patterns);
      }
      link.append(title, about);
      item.append(link);
      return item;
    }

    async function update() {
      await prepare();
      const query = field.value.trim();
      const hits = find(query, entries, searchIndex.sections);
      chosen = -1;
      list.replaceChildren(...hits.map(shown));
      field.setAttribute("aria-expanded", String(hits.length > 0));
      field.removeAttribute("aria-activedescendant");
      if (!query) status.textContent = "Type a name of TensorFlow's, or words";
      else status.textContent = hits.length === 0 ? "No results" : `${hits.length} results`;
      choose(0);
    }

    function open(isOpen) {
      if (toggle.checked !== isOpen) toggle.click();
    }

    function close() {
      open(false);
      field.blur();
    }

    field.addEventListener("focus", () => { open(true); update(); });
    field.addEventListener("input", update);
    toggle.addEventListener("change", () => { if (toggle.checked) field.focus(); });
    box.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
    box.querySelector("form").addEventListener("reset", () => { setTimeout(update); field.focus(); });
    list.addEventListener("click", close);
    field.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") choose(chosen + 1);
      else if (event.key === "ArrowUp") choose(chosen - 1);
      else if (event.key === "Escape") close();
      else if (event.key === "Tab") { open(false); return; }
      else if (event.key === "Enter") { if (chosen >= 0) list.children[chosen].firstChild.click(); }
      else return;
      event.preventDefault();
    });
    document.addEventListener("keydown", (event) => {
      const isTyping = event.target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !["/", "s", "f"].includes(event.key)) return;
      event.preventDefault();
      field.focus();
      field.select();
    });
  }

  // An address from before each name had a page, `data.html#gradtape.data.Dataset.batch`, leads to the name's page.
  function follow(anchor) {
    for (let name = anchor; name.startsWith("gradtape.") && !document.getElementById(anchor); ) {
      name = name.slice(0, name.lastIndexOf("."));
      const link = document.getElementById(name)?.parentElement.querySelector("a[href]");
      if (link) location.replace(`${link.href.split("#")[0]}#${anchor}`);
      if (link) return;
    }
  }

  if (typeof document !== "undefined") {
    const root = new URL("..", document.currentScript.src);
    attach(document.getElementById("site-search"), root);
    follow(decodeURIComponent(location.hash.slice(1)));
  } else {
    module.exports = { find, prepared, follow }; // for tests
  }
}
