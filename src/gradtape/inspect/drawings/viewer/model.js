// What is drawn: the recording of one step, as a tree of groups and operations; of several steps, that of one.
// The page and the cell say what there is: `page` (the data), `root` (the document or the root of the cell's element).

const element = (id) => root.getElementById(id);
const isCell = root !== document;

const KINDS = {
  product: "matrix products", elementwise: "elementwise", reduction: "reductions", movement: "moves data",
  call: "calls, custom gradients", other: "other", variable: "variables", input: "inputs",
};
const MARKS = { nan: "NaN or infinite", none: "gradient is None", zero: "gradient is zero", end: "derivative ends" };
const MODES = {
  kind: "kind", forward: "forward time", backward: "backward time", bytes: "memory kept", gradient: "gradient size",
};
const OF_A_STEP = ["value", "gradient", "flow", "forward", "backward", "bytes", "marks"];  // what differs from step to step

// An item is a node of the graph or a group of items. Groups can be open or closed.
let data, byId, itemOf, users, top, groupCount, step = 0;

function makeItem(entry, parent, depth) {
  if (typeof entry === "number") {
    const item = { node: byId.get(entry), parent, depth };
    itemOf.set(entry, item);
    return item;
  }
  const name = entry.repeats ? `${entry.name} × ${entry.repeats}` : entry.name;
  const group = { name, piece: !!entry.piece, repeats: entry.repeats, id: groupCount++, parent, depth, open: false, edges: [] };
  group.children = entry.children.map((child) => makeItem(child, group, depth + 1));
  return group;
}

// The tree and the wires of a graph.
function begin(graph) {
  data = graph;
  for (const node of data.nodes) {
    node.marks ||= [];
    if (typeof node.line === "number") node.line = data.lines[node.line];
  }
  byId = new Map(data.nodes.map((node) => [node.id, node]));
  itemOf = new Map();
  groupCount = 0;
  top = makeItem({ name: data.title, children: data.tree }, null, 0);
  top.open = true;
  users = new Map(data.nodes.map((node) => [node.id, []]));
  for (const node of data.nodes) {
    for (const id of node.ins) {
      users.get(id).push(node.id);
      // An edge is kept by the innermost group that holds both of its ends, as a pair of that group's children.
      let a = itemOf.get(id), b = itemOf.get(node.id);
      while (a.parent !== b.parent) {
        if (a.depth >= b.depth) a = a.parent; else b = b.parent;
      }
      a.parent.edges.push([a, b]);
    }
  }
  rankAll();
}

// Shows one of several steps; says whether its graph is the one that was shown, of which groups stay open.
function takeStep(i) {
  const taken = page.steps[i], same = data !== undefined && data.graph === taken.graph;
  step = i;
  if (!same) begin({ ...page, ...page.graphs[taken.graph], graph: taken.graph });
  Object.assign(data, { facts: taken.facts, problems: taken.problems, sources: taken.sources });
  for (const node of data.nodes) {
    for (const key of OF_A_STEP) delete node[key];
    Object.assign(node, { marks: [] }, taken.nodes[node.id]);
  }
  summarise(top);
  return same;
}

// When the backward sweep reaches each item: the steps of its first and of its last operation.
let ranks;
function rankAll() {
  ranks = new Map((data.sweep || []).map((id, i) => [id, i]));
  const rank = (node) => {
    if (ranks.has(node.id)) return ranks.get(node.id);
    if (node.call !== undefined) return ranks.get(node.call);
    const next = node.onPath ? users.get(node.id).map((id) => ranks.get(id)).filter((i) => i !== undefined) : [];
    return next.length ? Math.max(...next) : undefined;  // the cotangent of a leaf is complete after its last user
  };
  const visit = (item) => {
    item.ranks = null;
    for (const pair of item.children ? item.children.map(visit) : [[rank(item.node), rank(item.node)]]) {
      if (!pair || pair[0] === undefined) continue;
      item.ranks = item.ranks ? [Math.min(item.ranks[0], pair[0]), Math.max(item.ranks[1], pair[1])] : pair;
    }
    return item.ranks;
  };
  visit(top);
}

function summarise(group) {
  const sum = { ops: 0, forward: 0, backward: 0, bytes: 0, marks: new Set(), target: false, norm: 0, kinds: {} };
  for (const child of group.children) {
    const part = child.children ? summarise(child) : {
      ops: child.node.kind === "variable" || child.node.kind === "input" ? 0 : child.node.count || 1, forward: child.node.forward || 0,
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

// What each layer costs: the innermost groups, without those that are only pieces of a long list, added up by name.
function layers() {
  const found = new Map();
  const visit = (group, path) => {
    for (const child of group.children) {
      if (child.children) { visit(child, child.piece ? path : [...path, child.name]); continue; }
      const { node } = child, name = path.join("/");
      if (!name || node.backward === undefined) continue;
      if (!found.has(name)) found.set(name, { name, group, records: 0, forward: 0, backward: 0, bytes: 0 });
      const layer = found.get(name);
      layer.records += 1;
      layer.forward += node.forward || 0; layer.backward += node.backward || 0; layer.bytes += node.bytes || 0;
    }
  };
  visit(top, []);
  return [...found.values()];
}

function groupsBelow(group) {
  const inner = group.children.filter((child) => child.children);
  return [...inner, ...inner.flatMap(groupsBelow)];
}

// ---------------------------------------------------------------- finding

// The ids of the operations that a text is about, the best first: `matmul`, `train.py:12`, `12`, `dense_1`, `#7`.
function found(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const number = /^(?:.*:|line )?(\d+)$/.exec(wanted)?.[1];
  const ranked = [];
  for (const node of data.nodes) {
    const op = node.op.toLowerCase(), line = node.line;
    let path = "";
    for (let group = itemOf.get(node.id).parent; group && group.parent; group = group.parent) path = `${group.name}/${path}`;
    const place = line ? `${line.file}:${line.number}` : "";
    const text = `${op} ${place} ${line ? `${line.function} ${line.text}` : ""} ${path}`.toLowerCase();
    const at = `#${node.id}` === wanted || op === wanted || place.toLowerCase() === wanted ? 0
      : number && line && String(line.number) === number && place.toLowerCase().endsWith(wanted.replace("line ", ":")) ? 1
      : number && line && String(line.number) === number && wanted === number ? 1
      : op.startsWith(wanted) ? 2 : op.includes(wanted) ? 3
      : path.toLowerCase().includes(wanted) ? 4 : text.includes(wanted) ? 5 : -1;
    if (at >= 0) ranked.push([at, node.id]);
  }
  return ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((pair) => pair[1]);
}

if (page.steps) takeStep(page.steps.length - 1);
else { begin(page); summarise(top); }
