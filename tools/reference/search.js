// The search field of the reference: names first, then summaries. It needs no server and no network.
// NAMES, from names.js, is a list of [name, page, summary, ...other names].
"use strict";

function folded(text) {
  return text.toLowerCase().replace(/[_\s]/g, "");
}

// How well an entry matches the words of a query; 0 means that it does not.
function score(entry, words) {
  const [name, , summary, ...also] = entry;
  const paths = [name, ...also].map(folded);
  const leaves = paths.map((path) => path.slice(path.lastIndexOf(".") + 1));
  let total = 0;
  for (const word of words) {
    let points = 0;
    if (leaves.includes(word) || paths.includes(word)) points = 100;
    else if (leaves.some((leaf) => leaf.startsWith(word))) points = 60;
    else if (leaves.some((leaf) => leaf.includes(word))) points = 40;
    else if (paths.some((path) => path.includes(word))) points = 20;
    else if (folded(summary).includes(word)) points = 10;
    if (points === 0) return 0;
    total += points;
  }
  return total - name.length / 100 - (/^(compat|experimental|raw_ops)/.test(name) ? 5 : 0);
}

function find(query, names = NAMES, count = 20) {
  const words = query.replace(/\b(tf|gradtape)\./g, "").trim().split(/\s+/).map(folded).filter(Boolean);
  if (words.length === 0) return [];
  const joined = [words.join("")]; // "cross entropy" is also "cross_entropy"
  return names
    .map((entry) => [Math.max(score(entry, words), score(entry, joined)), entry])
    .filter(([points]) => points > 0)
    .sort((a, b) => b[0] - a[0])
    .slice(0, count)
    .map(([, entry]) => entry);
}

function attach(field, list) {
  let chosen = -1;

  function choose(index) {
    const items = list.children;
    if (items.length === 0) return;
    if (chosen >= 0) items[chosen].classList.remove("chosen");
    chosen = (index + items.length) % items.length;
    items[chosen].classList.add("chosen");
    items[chosen].scrollIntoView({ block: "nearest" });
  }

  field.addEventListener("input", () => {
    chosen = -1;
    list.replaceChildren(
      ...find(field.value).map(([name, page, summary]) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        const code = document.createElement("code");
        link.href = `${page}.html#gradtape.${name}`;
        code.textContent = `tf.${name}`;
        link.append(code, ` ${summary.replace(/`/g, "")}`);
        item.append(link);
        return item;
      }),
    );
    choose(0);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Escape") list.replaceChildren();
    else if (event.key === "Enter" && chosen >= 0) list.children[chosen].firstChild.click();
    else return;
    event.preventDefault();
  });
}

if (typeof document !== "undefined") {
  for (const box of document.querySelectorAll(".name-search")) {
    attach(box.querySelector("input"), box.querySelector("ul"));
  }
} else {
  module.exports = { find }; // for tests
}
