// The panel: what is to say about the step, or about what is selected.

const seconds = (t) => (t >= 1 ? `${t.toFixed(2)} s` : t >= 1e-3 ? `${(t * 1e3).toPrecision(3)} ms` : `${(t * 1e6).toPrecision(3)} µs`);
const bytes = (n) => {
  const unit = Math.min(3, Math.max(0, Math.floor(Math.log10(Math.max(n, 1)) / 3)));
  return `${unit ? (n / 1000 ** unit).toPrecision(3) : n} ${["B", "kB", "MB", "GB"][unit]}`;
};
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

// A curve of what came step by step, with the present step marked.
function curve(values, name) {
  const space = "http://www.w3.org/2000/svg", known = values.filter((v) => Number.isFinite(v));
  const low = Math.min(...known), high = Math.max(...known), n = Math.max(1, values.length - 1);
  const x = (i) => 100 * i / n, y = (v) => (high > low ? 19 - 18 * (v - low) / (high - low) : 10);
  const picture = document.createElementNS(space, "svg");
  picture.setAttribute("class", name);
  picture.setAttribute("viewBox", "0 0 100 20");
  picture.setAttribute("preserveAspectRatio", "none");
  const way = values.map((v, i) => (Number.isFinite(v) ? `${i && Number.isFinite(values[i - 1]) ? "L" : "M"}${x(i)} ${y(v)}` : "")).join("");
  const line = document.createElementNS(space, "path");
  line.setAttribute("d", way || "M0 10");
  const here = document.createElementNS(space, "path");
  here.setAttribute("d", `M${x(step)} 0V20`);
  here.setAttribute("class", "here");
  picture.append(line, here);
  return picture;
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
  const title = page.steps ? `Step ${page.steps[step].step}` : data.kind === "tape" ? "This step" : data.title;
  const parts = [make("h2", "", title), facts(data.facts)];
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
      const line = row(source.name, text, g?.norm ? Math.sqrt(g.norm / largest) : 0, () => source.id !== null && go(source.id));
      if (page.steps) line.lastChild.replaceWith(curve(normsOf(source.name), "spark"));
      parts.push(line);
    }
  }
  parts.push(...layerTable());
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

const normsOf = (name) => page.steps.map((taken) => {
  const g = taken.sources.find((source) => source.name === name)?.gradient;
  return g && !g.nan && !g.inf ? g.norm : NaN;
});

const COLUMNS = [["name", "layer"], ["forward", "forward"], ["backward", "backward"], ["bytes", "kept"]];
let order = { key: "time", down: true };

function layerTable() {
  const rows = layers(), key = (layer) => (order.key === "time" ? layer.forward + layer.backward : layer[order.key]);
  if (rows.length < 2) return [];
  rows.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (order.down ? -1 : 1));
  const table = make("table", "layers"), head = make("tr");
  for (const [column, title] of COLUMNS) {
    const cell = make("th"), by = make("button", "", title);
    cell.setAttribute("aria-sort", order.key !== column ? "none" : order.down ? "descending" : "ascending");
    by.onclick = () => {
      order = { key: column, down: order.key === column ? !order.down : column !== "name" };
      table.replaceWith(...layerTable().slice(1));
    };
    cell.append(by);
    head.append(cell);
  }
  table.append(head);
  for (const layer of rows.slice(0, 200)) {
    const line = make("tr"), name = make("td"), open = make("button", "", layer.name);
    open.title = layer.name;
    open.onclick = () => goTo(layer.group);
    name.append(open);
    line.append(name, make("td", "", layer.forward ? seconds(layer.forward) : ""), make("td", "", seconds(layer.backward)),
      make("td", "", layer.bytes ? bytes(layer.bytes) : ""));
    table.append(line);
  }
  return [make("h3", "", "Time and memory by layer"), table];
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

