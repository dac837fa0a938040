// Runs a report's page without a browser: `node page.js page.html < questions.js` prints what the questions return.
// Of the DOM there is what the page asks for; text is seven points a letter.
"use strict";
const fs = require("fs"), vm = require("vm");

class Element {
  constructor(tag) {
    Object.assign(this, { tag, children: [], style: { setProperty() {} }, dataset: {}, attributes: {}, hidden: false, className: "", title: "", value: "" });
    Object.assign(this, { clientWidth: 390, clientHeight: 600, listeners: {}, own: "" });
    this.classList = { add() {}, remove() {}, toggle() {} };
  }
  set textContent(text) { this.own = String(text); this.children = []; }
  get textContent() { return this.own + this.children.map((child) => child.textContent ?? child).join(" "); }
  get lastChild() { return this.children.at(-1); }
  append(...parts) { for (const part of parts) { if (part instanceof Element) part.parent = this; this.children.push(part); } }
  replaceChildren(...parts) { this.children = []; this.own = ""; this.append(...parts); }
  replaceWith(...parts) {
    for (const part of parts) part.parent = this.parent;
    this.parent.children.splice(this.parent.children.indexOf(this), 1, ...parts);
  }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  addEventListener(name, action) { this.listeners[name] = action; }
  getBoundingClientRect() { return { left: 0, top: 0, width: 390, height: 600 }; }
  getContext() { return new Proxy({}, { get: (_, name) => (name === "measureText" ? (text) => ({ width: 7 * text.length }) : () => {}), set: () => true }); }
  all(test) { return this.children.filter((c) => c instanceof Element).flatMap((c) => [...(test(c) ? [c] : []), ...c.all(test)]); }
  click() { this.onclick?.({ target: this }); }
  fire(name, event) { this.listeners[name]({ target: this, ...event }); }
}

const text = fs.readFileSync(process.argv[2], "utf-8");
const scripts = [...text.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];
const byId = new Map([...text.replace(/<script[\s\S]*/, "").matchAll(/<(\w+)[^>]*\bid="([^"]+)"([^>]*)>/g)].map(([, tag, id, rest]) => {
  const made = new Element(tag);
  made.hidden = /\bhidden\b/.test(rest);
  return [id, made];
}));
byId.set("data", Object.assign(new Element("script"), { own: scripts[0][2] }));
const document = {
  getElementById: (id) => { if (!byId.has(id)) throw new Error(`no element ${id}`); return byId.get(id); },
  createElement: (tag) => new Element(tag), createElementNS: (_, tag) => new Element(tag),
  documentElement: new Element("html"),
};
const world = {
  document, innerWidth: Number(process.argv[3] || 1600), devicePixelRatio: 1, location: { hash: process.argv[4] || "" }, performance, JSON, Map, Set, console,
  getComputedStyle: () => ({ getPropertyValue: () => "0" }), matchMedia: () => ({ matches: false, addEventListener() {} }),
  requestAnimationFrame: (draw) => draw(), addEventListener() {}, setTimeout: (action) => { action(); return 0; }, clearTimeout() {},
  ResizeObserver: class { observe() {} }, Option: class extends Element { constructor(t) { super("option"); this.own = t; } },
};
world.globalThis = world;
vm.createContext(world);
vm.runInContext(scripts.at(-1)[2], world);
const questions = fs.readFileSync(0, "utf-8");
console.log(JSON.stringify(vm.runInContext(`((report, element) => { ${questions} })(gradtapeReport, document.getElementById)`, world)));
