// Drawing helpers for components: SVG, HTML, colours, hatches and a tooltip.
import { fillTemplate } from './text.js';

const NS = 'http://www.w3.org/2000/svg';
// A text in place of attributes is the class.
const attributes = at => (typeof at === 'string' ? { class: at } : at);
export const setContent = (e, at, kids) => {
  for (const k in at) if (at[k] != null) e.setAttribute(k, at[k]);
  for (const c of kids.flat()) if (c != null) e.append(c);
  return e;
};
export const svg = (tag, at = {}, ...kids) =>
  setContent(document.createElementNS(NS, tag), at, kids);
export const svgRect = (x, y, width, height, look = {}) =>
  svg('rect', { x, y, width, height, ...look });
export const svgText = (x, y, words, look = {}) =>
  svg('text', { x, y, ...attributes(look) }, words);
export const middleText = (x, y, words, look = {}) =>
  svgText(x, y, words, { 'text-anchor': 'middle', ...attributes(look) });
export const endText = (x, y, words, look = {}) =>
  svgText(x, y, words, { 'text-anchor': 'end', ...attributes(look) });
export const svgLine = (x1, y1, x2, y2, look = {}) => svg('line', { x1, y1, x2, y2, ...look });
export const svgCircle = (cx, cy, r, look = {}) => svg('circle', { cx, cy, r, ...look });
// A line along a path, in one of the named colours.
export const svgStroke = (d, name, width, look = {}) =>
  svg('path', { d, fill: 'none', stroke: color(name), 'stroke-width': width, ...look });
export const html = (tag, at = {}, ...kids) =>
  setContent(document.createElement(tag), attributes(at), kids);
export const color = n => `var(--kv-${n})`;
export const icon = n => html('span', { class: 'ic', 'aria-hidden': 'true' }, n);
// A message with its values filled in and its markup rendered: **bold**, *italic*, ~error~. With a
// number, the singular text is the one under key_1.
export const renderMarkup = (text, values) =>
  text
    .split(/(\*\*.+?\*\*|\*.+?\*|~.+?~)/)
    .filter(part => part)
    .map(part => {
      const [, mark] = /^(\*\*|\*|~)/.exec(part) ?? [],
        content = fillTemplate(mark ? part.slice(mark.length, -mark.length) : part, values);
      return mark === '**'
        ? html('b', {}, content)
        : mark === '*'
          ? html('i', {}, content)
          : mark
            ? html('span', { class: 'bad' }, content)
            : content;
    });
// The legend of hot pages, cold pages and the warm section, as figures/tokens.py; `words` are
// the messages of page_legend.
export const pageLegend = (words, ...kinds) =>
  html(
    'div',
    { class: 'kv-pages' },
    ...(kinds.length ? kinds : ['hot', 'cold', 'warm']).map(kind =>
      html('span', {}, html('i', { class: `kv-${kind}` }), words[kind]),
    ),
  );
// The same looks for shapes of a hatchedDrawing.
export const pageFill = {
  hot: { fill: color('hot-soft'), stroke: color('hot') },
  cold: { fill: 'url(#hCold)', stroke: color('cold') },
  warm: { fill: 'url(#hWarm)' },
};
export const warmText = { style: `fill:${color('warm-text')};font-weight:600` };
export const drawingWidth = el => Math.max(300, el.clientWidth);
export const hatchedDrawing = (w, h, label) =>
  addHatches(svg('svg', { height: h, viewBox: `0 0 ${w} ${h}`, role: 'img', 'aria-label': label }));
export const pattern = (id, size, turn, ...kids) =>
  svg(
    'pattern',
    { id, width: size, height: size, patternUnits: 'userSpaceOnUse', patternTransform: turn },
    ...kids,
  );
export const tornPattern = id =>
  pattern(
    id,
    6,
    null,
    svg('rect', { width: 6, height: 6, fill: color('torn-soft') }),
    svgStroke('M0 0l6 6M6 0L0 6', 'torn', 0.9, { opacity: 0.7 }),
  );
function addHatches(drawing) {
  drawing.append(
    svg(
      'defs',
      {},
      pattern(
        'hWarm',
        6,
        'rotate(45)',
        svg('rect', { width: 6, height: 6, fill: color('warm-soft') }),
        svg('rect', { width: 1.6, height: 6, fill: color('warm'), opacity: 0.42 }),
      ),
      pattern(
        'hCold',
        5,
        null,
        svg('rect', { width: 5, height: 5, fill: color('cold-soft') }),
        svg('rect', { width: 5, height: 1.6, fill: color('cold'), opacity: 0.8 }),
      ),
      pattern(
        'hOut',
        4,
        'rotate(-45)',
        svg('rect', { width: 0.9, height: 4, fill: color('line-2') }),
      ),
    ),
  );
  return drawing;
}
// What a key handler asks before it takes a key: modifiers, a field that takes text, an open dialog.
export const hasModifier = event => event.ctrlKey || event.metaKey || event.altKey;
export const isField = node =>
  node instanceof HTMLElement &&
  (/^(INPUT|SELECT|TEXTAREA)$/.test(node.tagName) || node.isContentEditable);
export const hasDialog = () => document.querySelector('[role="dialog"]') !== null;
export function tooltip(root) {
  const box =
    root.querySelector('.tip') ??
    root.appendChild(html('div', { class: 'tip', 'aria-hidden': 'true' }));
  return (el, lines) => {
    el.addEventListener('mousemove', e => {
      box.replaceChildren(...lines().map(t => html('div', {}, t)));
      box.classList.add('show');
      const r = box.getBoundingClientRect(),
        zoom = box.currentCSSZoom ?? 1, // the zoom of the page on a projector
        below = e.clientY + 18 + r.height <= innerHeight;
      box.style.left = `${Math.max(8, Math.min(innerWidth - r.width - 8, e.clientX + 14)) / zoom}px`;
      box.style.top = `${(below ? e.clientY + 18 : e.clientY - r.height - 12) / zoom}px`;
    });
    el.addEventListener('mouseleave', () => box.classList.remove('show'));
    return el;
  };
}
