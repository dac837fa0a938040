// The drawing in a notebook cell: its height, its colors, and a line about what is selected.

function afterArranging() {
  const width = graph.clientWidth || 800;
  const scale = Math.max(Math.min(1, (width - 16) / top.w), isWide() ? 0.5 : 0.62);
  graph.style.height = `${Math.round(Math.min(isWide() ? 600 : 440, Math.max(120, top.h * scale + 24)))}px`;
}

const gradientText = (g) => (!g ? "" : g.nan || g.inf ? "not finite" : g.size === 1 ? number(g.mean) : `norm ${number(g.norm)}, mean ${number(g.mean)}`);

// What is to say about an item, in pairs of a name and a text.
function about(item) {
  if (item.children) {
    return [["group", label(item)], ["operations", item.sum.ops], ["", item.open ? "Enter closes it" : "Enter or a click opens it"],
      ...[...item.sum.marks].map((mark) => ["inside", MARKS[mark]])];
  }
  const { node } = item;
  return [
    [node.kind === "variable" || node.kind === "input" ? node.kind : "op", label(item)], ["shape", caption(item)],
    ["value", valueText(item).replace(/^= /, "")], ["gradient", gradientText(node.gradient) || (data.kind === "tape" && !node.onPath ? "none flows through here" : "")],
    ["line", node.line ? `${plain(node.line.file)}:${node.line.number}  ${plain(node.line.text)}` : ""],
    ...node.marks.map(([kind, text]) => [MARKS[kind], plain(text)]),
  ];
}

function select(item) {
  selected = item;
  const pairs = (item ? about(item) : data.facts || []).filter(([, text]) => text !== "");
  element("about").replaceChildren(...pairs.map(([name, text]) => {
    const entry = make("span");
    if (name) entry.append(make("b", "", name), " ");
    entry.append(String(text));
    return entry;
  }));
  redraw();
}

const report = {
  data, view, draw: paint, sweepTo, select, fit, setOpen, go: (id) => goTo(itemOf.get(id)),
  boxes: () => boxes, wires: () => wires, selected: () => selected,
};

element("title").textContent = plain(data.title);
element("notes").replaceChildren(...(data.notes || []).map((note) => make("p", "", note)));
let width = 0;
new ResizeObserver(() => {
  if (!graph.clientWidth || graph.clientWidth === width) return;
  width = graph.clientWidth;
  if (!touched) for (const group of groupsBelow(top)) group.open = false;
  if (!touched) openAFew();
  rearrange();
  fit();
  if (sweepAt) sweepTo(sweepAt);
}).observe(graph);

openAFew();
rearrange();
legend();
startSweep();
select(null);
fit();
return report;
