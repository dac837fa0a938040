// Where everything stands.

const ruler = document.createElement("canvas").getContext("2d");
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const GAP = 26, ROW = 38, PAD = 18, HEAD = 30;

const isWide = () => (isCell ? element("graph").clientWidth > 560 : innerWidth > 760);

const number = (x) => (x === undefined || x === null ? "" : typeof x === "string" ? (x === "nan" ? "NaN" : "∞")
  : x === 0 ? "0" : Math.abs(x) >= 1e4 || Math.abs(x) < 1e-3 ? x.toExponential(1) : `${Number(x.toPrecision(3))}`);

// Control characters, some of which would turn the text around them, are shown as such.
const plain = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu, "\ufffd");

function label(item) {
  if (item.children) return plain(item.name);
  const { op, kind } = item.node;  // a variable inside of its layer does not say the layer's name again
  return plain(kind === "variable" && item.parent.parent ? op.slice(op.lastIndexOf("/") + 1) || op : op);
}

function caption(item) {
  if (item.children) return `${item.sum.ops} op${item.sum.ops === 1 ? "" : "s"}`;
  const { shape, dtype, outputs, count } = item.node;
  if (count) return `${count} nodes, summarized`;
  if (!shape) return "";
  return (shape.length ? shape.join(" × ") : "scalar") + (dtype && dtype !== "float32" ? ` ${dtype}` : "") +
    (outputs ? `, ${outputs} outputs` : "");
}

// The value in short: a number, or norm and mean.
function valueText(item) {
  const value = item.node?.value;
  if (!value) return "";
  if (value.nan || value.inf) return [value.nan && `${value.nan} NaN`, value.inf && `${value.inf} infinite`].filter(Boolean).join(", ");
  const sign = (item.node.dtype || "").startsWith("complex") ? "|·| " : "";
  return value.size === 1 ? `= ${sign}${number(value.mean)}` : `${sign}norm ${number(value.norm)}, mean ${number(value.mean)}`;
}

function sizeOf(item) {
  if (item.children && item.open) return layOut(item);
  const measure = (font, text) => { ruler.font = `${font} ${FONT}`; return ruler.measureText(text).width; };
  const value = valueText(item);
  item.w = Math.min(240, Math.max(96, measure("600 14px", label(item)) + 30, measure("12px", caption(item)) + 30, measure("12px", value) + 24));
  item.h = item.children ? 58 : value ? 58 : 44;
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

  const aspect = !isWide() ? 0.7 : isCell ? 2.2 : 1.5;
  const heights = filled.map((row) => Math.max(...row.map((child) => child.h)) + ROW);
  const edge = (row, side) => side * Math.max(...row.map((child) => side * child.cx + child.w / 2));
  const span = Math.max(...filled.map((row) => edge(row, 1))) - Math.min(...filled.map((row) => edge(row, -1)));
  const total = heights.reduce((a, b) => a + b, 0);
  const columns = Math.max(1, Math.min(Math.round(Math.sqrt(total * aspect / (span + 80))), Math.ceil(filled.length / (isCell ? 2 : 4))));
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
  layOut(top);
  top.x = top.y = 0;
  boxes = [];
  const place = (group, x, y) => {
    for (const child of group.children) {
      child.ax = x + child.x; child.ay = y + child.y;
      boxes.push(child);
      if (child.children && child.open) place(child, child.ax, child.ay);
    }
  };
  place(top, 0, 0);
  const seen = new Map();
  for (const node of data.nodes) {
    node.ins.forEach((id, i) => {
      const a = shown(itemOf.get(id)), b = shown(itemOf.get(node.id));
      if (a === b) return;
      const key = `${keyOf(a)}>${keyOf(b)}`;
      if (!seen.has(key)) seen.set(key, { a, b, shared: true, ends: new Set(), gradients: [], missing: 0, onPath: false });
      const wire = seen.get(key), onPath = byId.get(id).onPath && node.onPath;
      wire.shared &&= users.get(id).length > MANY;
      wire.onPath ||= onPath;
      if (!node.flow || node.call !== undefined) return;
      if (node.flow[i] !== null) wire.gradients.push(node.flow[i]);
      else if (byId.get(id).onPath) wire.missing += 1;
      if (node.flow[i] !== null && ranks.has(node.id)) wire.ends.add(ranks.get(node.id));
    });
  }
  wires = [...seen.values()];
  for (const wire of wires) {
    wire.gradient = largest(wire.gradients);
    wire.ranks = wire.ends.size ? [extreme(wire.ends, Math.min), extreme(wire.ends, Math.max)] : null;
  }
}

// The largest of several norms, where NaN is larger than infinity, which is larger than any number.
const largest = (norms) => (norms.includes("nan") ? "nan" : norms.includes("inf") ? "inf" : norms.length ? extreme(norms, Math.max) : undefined);
const extreme = (all, choose) => { let found; for (const x of all) found = found === undefined ? x : choose(found, x); return found; };

const keyOf = (item) => (item.children ? `g${item.id}` : item.node.id);

// The item that stands for another: itself, or the outermost closed group around it.
function shown(item) {
  let found = item;
  for (let group = item.parent; group; group = group.parent) if (!group.open) found = group;
  return found;
}

