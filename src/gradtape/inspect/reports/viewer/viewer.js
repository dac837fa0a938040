// The page of one step: a graph of nested groups on a canvas, and a panel about what is selected.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const byId = new Map(data.nodes.map((node) => [node.id, node]));
const element = (id) => document.getElementById(id);

const KINDS = {
  product: "matrix products", elementwise: "elementwise", reduction: "reductions", movement: "moves data",
  call: "calls, custom gradients", other: "other", variable: "variables", input: "inputs",
};
const MARKS = { nan: "NaN or infinite", none: "gradient is None", zero: "gradient is zero", end: "derivative ends" };
const MODES = {
  kind: "kind", forward: "forward time", backward: "backward time", bytes: "memory kept", gradient: "gradient size",
};

// ---------------------------------------------------------------- the tree

// An item is a node of the graph or a group of items. Groups can be open or closed.
const itemOf = new Map();
let groupCount = 0;

function makeItem(entry, parent, depth) {
  if (typeof entry === "number") {
    const item = { node: byId.get(entry), parent, depth };
    itemOf.set(entry, item);
    return item;
  }
  const group = { name: entry.name, id: groupCount++, parent, depth, open: false, edges: [] };
  group.children = entry.children.map((child) => makeItem(child, group, depth + 1));
  return group;
}

const root = makeItem({ name: data.title, children: data.tree }, null, 0);
root.open = true;

function summarise(group) {
  const sum = { ops: 0, forward: 0, backward: 0, bytes: 0, marks: new Set(), target: false, norm: 0, kinds: {} };
  for (const child of group.children) {
    const part = child.children ? summarise(child) : {
      ops: child.node.kind === "variable" || child.node.kind === "input" ? 0 : 1, forward: child.node.forward || 0,
      backward: child.node.backward || 0, bytes: child.node.bytes || 0, marks: child.node.marks.map((m) => m[0]),
      target: child.node.target, norm: child.node.gradient?.norm || 0, kinds: { [child.node.kind]: 1 },
    };
    for (const [kind, count] of Object.entries(part.kinds)) sum.kinds[kind] = (sum.kinds[kind] || 0) + count;
    sum.ops += part.ops; sum.forward += part.forward; sum.backward += part.backward; sum.bytes += part.bytes;
    sum.norm = Math.max(sum.norm, part.norm);
    sum.target = sum.target || part.target;
    for (const mark of part.marks) sum.marks.add(mark);
  }
  group.sum = sum;
  return sum;
}
summarise(root);

// Each edge is kept by the innermost group that holds both of its ends, as a pair of that group's children.
const users = new Map(data.nodes.map((node) => [node.id, []]));
for (const node of data.nodes) {
  for (const id of node.ins) {
    users.get(id).push(node.id);
    let a = itemOf.get(id), b = itemOf.get(node.id);
    while (a.parent !== b.parent) {
      if (a.depth >= b.depth) a = a.parent; else b = b.parent;
    }
    a.parent.edges.push([a, b]);
  }
}

// ---------------------------------------------------------------- layout

const ruler = document.createElement("canvas").getContext("2d");
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const GAP = 26, ROW = 34, PAD = 18, HEAD = 30;

function label(item) {
  return item.children ? item.name : item.node.op;
}

function caption(item) {
  if (item.children) return `${item.sum.ops} op${item.sum.ops === 1 ? "" : "s"}`;
  const { shape, dtype, outputs } = item.node;
  if (!shape) return "";
  return (shape.length ? shape.join(" × ") : "scalar") + (dtype && dtype !== "float32" ? ` ${dtype}` : "") +
    (outputs ? `, ${outputs} outputs` : "");
}

function sizeOf(item) {
  if (item.children && item.open) return layOut(item);
  ruler.font = `600 14px ${FONT}`;
  const wide = ruler.measureText(label(item)).width;
  ruler.font = `12px ${FONT}`;
  item.w = Math.min(240, Math.max(96, Math.max(wide, ruler.measureText(caption(item)).width) + 30));
  item.h = item.children ? 58 : 44;
}

