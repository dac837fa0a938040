// The graph on a canvas.

const canvas = element("graph"), pen = canvas.getContext("2d");
const view = { scale: 1, x: 0, y: 0 };
let colours = {}, mode = "kind", selected = null, asked = false;
let matches = null;  // while something is looked for: the items that match, and the groups around them

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
  pen.globalAlpha = matches && !matches.has(item) ? 0.25 : fades ? 0.6 : 1;
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

