// Opening, going, finding; and what hands do.

function setOpen(group, open) {
  const anchor = shown(group), before = { x: anchor.ax, y: anchor.ay };
  group.open = open;
  arrange();
  const after = shown(group);
  view.x += (before.x - after.ax) * view.scale;  // what was tapped stays where it was
  view.y += (before.y - after.ay) * view.scale;
  redraw();
}

// Selects an item and brings it to the middle, with the groups around it open.
function goTo(item) {
  touched = true;
  let changed = false;
  for (let group = item.parent; group; group = group.parent) if (!group.open) { group.open = true; changed = true; }
  if (changed) arrange();
  const wide = Math.max(item.w, 1), scale = Math.max(Math.min(view.scale, 1.4), Math.min(0.8, (canvas.clientWidth - 24) / wide));
  view.scale = scale;
  view.x = canvas.clientWidth / 2 - (item.ax + item.w / 2) * scale;
  view.y = canvas.clientHeight / 2 - (item.ay + item.h / 2) * scale;
  select(item);
}

const go = (id) => goTo(itemOf.get(id));

let hits = [], hit = 0, sought = "";

// Looks for a text, and lands on the first operation it is about.
function find(text) {
  sought = text;
  hits = found(text);
  hit = 0;
  matches = text.trim() ? new Set() : null;
  for (const id of hits) for (let item = itemOf.get(id); item; item = item.parent) matches.add(item);
  land();
}

function land() {
  element("found").textContent = hits.length ? `${hit + 1} of ${hits.length}` : matches ? "nothing" : "";
  element("finder").hidden = hits.length < 2;
  if (hits.length) go(hits[hit]); else redraw();
}

function nextHit(by) {
  if (!hits.length) return;
  hit = (hit + by + hits.length) % hits.length;
  land();
}

// Another step: what is selected stays so, as far as the graph is the same.
function showStep(i) {
  const at = Math.min(Math.max(i, 0), page.steps.length - 1), kept = selected;
  const same = takeStep(at);
  if (!same) {
    openAFew();
    hits = []; matches = null;
    arrange();
    fit();
  }
  showStepBar();
  legend();
  select(same ? kept : null);
}

function showStepBar() {
  const { steps } = page, taken = steps[step];
  element("steps").hidden = false;
  element("step").max = steps.length - 1;
  element("step").value = step;
  element("step-text").textContent = `step ${taken.step}` + (taken.loss === null ? "" : ` · loss ${number(taken.loss)}`);
  element("losses").replaceChildren(curve(steps.map((each) => (each.loss === null ? NaN : each.loss)), "losses"));
}

function openAFew() {
  // As many groups as keep the picture readable, the smallest first; trouble is opened before all others.
  let visible = root.children.length;
  const most = innerWidth > 760 ? 70 : 18;
  const closed = root.children.filter((child) => child.children);
  const rank = (group) => (group.sum.marks.has("nan") || group.sum.marks.has("none") ? 0 : 1000) + group.children.length;
  while (closed.length) {
    closed.sort((a, b) => rank(a) - rank(b));
    const group = closed.shift();
    if (visible + group.children.length > most || group.children.length === 1 && most < 70) continue;
    group.open = true;
    visible += group.children.length;
    closed.push(...group.children.filter((child) => child.children));
  }
}


// ---------------------------------------------------------------- hands

const pointers = new Map();
let travelled = 0, spread = 0, touched = false;

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, event);
  if (pointers.size === 1) travelled = 0;
  spread = 0;
  touched = true;
  canvas.classList.add("dragging");
});
canvas.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  pointers.set(event.pointerId, event);
  if (pointers.size === 1) {
    view.x += event.clientX - before.clientX;
    view.y += event.clientY - before.clientY;
    travelled += Math.abs(event.clientX - before.clientX) + Math.abs(event.clientY - before.clientY);
    redraw();
  } else {
    const [a, b] = [...pointers.values()], frame = canvas.getBoundingClientRect();
    const apart = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    if (spread) zoom(apart / spread, (a.clientX + b.clientX) / 2 - frame.left, (a.clientY + b.clientY) / 2 - frame.top);
    spread = apart;
    travelled = 100;
  }
});
const lift = (event) => {
  if (!pointers.delete(event.pointerId)) return;
  canvas.classList.remove("dragging");
  if (event.type === "pointerup" && !pointers.size && travelled < 6) tap(event);
};
canvas.addEventListener("pointerup", lift);
canvas.addEventListener("pointercancel", lift);