// Children in rows by their longest way from the start; long stacks of rows are broken into columns, as in a newspaper.
function layOut(group) {
  const { children } = group;
  children.forEach(sizeOf);
  const level = new Map(children.map((child) => [child, 0]));
  const into = new Map(children.map((child) => [child, []]));
  const from = new Map(children.map((child) => [child, []]));
  for (const [a, b] of group.edges) { into.get(b).push(a); from.get(a).push(b); }
  for (const child of children) {
    for (const a of into.get(child)) level.set(child, Math.max(level.get(child), level.get(a) + 1));
  }
  for (const child of children) {  // what has no past stands right before its first use
    const next = from.get(child).map((b) => level.get(b));
    if (!into.get(child).length && next.length) level.set(child, Math.max(0, Math.min(...next) - 1));
  }
  const rows = [];
  for (const child of children) (rows[level.get(child)] ||= []).push(child);
  const filled = rows.filter(Boolean);

  for (const row of filled) {
    let x = 0;
    for (const child of row) { child.cx = x + child.w / 2; x += child.w + GAP; }
    for (const child of row) child.cx -= (x - GAP) / 2;
  }
  for (let pass = 0; pass < 6; pass++) {
    for (const row of pass % 2 ? [...filled].reverse() : filled) settle(row, pass % 2 ? from : into);
  }

  const aspect = innerWidth > 760 ? 1.5 : 0.7;
  const heights = filled.map((row) => Math.max(...row.map((child) => child.h)) + ROW);
  const edge = (row, side) => side * Math.max(...row.map((child) => side * child.cx + child.w / 2));
  const span = Math.max(...filled.map((row) => edge(row, 1))) - Math.min(...filled.map((row) => edge(row, -1)));
  const total = heights.reduce((a, b) => a + b, 0);
  const columns = Math.max(1, Math.min(Math.round(Math.sqrt(total * aspect / (span + 80))), Math.ceil(filled.length / 4)));
  const limit = total / columns;

  let x = PAD, height = 0;
  for (let start = 0; start < filled.length;) {
    let stop = start, used = 0;
    while (stop < filled.length && (stop === start || used + heights[stop] / 2 <= limit)) used += heights[stop++];
    const column = filled.slice(start, stop);
    const left = Math.min(...column.map((row) => edge(row, -1)));
    const right = Math.max(...column.map((row) => edge(row, 1)));
    let y = PAD + (group.parent ? HEAD : 0);
    column.forEach((row, i) => {
      for (const child of row) {
        child.x = x + child.cx - left - child.w / 2;
        child.y = y + (heights[start + i] - ROW - child.h) / 2;
        child.gutter = x - 23;
      }
      y += heights[start + i];
    });
    height = Math.max(height, y - ROW + PAD);
    x += right - left + 46;
    start = stop;
  }
  ruler.font = `600 13px ${FONT}`;
  group.w = Math.max(x - 46 + PAD, ruler.measureText(group.name).width + 70);
  group.h = Math.max(height, 70);
}

// A variable stands beside the way that values take, not on it.
function standsAside(child) {
  return !child.children && !child.node.ins.length && users.get(child.node.id).some((id) => byId.get(id).ins.length > 1);
}

// Moves the members of a row towards their neighbours, in order and without overlap.
function settle(row, neighbours) {
  const wish = new Map(row.map((child) => {
    const near = neighbours.get(child);
    const middle = near.length ? near.reduce((sum, n) => sum + n.cx, 0) / near.length : child.cx;
    return [child, middle + (near.length && standsAside(child) ? child.w / 2 + GAP : 0)];
  }));
  row.sort((a, b) => wish.get(a) - wish.get(b));
  let edge = -Infinity, shift = 0;
  for (const child of row) {
    child.cx = Math.max(wish.get(child), edge + child.w / 2);
    edge = child.cx + child.w / 2 + GAP;
    shift += wish.get(child) - child.cx;
  }
  for (const child of row) child.cx += shift / row.length;
}

let boxes = [], wires = [];
const MANY = 12;  // the wires of a variable that so many use are shown when one of their ends is selected

function arrange() {
  layOut(root);
  root.x = root.y = 0;
  boxes = [];
  const place = (group, x, y) => {
    for (const child of group.children) {
      child.ax = x + child.x; child.ay = y + child.y;
      boxes.push(child);
      if (child.children && child.open) place(child, child.ax, child.ay);
    }
  };
  place(root, 0, 0);
  const seen = new Map();
  for (const node of data.nodes) {
    for (const id of node.ins) {
      const a = shown(itemOf.get(id)), b = shown(itemOf.get(node.id));
      if (a === b) continue;
      const key = `${keyOf(a)}>${keyOf(b)}`;
      if (!seen.has(key)) seen.set(key, { a, b, onPath: false, shared: true });
      const wire = seen.get(key);
      wire.onPath ||= byId.get(id).onPath && node.onPath;
      wire.shared &&= users.get(id).length > MANY;
    }
  }
  wires = [...seen.values()];
}

