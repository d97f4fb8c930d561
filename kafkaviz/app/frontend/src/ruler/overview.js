// The overview strip of the whole segment.

import { color, drawingWidth, setContent, svg, svgRect, svgText } from '../dom.js';
import { groupDigits, scale } from '../text.js';
import { LEFT, PAST, TICK_PX } from './constants.js';
import { patterns } from './drawing.js';
import { toNumber } from './message.js';

export function drawOverview(state) {
  const el = state.$('overview'),
    w = drawingWidth(el),
    right = state.data.tail ? w - 12 : w,
    x = scale(0, Math.max(1, state.data.size), LEFT, right);
  state.scale = (state.data.size * (w - LEFT)) / (right - LEFT);
  if (state.cover !== w) {
    state.cover = w;
    el.replaceChildren(drawWholeSegment(state, w, x));
  }
  const [a, b] = state.window,
    box = el.querySelector('.win'),
    from = Math.min(x(a), w - 8),
    to = Math.min(w, Math.max(x(b), from + 8));
  setContent(box, { x: from, width: to - from }, []);
  box.classList.toggle('held', !!state.isDragging);
}

function drawWholeSegment(state, w, x) {
  const g = svg(
    'svg',
    {
      height: 50,
      viewBox: `0 0 ${w} 50`,
      preserveAspectRatio: 'xMinYMid',
      role: 'img',
      'aria-label': state.data.words.overview,
    },
    patterns(),
  );
  g.append(
    svgText(0, 15, state.data.words.whole_upper, 'axt'),
    svgText(0, 30, state.data.words.whole_lower, 'axt'),
  );
  if (state.data.overview.length) drawColumns(state, g, x);
  else drawEachBatch(state, g, x);
  const from = Math.min(x(state.end), w - 11);
  if (state.data.tail)
    g.append(svgRect(from, 16, w - from, 16, { fill: 'url(#torn)', stroke: color('torn') }));
  const last = state.end || state.data.size,
    parts = w - LEFT < 4 * TICK_PX ? 2 : 4;
  const marks = Array.from(
    { length: parts },
    (_, k) => Math.round((last * k) / parts / 1000) * 1000,
  );
  for (const p of [...(last > 8000 ? marks : [0]), last]) {
    const anchor = p === 0 ? 'start' : p === last && x(p) > w - 40 ? 'end' : 'middle';
    g.append(svgText(x(p), 47, groupDigits(p), { 'text-anchor': anchor, class: 'axt' }));
  }
  g.append(
    svg('rect', {
      y: 2,
      height: 33,
      rx: 4,
      class: 'win',
      fill: color('ink'),
      'fill-opacity': 0.07,
      stroke: color('ink'),
      'stroke-width': 1.6,
    }),
  );
  return g;
}

// Draws every batch and entry of a small segment.
function drawEachBatch(state, g, x) {
  const plain = state.data.shade.by === 'Plain';
  state.batches.forEach((b, i) => {
    const look = plain
      ? { fill: color(i % 2 ? 'log-soft' : 'log'), opacity: i % 2 ? 1 : 0.55 }
      : { fill: shade(state, b) };
    g.append(svgRect(x(b.pos), 16, Math.max(0.6, x(b.pos + b.size) - x(b.pos) - 0.5), 16, look));
  });
  for (const e of state.entries) {
    const fill = color(e.aim >= PAST ? 'torn' : 'offset');
    if (e.pos >= 0 && e.pos < state.data.size)
      g.append(svgRect(x(e.pos) - 0.8, 5, 1.8, 9, { fill }));
  }
}

// Draws the columns of equal length that Python computed for a large segment.
function drawColumns(state, g, x) {
  const n = state.data.overview.length / 2,
    bytesEach = state.data.size / n,
    last = Math.min(n, Math.ceil(state.end / bytesEach));
  const entries = state.data.overview.subarray(0, n),
    shades = state.data.overview.subarray(n),
    most = Math.max(1, ...entries);
  for (let i = 0, j; i < last; i = j) {
    for (j = i + 1; j < last && shades[j] === shades[i]; j++);
    const from = x(i * bytesEach);
    g.append(
      svgRect(from, 16, x(Math.min(j * bytesEach, state.end)) - from, 16, {
        fill: tone(shades[i] / 255),
      }),
    );
  }
  entries.forEach((count, i) => {
    const at = x((i + 0.5) * bytesEach) - 0.8;
    if (count)
      g.append(
        svgRect(at, 5, 1.8, 9, { fill: color('offset'), opacity: 0.45 + (0.55 * count) / most }),
      );
  });
}

const grey = percent => `color-mix(in oklab, ${color('log')} ${percent}%, ${color('raised')})`;

export const tone = v => grey(Math.round(12 + 70 * Math.max(0, Math.min(1, v))));

export const shadeOf = (state, value) =>
  tone((value - state.data.shade.low) / Math.max(1, state.data.shade.high - state.data.shade.low));

export const shadeValue = (state, b) => (state.data.shade.by === 'Size' ? b.size : toNumber(b.ts));

export const shade = (state, b) =>
  state.data.shade.by === 'Plain' ? grey(34) : shadeOf(state, shadeValue(state, b));
