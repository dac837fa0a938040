// Draws the elements of a notebook's output: `draw(root, page)` is the drawing, of which each element gets its own.

// Whether what is behind an element is dark: notebooks have themes of their own, whatever the system prefers.
function isDark(host) {
  for (let element = host.parentElement; element; element = element.parentElement) {
    const [r, g, b, opacity = 1] = (getComputedStyle(element).backgroundColor.match(/[\d.]+/g) || []).map(Number);
    if (opacity > 0.5 && b !== undefined) return 0.3 * r + 0.6 * g + 0.1 * b < 128;
  }
  return false;
}

function drawAll(tries) {
  const hosts = document.querySelectorAll(`[data-gradtape="${name}"]`);
  if (!hosts.length && tries) setTimeout(() => drawAll(tries - 1), 100);  // the front end has yet to insert it
  for (const host of hosts) if (!host.shadowRoot) drawIn(host);
}

function drawIn(host) {
  const root = host.attachShadow({ mode: "open" });
  root.innerHTML = `<style>${style}</style>${markup}`;
  const theme = () => { host.dataset.theme = isDark(host) ? "dark" : "light"; };
  theme();
  for (const watched of [document.documentElement, document.body]) new MutationObserver(theme).observe(watched, { attributes: true });
  host.gradtapeDrawing = draw(root, page);
}

drawAll(50);