const keyOf = (item) => (item.children ? `g${item.id}` : item.node.id);

// The item that stands for another: itself, or the outermost closed group around it.
function shown(item) {
  let found = item;
  for (let group = item.parent; group; group = group.parent) if (!group.open) found = group;
  return found;
}

// ---------------------------------------------------------------- drawing

const canvas = element("graph"), pen = canvas.getContext("2d");
const view = { scale: 1, x: 0, y: 0 };
let colours = {}, mode = "kind", selected = null, matches = new Set(), asked = false;

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const names = ["paper", "card", "ink", "quiet", "line", "wire", "accent", "group", "heat", ...Object.keys(KINDS), ...Object.keys(MARKS)];
  colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

const measure = {
  forward: (item) => (item.children ? item.sum.forward : item.node.forward) || 0,
  backward: (item) => (item.children ? item.sum.backward : item.node.backward) || 0,
  bytes: (item) => (item.children ? item.sum.bytes : item.node.bytes) || 0,
  gradient: (item) => (item.children ? item.sum.norm : item.node.gradient?.norm) || 0,
};
let most = 1;

function fill(item) {
  if (mode !== "kind") {
    const share = measure[mode](item) / most;
    return share > 0 ? `rgba(${colours.heat}, ${0.08 + 0.72 * Math.sqrt(share)})` : colours.card;
  }
  return item.children ? colours.card : colours[item.node.kind];
}

function marksOf(item) {
  return item.children ? [...item.sum.marks] : [...new Set(item.node.marks.map((mark) => mark[0]))];
}

function draw() {
  asked = false;
  const start = performance.now();
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
  }
  const { scale } = view;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * view.x, ratio * view.y);
  const left = -view.x / scale, top = -view.y / scale, right = left + width / scale, bottom = top + height / scale;
  const inSight = (item) => item.ax < right && item.ay < bottom && item.ax + item.w > left && item.ay + item.h > top;
  most = Math.max(1e-30, ...boxes.filter((item) => !item.open).map((item) => (mode === "kind" ? 0 : measure[mode](item))));

  for (const item of boxes) if (item.open && inSight(item)) drawOpen(item);
  pen.lineWidth = Math.max(1.2, 0.7 / scale);
  for (const wire of wires) if (!wire.shared) drawWire(wire, false, left, top, right, bottom);
  if (selected) for (const wire of wires) if (wire.a === selected || wire.b === selected) drawWire(wire, true, left, top, right, bottom);
  for (const item of boxes) if (!item.open && inSight(item)) drawBox(item);
  report.drawMs = performance.now() - start;
}

function box(item, radius) {
  pen.beginPath();
  pen.roundRect(item.ax, item.ay, item.w, item.h, radius);
}

function drawOpen(item) {
  box(item, 12);
  pen.fillStyle = colours.group;
  pen.fill();
  pen.lineWidth = (item === selected ? 2.5 : 1) / Math.min(1, view.scale);
  pen.strokeStyle = item === selected ? colours.accent : colours.line;
  pen.stroke();
  if (view.scale * 13 < 4) return;
  pen.fillStyle = colours.quiet;
  pen.font = `600 13px ${FONT}`;
  pen.textAlign = "left";
  pen.fillText(clipped(`−  ${item.name}`, item.w - 28), item.ax + 14, item.ay + 21);
}

