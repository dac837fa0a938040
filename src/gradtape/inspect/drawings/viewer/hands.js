// Opening and going; what hands and keys do to the drawing. `select(item)` is the page's, or the cell's.

const WIRES = { "": "gradient (thicker: larger)", zero: "gradient is 0", none: "gradient is None", nan: "NaN or infinite", off: "not on the way of gradients" };

function setOpen(group, open) {
  const anchor = shown(group), before = { x: anchor.ax, y: anchor.ay };
  group.open = open;
  rearrange();
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
  if (changed) rearrange();
  const wide = Math.max(item.w, 1), scale = Math.max(Math.min(view.scale, 1.4), Math.min(0.8, (graph.clientWidth - 24) / wide));
  view.scale = scale;
  view.x = graph.clientWidth / 2 - (item.ax + item.w / 2) * scale;
  view.y = graph.clientHeight / 2 - (item.ay + item.h / 2) * scale;
  select(item);
}

function openAFew() {
  // As many groups as keep the picture readable, the smallest first; trouble is opened before all others.
  let visible = top.children.length;
  const most = isWide() ? (isCell ? 45 : 70) : 18, closed = top.children.filter((child) => child.children);
  // A box that stands for repeated blocks stays closed, unless there is room for everything.
  const all = top.sum.ops <= most, rank = (group) => (group.sum.marks.has("nan") || group.sum.marks.has("none") ? 0 : 1000) + group.children.length;
  while (closed.length) {
    closed.sort((a, b) => rank(a) - rank(b));
    const group = closed.shift();
    if (visible + group.children.length > most || group.repeats && !all && rank(group) >= 1000) continue;
    group.open = true;
    visible += group.children.length;
    closed.push(...group.children.filter((child) => child.children));
  }
}

// ---------------------------------------------------------------- hands

const pointers = new Map();
let travelled = 0, spread = 0, touched = false;

graph.addEventListener("pointerdown", (event) => {
  graph.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, event);
  if (pointers.size === 1) travelled = 0;
  spread = 0;
  touched = true;
  graph.classList.add("dragging");
});
graph.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  pointers.set(event.pointerId, event);
  if (pointers.size === 1) {
    view.x += event.clientX - before.clientX;
    view.y += event.clientY - before.clientY;
    travelled += Math.abs(event.clientX - before.clientX) + Math.abs(event.clientY - before.clientY);
    redraw();
  } else {
    const [a, b] = [...pointers.values()], frame = graph.getBoundingClientRect();
    const apart = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    if (spread) zoom(apart / spread, (a.clientX + b.clientX) / 2 - frame.left, (a.clientY + b.clientY) / 2 - frame.top);
    spread = apart;
    travelled = 100;
  }
});
const lift = (event) => {
  if (!pointers.delete(event.pointerId)) return;
  graph.classList.remove("dragging");
  if (event.type === "pointerup" && !pointers.size && travelled < 6) tap(event);
};
graph.addEventListener("pointerup", lift);
graph.addEventListener("pointercancel", lift);

function tap(event) {
  graph.focus({ preventScroll: true });
  const frame = graph.getBoundingClientRect();
  const x = (event.clientX - frame.left - view.x) / view.scale, y = (event.clientY - frame.top - view.y) / view.scale;
  const under = boxes.filter((b) => x >= b.ax && y >= b.ay && x <= b.ax + b.w && y <= b.ay + b.h);
  const item = under.sort((a, b) => b.depth - a.depth)[0];
  if (!item) return select(null);
  if (item.children && (!item.open || y < item.ay + HEAD)) setOpen(item, !item.open);
  select(item);
}

graph.addEventListener("wheel", (event) => {
  if (isCell && !event.ctrlKey) return;  // the wheel scrolls the notebook
  event.preventDefault();
  touched = true;
  const frame = graph.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.clientX - frame.left, event.clientY - frame.top);
}, { passive: false });

graph.addEventListener("keydown", (event) => {
  const { key } = event, at = boxes.indexOf(selected);
  if (key === "ArrowDown" || key === "ArrowUp") walk(at < 0 ? (key === "ArrowDown" ? 0 : boxes.length - 1) : at + (key === "ArrowDown" ? 1 : -1));
  else if ((key === "Enter" || key === " ") && selected?.children) { setOpen(selected, !selected.open); select(selected); }
  else if (key === "Escape" && selected) select(null);
  else if (key === "+") zoom(1.25);
  else if (key === "-") zoom(0.8);
  else return;
  event.preventDefault();
  event.stopPropagation();  // notebooks have keys of their own
});

function walk(i) {
  const item = boxes[Math.min(Math.max(i, 0), boxes.length - 1)];
  if (!item) return;
  touched = true;
  reveal(item);
  select(item);
}

element("closer").onclick = () => zoom(1.3);
element("farther").onclick = () => zoom(1 / 1.3);

function legend() {
  const parts = [];
  const swatch = (color, text) => {
    const entry = make("span"), sample = make("i");
    sample.style.background = color;
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
  for (const mark of ["nan", "none", "zero"]) if (top.sum.marks.has(mark)) swatch(`var(--${mark})`, MARKS[mark]);
  for (const [kind, text] of Object.entries(WIRES)) {
    if (!wires.some((wire) => wire.kind === kind || kindOfWire(wire) === kind)) continue;
    const entry = make("span"), sample = svg("svg", { class: "sample", viewBox: "0 0 24 8" }), wire = svg("g", { class: `wire ${kind}` });
    wire.append(svg("path", { d: "M0 4H24" }));
    sample.append(wire);
    entry.append(sample, text);
    parts.push(entry);
  }
  element("legend").replaceChildren(...parts);
}

