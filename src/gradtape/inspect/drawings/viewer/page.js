// The page: finding, steps of a run, colors, keys.

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

function afterArranging() {
  element("open-all").textContent = groupsBelow(top).some((group) => !group.open) ? "Open all" : "Close all";
}

// Another step: what is selected stays so, as far as the graph is the same.
function showStep(i) {
  const at = Math.min(Math.max(i, 0), page.steps.length - 1), kept = selected;
  const same = takeStep(at);
  if (!same) {
    openAFew();
    hits = []; matches = null;
    rearrange();
    fit();
  } else rearrange();
  startSweep();
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

addEventListener("keydown", (event) => {
  if (event.target.matches("input, select")) return;
  if (event.key === "f") fit();
  if (event.key === "/") { event.preventDefault(); element("search").focus(); }
  if (event.key === "Escape") select(null);
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
element("grip").onclick = () => { element("panel").classList.toggle("tall"); redraw(); };
element("open-all").hidden = data.nodes.length > 600 || !groupsBelow(top).length;
element("open-all").onclick = () => {
  const groups = groupsBelow(top), open = groups.some((group) => !group.open);
  for (const group of groups) group.open = open;
  rearrange();
  fit();
};

const present = Object.keys(MODES).filter((name) => name === "kind" || data.nodes.some((node) => (name === "gradient" ? node.gradient : node[name])));
for (const name of present) element("color").append(new Option(MODES[name], name));
element("color").onchange = (event) => { mode = event.target.value; legend(); redraw(); };

const dark = matchMedia("(prefers-color-scheme: dark)");
function theme(name) {
  document.documentElement.dataset.theme = name;
}
dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
element("theme").onclick = () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");

const report = {
  data, view, draw: paint, go, sweepTo, select, find, fit, layers, showStep, nextHit,
  boxes: () => boxes, wires: () => wires, groups: () => groupCount, selected: () => selected, shown: () => data,
};
globalThis.gradtapeReport = report;

new ResizeObserver(() => {
  if (touched) return redraw();
  rearrange();
  fit();
}).observe(graph);

openAFew();
theme(dark.matches ? "dark" : "light");
rearrange();
legend();
select(null);
startSweep();
fit();
if (page.steps) showStepBar();
if (byId.has(Number(location.hash.slice(1) || NaN))) go(Number(location.hash.slice(1)));  // step.html#12 shows record 12