function drawWire({ a, b, onPath }, strong, left, top, right, bottom) {
  const x1 = a.ax + a.w / 2, y1 = a.ay + a.h, x2 = b.ax + b.w / 2, y2 = b.ay;
  if (Math.max(x1, x2) < left || Math.min(x1, x2) > right || Math.max(y1, y2) < top || Math.min(y1, y2) > bottom) return;
  pen.strokeStyle = strong ? colours.accent : colours.wire;
  pen.globalAlpha = strong || onPath ? 1 : 0.35;
  pen.setLineDash(onPath ? [] : [5, 5]);
  pen.beginPath();
  pen.moveTo(x1, y1);
  if (y2 > y1) {
    const bend = Math.max(18, (y2 - y1) / 2);
    pen.bezierCurveTo(x1, y1 + bend, x2, y2 - bend, x2, y2);
  } else {  // on to the next column, through the space between the columns
    const x = gutter(a, b);
    for (const [from, to] of [[[x1, y1 + 14], [x, y1 + 14]], [[x, y1 + 14], [x, y2 - 18]], [[x, y2 - 18], [x2, y2 - 18]], [[x2, y2 - 18], [x2, y2]]]) {
      pen.arcTo(...from, ...to, 9);
    }
    pen.lineTo(x2, y2);
  }
  pen.stroke();
  pen.setLineDash([]);
  if (view.scale > 0.25) {
    pen.fillStyle = pen.strokeStyle;
    pen.beginPath();
    pen.moveTo(x2, y2); pen.lineTo(x2 - 4, y2 - 7); pen.lineTo(x2 + 4, y2 - 7);
    pen.fill();
  }
  pen.globalAlpha = 1;
}

// Where the column begins that a wire from `a` has to go over to, to reach `b`.
function gutter(a, b) {
  while (a.parent !== b.parent) {
    if (a.depth > b.depth) a = a.parent; else b = b.parent;
  }
  return (b.parent.ax || 0) + b.gutter;
}

function drawBox(item) {
  const fades = !item.children && !item.node.onPath;
  pen.globalAlpha = matches.size && !matches.has(item) ? 0.25 : fades ? 0.6 : 1;
  if (item.children) {  // a closed group lies on a second sheet
    pen.beginPath();
    pen.roundRect(item.ax + 4, item.ay + 4, item.w, item.h, 10);
    pen.fillStyle = colours.card; pen.fill();
    pen.lineWidth = 1; pen.strokeStyle = colours.line; pen.stroke();
  }
  box(item, item.children ? 10 : item.node.kind === "variable" || item.node.kind === "input" ? 22 : 8);
  pen.fillStyle = colours.card; pen.fill();
  pen.fillStyle = fill(item); pen.fill();
  const marks = marksOf(item).filter((mark) => mark !== "end");
  const target = item.children ? item.sum.target : item.node.target;
  pen.lineWidth = (item === selected ? 3 : marks.length || target ? 2.2 : 1) / Math.min(1, view.scale);
  pen.strokeStyle = item === selected ? colours.accent : marks.length ? colours[marks[0]] : target ? colours.ink : colours.line;
  pen.stroke();
  if (view.scale * 14 >= 4.5) {
    pen.textAlign = "center";
    pen.fillStyle = colours.ink;
    pen.font = `600 14px ${FONT}`;
    const middle = item.ax + item.w / 2, line = item.ay + item.h / 2 - (item.children ? 4 : 0);
    pen.fillText(clipped(label(item), item.w - 16), middle, line - 2);
    pen.fillStyle = mode === "kind" ? colours.quiet : colours.ink;
    pen.font = `12px ${FONT}`;
    pen.fillText(clipped(caption(item), item.w - 12), middle, line + 14);
  }
  if (item.children && mode === "kind") {
    const counts = Object.entries(item.sum.kinds), all = counts.reduce((sum, entry) => sum + entry[1], 0);
    let x = item.ax + 12;
    for (const [kind, count] of counts) {
      const w = (item.w - 24) * count / all;
      pen.fillStyle = colours[kind];
      pen.fillRect(x, item.ay + item.h - 9, w, 4);
      x += w;
    }
  }
  const flags = marks.map((mark) => [mark, { nan: "NaN", none: "None", zero: "0" }[mark]]);
  flags.forEach(([mark, text], i) => flag(item, colours[mark], text, i));
  if (target) flag(item, colours.ink, data.kind === "tape" ? "target" : "result", flags.length);
  pen.globalAlpha = 1;
}

function flag(item, colour, text, i) {
  const size = Math.max(1, Math.min(1.7, 0.6 / view.scale));
  pen.font = `700 ${11 * size}px ${FONT}`;
  const w = pen.measureText(text).width + 10 * size;
  const x = item.ax + item.w - w + 6 * size - i * (w + 3), y = item.ay - 11 * size;
  pen.beginPath();
  pen.roundRect(x, y, w, 16 * size, 8 * size);
  pen.fillStyle = colour; pen.fill();
  pen.fillStyle = colours.card; pen.textAlign = "left";
  pen.fillText(text, x + 5 * size, y + 12 * size);
}

