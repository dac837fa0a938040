// Steps backwards through the sweep: 0 shows all of it, i what its first i operations have passed on.

let sweepAt = 0;

const presentNode = () => (sweepAt ? byId.get(data.sweep[sweepAt - 1]) : null);

// Of a box or a wire: whether the sweep has passed it, is at it, has passed a part of it, or has not come to it.
function sweepState(thing) {
  if (!sweepAt) return "";
  const [first, last] = thing.ranks || [Infinity, Infinity], now = sweepAt - 1;
  if (thing.ends ? thing.ends.has(now) : !thing.open && shown(itemOf.get(presentNode().id)) === thing) return "present";
  return last < now ? "swept" : first > now ? "ahead" : thing.ends || thing.open ? "swept" : "part";
}

function sweepText() {
  const node = presentNode();
  if (!node) return `the whole sweep: ${data.sweep.length} step${data.sweep.length === 1 ? "" : "s"}`;
  const passed = node.ins.map((id, i) => [id, node.flow?.[i]]).filter(([, norm]) => norm !== undefined && norm !== null)
    .map(([id, norm]) => `${label(itemOf.get(id))} ${number(norm)}`);
  const g = node.gradient, own = !g ? "" : g.nan ? "NaN" : g.inf ? "infinite" : number(g.norm);
  return `step ${sweepAt} of ${data.sweep.length}: ${label(itemOf.get(node.id))}` + (own && ` · norm of its gradient ${own}`) +
    (passed.length ? ` · passes on to ${passed.slice(0, 4).join(", ")}${passed.length > 4 ? ", …" : ""}` : "");
}

function sweepTo(i) {
  sweepAt = Math.min(Math.max(i, 0), data.sweep.length);
  element("sweep-at").value = sweepAt;
  element("sweep-at").setAttribute("aria-valuetext", sweepText());
  element("sweep-text").textContent = sweepText();
  if (sweepAt) reveal(shown(itemOf.get(presentNode().id)));
  redraw();
}

function startSweep() {
  const count = data.sweep?.length || 0;
  element("sweep").hidden = !count;
  element("sweep-at").max = count;
  sweepAt = 0;
  if (count) sweepTo(0);
}

element("sweep-at").addEventListener("input", (event) => sweepTo(Number(event.target.value)));
element("sweep-back").onclick = () => sweepTo(sweepAt - 1);
element("sweep-on").onclick = () => sweepTo(sweepAt + 1);
