// The graph as SVG: boxes with values, wires with gradients. `build` makes the elements, `paint` sets what changes.
// The page and the cell define `afterArranging` and `select`.

const SPACE = "http://www.w3.org/2000/svg";
const graph = element("graph"), scene = svg("g");
const view = { scale: 1, x: 0, y: 0 };
let mode = "kind", selected = null, asked = false, isBuilt = false;
let matches = null;  // while something is looked for: the items that match, and the groups around them
graph.append(scene);

function svg(tag, attributes = {}, text) {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const make = (tag, name, text) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
};

const measure = {
  forward: (item) => (item.children ? item.sum.forward : item.node.forward) || 0,
  backward: (item) => (item.children ? item.sum.backward : item.node.backward) || 0,
  bytes: (item) => (item.children ? item.sum.bytes : item.node.bytes) || 0,
  gradient: (item) => (item.children ? item.sum.norm : item.node.gradient?.norm) || 0,
};

function marksOf(item) {
  return item.children ? [...item.sum.marks] : [...new Set(item.node.marks.map((mark) => mark[0]))];
}

// ---------------------------------------------------------------- elements

function build() {
  const parts = boxes.filter((item) => item.open).map(openBox);
  const norms = wires.map((wire) => wire.gradient).filter((x) => x > 0).map(Math.log10);
  const low = Math.min(...norms), range = Math.max(...norms) - low || 1;
  const labelled = wires.length <= 90;
  for (const wire of wires) parts.push(wireElement(wire, (Math.log10(wire.gradient) - low) / range, labelled));
  parts.push(...boxes.filter((item) => !item.open).map(box));
  scene.replaceChildren(...parts);
  isBuilt = true;
}

function openBox(item) {
  const part = item.element = svg("g", { class: "open" });
  part.append(
    svg("rect", { x: item.ax, y: item.ay, width: item.w, height: item.h, rx: 12 }),
    svg("text", { x: item.ax + 14, y: item.ay + 21, class: "head" }, clipped(`−  ${label(item)}`, item.w - 28, "600 13px")),
  );
  return part;
}

function box(item) {
  const part = item.element = svg("g"), { ax, ay, w, h } = item, group = !!item.children;
  const round = group ? 10 : item.node.kind === "variable" || item.node.kind === "input" ? 22 : 8;
  if (group) part.append(svg("rect", { class: "sheet", x: ax + 4, y: ay + 4, width: w, height: h, rx: round }));  // a closed group lies on a second sheet
  part.append(svg("rect", { class: "face", x: ax, y: ay, width: w, height: h, rx: round }));
  const lines = [[label(item), "name", "600 14px"], [caption(item), "shape", "12px"], [valueText(item), "value", "12px"]].filter(([text]) => text);
  const start = ay + (group ? 24 : h / 2 + 5 - 8 * (lines.length - 1));
  lines.forEach(([text, name, font], i) => part.append(svg("text", { class: name, x: ax + w / 2, y: start + 16 * i }, clipped(text, w - 14, font))));
  if (group) {
    const counts = Object.entries(item.sum.kinds), all = counts.reduce((sum, entry) => sum + entry[1], 0);
    let x = ax + 12;
    for (const [kind, count] of counts) {
      const width = (w - 24) * count / all;
      part.append(svg("rect", { class: `fill-${kind}`, x, y: ay + h - 9, width, height: 4 }));
      x += width;
    }
  }
  const target = group ? item.sum.target : item.node.target;
  const flags = marksOf(item).filter((mark) => mark !== "end").map((mark) => [mark, { nan: "NaN", none: "None", zero: "0" }[mark]]);
  if (target) flags.push(["target", data.kind === "tape" ? "target" : "result"]);
  let right = ax + w + 6;
  for (const [mark, text] of flags) {
    const width = widthOf(text, "700 11px") + 10;
    part.append(svg("rect", { class: `flag ${mark}`, x: right - width, y: ay - 11, width, height: 16, rx: 8 }),
      svg("text", { class: "flag-text", x: right - width + 5, y: ay + 1 }, text));
    right -= width + 3;
  }
  return part;
}

// How a wire is drawn: off the way of gradients, without one, with one of zero, not finite, or as any other.
function kindOfWire({ onPath, gradient, missing }) {
  if (!onPath) return "off";
  if (typeof gradient === "string") return "nan";
  return gradient === undefined ? (missing ? "none" : "") : gradient === 0 ? "zero" : "";
}

function wireElement(wire, share, labelled) {
  const part = wire.element = svg("g"), [d, x, y] = way(wire), kind = wire.kind = kindOfWire(wire);
  const line = svg("path", { d });
  line.style.strokeWidth = wire.gradient > 0 ? (1.2 + 3.6 * share).toFixed(2) : "";
  part.append(line);
  const text = kind === "none" ? "None" : wire.gradient === undefined ? "" : number(wire.gradient);
  if (text) part.append(svg("text", { class: labelled ? "" : "seldom", x, y }, text));
  const several = wire.gradients.length > 1 ? `the largest of ${wire.gradients.length} gradients has norm` : "gradient: norm";
  if (text) part.append(svg("title", {}, kind === "none" ? "no gradient" : `${several} ${text}`));
  return part;
}