const cut = new Map();
function clipped(text, width) {
  const key = `${pen.font}|${width}|${text}`;
  if (!cut.has(key)) {
    let short = text;
    while (short.length > 3 && pen.measureText(short).width > width) short = short.slice(0, -2);
    cut.set(key, short === text ? text : `${short.slice(0, -1)}…`);
  }
  return cut.get(key);
}

function redraw() {
  if (!asked) { asked = true; requestAnimationFrame(draw); }
}

function show(x, y, w, h) {
  const width = canvas.clientWidth, height = canvas.clientHeight;
  const below = element("legend").clientHeight;
  view.scale = Math.min(1.4, (width - 24) / w, (height - 24 - below) / h);
  if (innerWidth <= 760) view.scale = Math.max(view.scale, Math.min(0.62, (width - 24) / w));  // read on by moving up
  view.x = width / 2 - (x + w / 2) * view.scale;
  view.y = Math.max(4, (height - below - h * view.scale) / 2) - y * view.scale;
  redraw();
}

const fit = () => show(root.x, root.y, root.w, root.h);

function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const scale = Math.min(4, Math.max(0.01, view.scale * factor));
  view.x = x - (x - view.x) * scale / view.scale;
  view.y = y - (y - view.y) * scale / view.scale;
  view.scale = scale;
  redraw();
}

// ---------------------------------------------------------------- the panel

const make = (tag, name, text) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
};

const seconds = (t) => (t >= 1 ? `${t.toFixed(2)} s` : t >= 1e-3 ? `${(t * 1e3).toPrecision(3)} ms` : `${(t * 1e6).toPrecision(3)} µs`);
const bytes = (n) => {
  const unit = Math.min(3, Math.max(0, Math.floor(Math.log10(Math.max(n, 1)) / 3)));
  return `${unit ? (n / 1000 ** unit).toPrecision(3) : n} ${["B", "kB", "MB", "GB"][unit]}`;
};
const number = (x) => (x === undefined ? "" : x === 0 ? "0" : Math.abs(x) >= 1e4 || Math.abs(x) < 1e-3 ? x.toExponential(2) : `${Number(x.toPrecision(4))}`);

function facts(pairs) {
  const list = make("dl", "facts");
  for (const [name, value] of pairs) if (value !== undefined && value !== "") list.append(make("dt", "", name), make("dd", "", value));
  return list;
}

function code(line) {
  const block = make("div", "code");
  block.append(make("small", "", `${line.file}:${line.number}${line.function === "<module>" ? "" : ` in ${line.function}`}`));
  if (line.text) block.append(line.text);
  return block;
}

function row(name, amount, share, action) {
  const line = make("button", "row");
  line.append(make("span", "name", name), make("span", "number", amount));
  const bar = make("span", "bar"), part = make("span");
  part.style.width = `${Math.round(100 * share)}%`;
  bar.append(part);
  line.append(bar);
  line.title = name;
  line.onclick = action;
  return line;
}

function histogram(title, numbers) {
  const part = make("div");
  part.append(make("h3", "", title));
  if (numbers.bins) {
    const top = Math.max(...numbers.bins), n = numbers.bins.length, name = "http://www.w3.org/2000/svg";
    const picture = document.createElementNS(name, "svg");
    picture.setAttribute("class", "histogram");
    picture.setAttribute("viewBox", `0 0 ${n} 10`);
    picture.setAttribute("preserveAspectRatio", "none");
    numbers.bins.forEach((count, i) => {
      const bar = document.createElementNS(name, "rect"), height = count ? Math.max(0.25, 10 * count / top) : 0;
      bar.setAttribute("x", i + 0.06); bar.setAttribute("width", 0.88);
      bar.setAttribute("y", 10 - height); bar.setAttribute("height", height);
      picture.append(bar);
    });
    const axis = make("div", "axis");
    axis.append(make("span", "", number(numbers.low)), make("span", "", number(numbers.high)));
    part.append(picture, axis);
  }
  const alone = numbers.size === 1;
  part.append(facts([
    [alone ? "value" : "mean", number(numbers.mean)], ["norm", alone ? "" : number(numbers.norm)],
    ["exactly zero", numbers.zeros && !alone ? `${Math.round(100 * numbers.zeros / numbers.size)}%` : ""],
    ["NaN", numbers.nan || ""], ["infinite", numbers.inf || ""], ["entries", alone ? "" : numbers.size.toLocaleString("en")],
  ]));
  return part;
}