function tap(event) {
  const frame = canvas.getBoundingClientRect();
  const x = (event.clientX - frame.left - view.x) / view.scale, y = (event.clientY - frame.top - view.y) / view.scale;
  const under = boxes.filter((b) => x >= b.ax && y >= b.ay && x <= b.ax + b.w && y <= b.ay + b.h);
  const item = under.sort((a, b) => b.depth - a.depth)[0];
  if (!item) return select(null);
  if (item.children && (!item.open || y < item.ay + HEAD)) setOpen(item, !item.open);
  select(item);
}

canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  touched = true;
  const frame = canvas.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.clientX - frame.left, event.clientY - frame.top);
}, { passive: false });

addEventListener("keydown", (event) => {
  if (event.target.matches("input, select")) return;
  if (event.key === "f") fit();
  if (event.key === "/") { event.preventDefault(); element("search").focus(); }
  if (event.key === "Escape") select(null);
  if (event.key === "+") zoom(1.25);
  if (event.key === "-") zoom(0.8);
  if (page.steps && event.key === "ArrowLeft") showStep(step - 1);
  if (page.steps && event.key === "ArrowRight") showStep(step + 1);
});

element("title").textContent = page.title;
let typing = 0;
element("search").addEventListener("input", (event) => {
  clearTimeout(typing);
  typing = setTimeout(() => find(event.target.value), 150);
});
element("search").addEventListener("keydown", (event) => {
  if (event.key === "Escape") { event.target.value = ""; find(""); }
  if (event.key !== "Enter") return;
  clearTimeout(typing);
  if (event.target.value === sought) nextHit(event.shiftKey ? -1 : 1); else find(event.target.value);
});
element("before").onclick = () => nextHit(-1);
element("next").onclick = () => nextHit(1);
if (page.steps) {
  element("step").addEventListener("input", (event) => showStep(Number(event.target.value)));
  element("step-back").onclick = () => showStep(step - 1);
  element("step-on").onclick = () => showStep(step + 1);
  element("losses").onclick = (event) => {
    const frame = element("losses").getBoundingClientRect();
    showStep(Math.round((event.clientX - frame.left) / frame.width * (page.steps.length - 1)));
  };
}
element("fit").onclick = fit;
element("closer").onclick = () => zoom(1.3);
element("farther").onclick = () => zoom(1 / 1.3);
element("grip").onclick = () => { element("panel").classList.toggle("tall"); redraw(); };
element("open-all").hidden = data.nodes.length > 600 || !groupsBelow(root).length;
element("open-all").onclick = () => {
  const groups = groupsBelow(root), open = groups.some((group) => !group.open);
  for (const group of groups) group.open = open;
  arrange();
  fit();
};

const present = Object.keys(MODES).filter((name) => name === "kind" || data.nodes.some((node) => (name === "gradient" ? node.gradient : node[name])));
for (const name of present) element("colour").append(new Option(MODES[name], name));
element("colour").onchange = (event) => { mode = event.target.value; legend(); redraw(); };

function legend() {
  const parts = [];
  const swatch = (colour, text) => {
    const entry = make("span"), sample = make("i");
    sample.style.background = colour;
    entry.append(sample, text);
    parts.push(entry);
  };
  if (mode === "kind") {
    const there = new Set(data.nodes.map((node) => node.kind));
    for (const [kind, text] of Object.entries(KINDS)) if (there.has(kind)) swatch(`var(--${kind})`, text);
  } else {
    swatch("rgba(var(--heat), .1)", `little ${MODES[mode]}`);
    swatch("rgba(var(--heat), .8)", "most");
  }
  for (const mark of ["nan", "none", "zero"]) if (root.sum.marks.has(mark)) swatch(`var(--${mark})`, MARKS[mark]);
  element("legend").replaceChildren(...parts);
}

const dark = matchMedia("(prefers-color-scheme: dark)");
function theme(name) {
  document.documentElement.dataset.theme = name;
  readColours();
  redraw();
}
dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
element("theme").onclick = () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");

const report = {
  drawMs: 0, data, view, draw, go, select, find, fit, layers, showStep, nextHit,
  boxes: () => boxes, wires: () => wires, groups: () => groupCount, selected: () => selected, shown: () => data,
};
globalThis.gradtapeReport = report;

new ResizeObserver(() => {
  if (touched) return redraw();
  arrange();
  fit();
}).observe(canvas);

openAFew();
theme(dark.matches ? "dark" : "light");
legend();
arrange();
select(null);
fit();
if (page.steps) showStepBar();
if (byId.has(Number(location.hash.slice(1) || NaN))) go(Number(location.hash.slice(1)));  // step.html#12 shows record 12