// The path of a wire, and where its label stands.
function way({ a, b }) {
  const x1 = a.ax + a.w / 2, y1 = a.ay + a.h, x2 = b.ax + b.w / 2, y2 = b.ay, r = (x) => Math.round(10 * x) / 10;
  const arrow = `M${r(x2 - 4)} ${r(y2 - 6)}L${r(x2)} ${r(y2)}L${r(x2 + 4)} ${r(y2 - 6)}`;
  if (y2 > y1) {
    const bend = Math.max(18, (y2 - y1) / 2);
    return [`M${r(x1)} ${r(y1)}C${r(x1)} ${r(y1 + bend)} ${r(x2)} ${r(y2 - bend)} ${r(x2)} ${r(y2)}${arrow}`, r((x1 + x2) / 2 + 5), r((y1 + y2) / 2 + 4)];
  }
  const x = gutter(a, b);  // on to the next column, through the space between the columns
  return [`M${r(x1)} ${r(y1)}V${r(y1 + 14)}H${r(x)}V${r(y2 - 18)}H${r(x2)}V${r(y2)}${arrow}`, r(x2 + 5), r(y2 - 8)];
}

// Where the column begins that a wire from `a` has to go over to, to reach `b`.
function gutter(a, b) {
  while (a.parent !== b.parent) {
    if (a.depth > b.depth) a = a.parent; else b = b.parent;
  }
  return (b.parent.ax || 0) + b.gutter;
}

const widthOf = (text, font) => { ruler.font = `${font} ${FONT}`; return ruler.measureText(text).width; };

const cut = new Map();
function clipped(text, width, font) {
  const key = `${font}|${width}|${text}`;
  if (!cut.has(key)) {
    let short = text;
    while (short.length > 3 && widthOf(short, font) > width) short = short.slice(0, -Math.max(2, Math.ceil(short.length / 20)));
    cut.set(key, short === text ? text : `${short.slice(0, -1)}…`);
  }
  return cut.get(key);
}

// ---------------------------------------------------------------- what changes

function paint() {
  asked = false;
  if (!isBuilt) build();
  scene.setAttribute("transform", `translate(${view.x.toFixed(1)} ${view.y.toFixed(1)}) scale(${view.scale.toFixed(4)})`);
  graph.dataset.zoom = view.scale * 12 < 4.5 ? "far" : view.scale < 0.45 ? "middle" : "near";
  const most = mode === "kind" ? 1 : Math.max(1e-30, ...boxes.filter((item) => !item.open).map(measure[mode]));
  for (const item of boxes) {
    const names = [item.open ? "open" : "box", item === selected && "selected", sweepState(item)];
    if (!item.open) {
      const mark = marksOf(item).find((each) => each !== "end");
      names.push(item.children ? "group" : mode === "kind" && item.node.kind, mark && `mark-${mark}`,
        !item.children && !item.node.onPath && "aside", matches && !matches.has(item) && "dim", item.node?.count && "summary");
      const share = mode === "kind" ? 0 : measure[mode](item) / most;
      item.element.style.setProperty("--heat-share", mode === "kind" || !share ? "" : (0.08 + 0.72 * Math.sqrt(share)).toFixed(3));
      if (share) names.push("hot");
    }
    setClass(item.element, names);
  }
  for (const wire of wires) {
    const strong = selected && (wire.a === selected || wire.b === selected);
    setClass(wire.element, ["wire", wire.kind, strong && "strong", wire.shared && !strong && "hidden", sweepState(wire)]);
  }
}

function setClass(part, names) {
  const name = names.filter(Boolean).join(" ");
  if (part.name !== name) { part.name = name; part.setAttribute("class", name); }
}

function redraw() {
  if (!asked) { asked = true; requestAnimationFrame(paint); }
}

function rearrange() {
  arrange();
  isBuilt = false;
  afterArranging();
  redraw();
}

// ---------------------------------------------------------------- the window on it

function show(x, y, w, h) {
  const width = graph.clientWidth, height = graph.clientHeight, below = isCell ? 0 : element("legend").clientHeight + 10;
  view.scale = Math.min(isCell ? 1 : 1.4, (width - 16) / w, (height - 16 - below) / h);
  const least = isWide() ? (isCell ? 0.5 : 0) : 0.62;
  view.scale = Math.max(view.scale, Math.min(least, (width - 16) / w));  // read on by moving up
  view.x = width / 2 - (x + w / 2) * view.scale;
  view.y = Math.max(4, (height - below - h * view.scale) / 2) - y * view.scale;
  redraw();
}

const fit = () => show(top.x, top.y, top.w, top.h);

function zoom(factor, x = graph.clientWidth / 2, y = graph.clientHeight / 2) {
  const scale = Math.min(4, Math.max(0.01, view.scale * factor));
  view.x = x - (x - view.x) * scale / view.scale;
  view.y = y - (y - view.y) * scale / view.scale;
  view.scale = scale;
  redraw();
}

// Moves the window to an item that is not in it.
function reveal(item) {
  const x = item.ax * view.scale + view.x, y = item.ay * view.scale + view.y;
  if (x < 0 || x + item.w * view.scale > graph.clientWidth) view.x = graph.clientWidth / 2 - (item.ax + item.w / 2) * view.scale;
  if (y < 0 || y + item.h * view.scale > graph.clientHeight) view.y = graph.clientHeight / 2 - (item.ay + item.h / 2) * view.scale;
}