function card(kind, title, text, action) {
  const made = make(action ? "button" : "div", `card ${kind}`);
  if (title) made.append(make("b", "", title));
  made.append(text);
  if (action) made.onclick = action;
  return made;
}

function overview() {
  const parts = [make("h2", "", data.kind === "tape" ? "This step" : data.title), facts(data.facts)];
  if (data.problems.length) parts.push(make("h3", "", "What is wrong"));
  for (const problem of data.problems) {
    const where = problem.line ? `\n${problem.line.file}:${problem.line.number}` : "";
    const text = problem.kind === "nan" ? problem.text.split("\n").slice(1).join("\n") : problem.text + where;
    const title = problem.kind === "nan" ? problem.title : `${problem.title}: the gradient is ${problem.kind === "zero" ? "zero" : "None"}`;
    parts.push(card(problem.kind, title, text, problem.id === null ? null : () => go(problem.id)));
  }
  if (!data.problems.length && data.kind === "tape") {
    parts.push(make("p", "quiet", "Every source has a gradient, and everything is finite."));
  }
  if (data.sources.length) {
    parts.push(make("h3", "", "Gradients (their norms)"));
    const largest = Math.max(1e-30, ...data.sources.map((s) => s.gradient?.norm || 0));
    for (const source of data.sources.slice(0, 60)) {
      const g = source.gradient;
      const text = !g ? "None" : g.nan ? "NaN" : g.inf ? "infinite" : number(g.norm);
      parts.push(row(source.name, text, g?.norm ? Math.sqrt(g.norm / largest) : 0, () => source.id !== null && go(source.id)));
    }
  }
  const lines = new Map();
  for (const node of data.nodes) {
    if (!node.line || node.forward === undefined || node.forward === null) continue;
    const key = `${node.line.file}:${node.line.number}`;
    const entry = lines.get(key) || { key, time: 0, id: node.id, text: node.line.text };
    entry.time += node.forward + (node.backward || 0);
    lines.set(key, entry);
  }
  const dear = [...lines.values()].sort((a, b) => b.time - a.time).slice(0, 8);
  if (dear.length) {
    parts.push(make("h3", "", "Where the time goes (forward and backward)"));
    for (const line of dear) parts.push(row(line.text || line.key, seconds(line.time), line.time / dear[0].time, () => go(line.id)));
  }
  parts.push(make("h3", "", "How to read this page"));
  parts.push(make("p", "quiet", data.kind === "tape"
    ? "Values flow down from the variables (round boxes) to the target; gradients flow back up the same wires. A box is one " +
      "operation with the shape of its result; stacked boxes are layers or functions: tap one to open it. Dashed wires and pale " +
      "boxes take no part in the gradient."
    : "Values flow down from arguments and variables (round boxes) to the results. A box is one operation with the shape of its " +
      "result; stacked boxes hold branches, loop bodies or long runs: tap one to open it."));
  if (!data.traced) {
    parts.push(make("p", "quiet", "This tape was not traced, so lines, layers, times and most values are missing: use tf.GradientTape(trace=True)."));
  }
  return parts;
}

function chips(title, ids) {
  if (!ids.length) return [];
  const list = make("div", "chips");
  for (const id of ids.slice(0, 30)) {
    const chip = make("button", "", byId.get(id).op);
    chip.onclick = () => go(id);
    list.append(chip);
  }
  return [make("h3", "", title), list];
}

function details(item) {
  const back = make("button", "back", "‹ This step");
  back.onclick = () => select(null);
  const parts = [back];
  if (item.children) {
    parts.push(make("h2", "", item.name));
    const toggle = make("button", "", item.open ? "Close this group" : "Open this group");
    toggle.onclick = () => { setOpen(item, !item.open); select(item); };
    const { sum } = item;
    parts.push(facts([
      ["operations", sum.ops], ["forward", sum.forward ? seconds(sum.forward) : ""],
      ["backward", sum.backward ? seconds(sum.backward) : ""], ["kept for the gradient", sum.bytes ? bytes(sum.bytes) : ""],
    ]), toggle);
    for (const mark of sum.marks) parts.push(card(mark, "", `Inside: ${MARKS[mark]}`));
    return parts;
  }
  const { node } = item;
  parts.push(make("h2", "", node.op));
  if (node.target) parts.push(make("p", "quiet", data.kind === "tape" ? "The target: gradients start here." : "A result of the function."));
  for (const [kind, text] of node.marks) parts.push(card(kind, MARKS[kind], text));
  if (node.line) parts.push(code(node.line));
  parts.push(facts([
    ["kind", KINDS[node.kind]], ["shape", node.shape ? `[${node.shape.join(", ")}]` : ""], ["dtype", node.dtype || ""],
    ["outputs", node.outputs || ""],
    ["forward", node.forward ? seconds(node.forward) : ""], ["backward", node.backward ? seconds(node.backward) : ""],
    ["kept for the gradient", node.bytes ? bytes(node.bytes) : ""],
  ]));
  if (!node.onPath) parts.push(make("p", "quiet", "No gradient flows through here: it is not between the target and a source."));
  if (node.value) parts.push(histogram("Value", node.value));
  if (node.gradient) parts.push(histogram("Gradient of the target with respect to it", node.gradient));
  parts.push(...chips("Computed from", node.ins), ...chips("Used by", users.get(node.id)));
  return parts;
}

function select(item) {
  selected = item;
  element("content").replaceChildren(...(item ? details(item) : overview()));
  element("panel").scrollTop = 0;
  redraw();
}

// ---------------------------------------------------------------- opening, going, finding

function setOpen(group, open) {
  const anchor = shown(group), before = { x: anchor.ax, y: anchor.ay };
  group.open = open;
  arrange();
  const after = shown(group);
  view.x += (before.x - after.ax) * view.scale;  // what was tapped stays where it was
  view.y += (before.y - after.ay) * view.scale;
  redraw();
}

function go(id) {
  touched = true;
  const item = itemOf.get(id);
  let changed = false;
  for (let group = item.parent; group; group = group.parent) if (!group.open) { group.open = true; changed = true; }
  if (changed) arrange();
  const scale = Math.max(view.scale, 0.8);
  view.scale = scale;
  view.x = canvas.clientWidth / 2 - (item.ax + item.w / 2) * scale;
  view.y = canvas.clientHeight / 2 - (item.ay + item.h / 2) * scale;
  select(item);
}

function find(text) {
  matches = new Set();
  const wanted = text.trim().toLowerCase();
  if (wanted) {
    for (const node of data.nodes) {
      const line = node.line ? `${node.line.file}:${node.line.number} ${node.line.function} ${node.line.text}` : "";
      const item = itemOf.get(node.id);
      let path = "";
      for (let group = item.parent; group; group = group.parent) path += ` ${group.name}`;
      if (`${node.op} ${line}${path}`.toLowerCase().includes(wanted)) matches.add(shown(item));
    }
    if (!matches.size) matches.add(null);  // everything fades: nothing was found
  }
  redraw();
}

function groupsBelow(group) {
  const inner = group.children.filter((child) => child.children);
  return [...inner, ...inner.flatMap(groupsBelow)];
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
});

element("title").textContent = data.title;
element("search").addEventListener("input", (event) => find(event.target.value));
element("search").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  const first = [...matches].find((item) => item);
  if (first) { if (first.node) go(first.node.id); else select(first); }
});
element("fit").onclick = fit;
element("closer").onclick = () => zoom(1.3);
element("farther").onclick = () => zoom(1 / 1.3);
element("grip").onclick = () => { element("panel").classList.toggle("tall"); redraw(); };
element("open-all").hidden = data.nodes.length > 600 || !groupsBelow(root).length;
element("open-all").onclick = () => {
  const groups = groupsBelow(root), open = groups.some((group) => !group.open);
  for (const group of groups) group.open = open;
  element("open-all").textContent = open ? "Close all" : "Open all";
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
  drawMs: 0, data, view, draw, go, select, find, fit,
  boxes: () => boxes, wires: () => wires, groups: () => groupCount, selected: () => selected,
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
if (byId.has(Number(location.hash.slice(1) || NaN))) go(Number(location.hash.slice(1)));  // step.html#12 shows record 12
