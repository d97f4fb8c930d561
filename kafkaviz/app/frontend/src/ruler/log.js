// The lane of the .log and its axis.

import { color, middleText, svg, svgLine, svgRect, svgStroke, svgText } from '../dom.js';
import { fillTemplate, formatBytes, groupDigits, textWidth } from '../text.js';
import { BEYOND, COARSE, LEFT, LOG, PAST, TICK_PX } from './constants.js';

import { shade, shadeOf, shadeValue, tone } from './overview.js';
import { ring } from './shapes.js';

export function drawBatches(state, k, lit) {
  const { w } = state.layout,
    [p0, p1] = state.window,
    inside = state.batches.filter(b => b.pos + b.size > p0 && b.pos < p1);
  const chosen = lit.batch,
    mate = lit.entry && !lit.direct ? state.batch(lit.entry.batch) : null,
    crowded = inside.length > (w - LEFT) / 2;
  if (crowded) drawRuns(state, k, inside);
  for (const b of crowded ? [mate, chosen] : inside)
    if (b) drawBatchBox(state, k, b, b === chosen, b === chosen || b === mate);
  const front = k.querySelector('.chosen');
  if (front) k.append(front);
  for (const e of state.entries) if (e.aim === COARSE && e.home >= 0) drawRestOfBatch(state, k, e);
  for (const e of state.entries)
    if (e.aim >= PAST && e.aim <= BEYOND && e.home >= 0)
      drawOwedEntry(state, k, state.batch(e.home));
}

// Marks the batch that an entry should point at but does not.
function drawOwedEntry(state, k, b) {
  if (!b) return;
  const { x } = state.layout,
    from = x(b.pos) + 1.6,
    width = Math.max(1, x(b.pos + b.size) - from - 1.6);
  k.append(
    svgRect(from, LOG.y + 1, width, LOG.h - 2, {
      class: 'entry-mark on',
      rx: 2,
      fill: 'none',
      stroke: color('torn'),
      'stroke-width': 1.4,
      'stroke-dasharray': '4 3',
    }),
  );
}

function drawBatchBox(state, k, b, on, bright) {
  const { x } = state.layout,
    xa = x(b.pos) + 0.6,
    width = Math.max(1, x(b.pos + b.size) - xa - 0.6),
    look = { x: xa, y: LOG.y, width };
  const box = svg('rect', {
    ...look,
    height: LOG.h,
    rx: Math.min(2, width / 3),
    fill: shade(state, b),
    ...ring(on, false, 'ink'),
  });
  const mark = b.slot >= 0 ? svg('rect', { ...look, height: 4, fill: color('offset') }) : null;
  k.append(
    svg('g', { class: `entry-mark${bright ? ' on' : ''}${on ? ' chosen' : ''}` }, box, mark),
  );
}

// Marks the rest of an append whose only entry points at its first batch.
function drawRestOfBatch(state, k, e) {
  const { x, w } = state.layout,
    first = state.batch(e.batch),
    last = state.batch(e.home);
  if (!first || !last) return;
  const from = Math.max(LEFT, x(first.pos + first.size)),
    to = Math.min(w, x(last.pos + last.size) - 1.2);
  if (to > from)
    k.append(svgRect(from, LOG.y, to - from, 2, { fill: color('offset'), opacity: 0.55 }));
}

// For more batches than there is space for: draws runs as one block in their mean shade.
function drawRuns(state, k, inside) {
  const { x } = state.layout,
    plain = state.data.shade.by === 'Plain';
  for (let i = 0, j, odd = 0; i < inside.length; i = j, odd ^= 1) {
    const from = x(inside[i].pos);
    for (j = i + 1; j < inside.length && x(inside[j].pos) < from + 3; j++);
    const run = inside.slice(i, j),
      width = Math.max(1, x(run.at(-1).pos + run.at(-1).size) - from - 0.4);
    const mean = run.reduce((sum, b) => sum + shadeValue(state, b), 0) / run.length;
    k.append(
      svgRect(from, LOG.y, width, LOG.h, {
        class: 'entry-mark',
        fill: plain ? tone(odd ? 0.26 : 0.36) : shadeOf(state, mean),
      }),
    );
    if (run.some(b => b.slot >= 0))
      k.append(svgRect(from, LOG.y, width, 4, { class: 'entry-mark', fill: color('offset') }));
  }
}

export function drawTail(state, k) {
  const { x, w } = state.layout,
    t = state.data.tail,
    y = LOG.y;
  if (!t || state.window[1] <= state.end) return;
  const from = Math.max(LEFT - 20, x(state.end)),
    to = Math.max(from + 30, x(state.data.size)),
    beside = to + 56 < w;
  const at = beside ? to + 6 : Math.max(LEFT + 4, from) + 8,
    over = 'paint-order:stroke;stroke:var(--kv-torn-soft);stroke-width:8px;';
  const style = `${beside ? '' : over}fill:${color('torn-text')}`,
    d = `M${from + 2} ${y}H${to}l-5 7 6 8 -6 8 6 8 -6 8 6 8 -3 7H${from + 2}Z`;
  const text = t.kind === 'zeros' ? state.data.words.of_zeros : state.data.words.no_batch;
  k.append(
    svg('path', { d, fill: 'url(#torn)', stroke: color('torn'), 'stroke-width': 1.4 }),
    svgText(at, y + 24, formatBytes(t.size), { style: `${style};font-weight:650` }),
    svgText(at, y + 39, text, { style }),
  );
}

// Draws the headers that a search reads between the entry's position and the selected batch.
export function drawHops(state, k, { batch, entry, direct, time }) {
  // nothing to draw if the batch is outside the loaded slice
  if (!batch || !state.batch(batch.i) || direct || (time && !entry && state.hover?.time)) return;
  const start = entry ? entry.batch : 0,
    y = LOG.y + LOG.h,
    { x } = state.layout;
  if (start < 0 || start >= batch.i) return;
  const points = state.batches
    .slice(Math.max(0, start - state.from), batch.i + 1 - state.from)
    .map(b => x(b.pos) + 2);
  let d = '',
    before = null;
  for (const p of points) {
    if (before !== null && p - before < 1.5 && p !== points.at(-1)) continue;
    d += before === null ? `M${p} ${y + 2}` : `Q${(before + p) / 2} ${y + 14} ${p} ${y + 2}`;
    before = p;
  }
  k.append(svgStroke(d, 'scan', 1.7));
}

// Draws the distance from each correct entry to the next, and the error of a wrong selected one.
export function drawGaps(state, k, { entry }) {
  const y = LOG.y + LOG.h + 20,
    far = entry?.aim === PAST ? entry : null,
    sound = slot => {
      const e = state.entry(slot);
      return e?.aim >= PAST ? sound(slot + 1) : e;
    };
  for (const { entry: e } of state.layout.stations) {
    const next = e && e.aim < PAST ? sound(e.slot + 1) : null;
    const covered = far && next && next.pos > far.homePos && e.pos < far.pos;
    if (next && next.pos > e.pos && !covered)
      drawDimension(state, k, e.pos, next.pos, y, 'ink-3', `${groupDigits(next.pos - e.pos)} B`);
  }
  if (!far) return;
  const bytes = groupDigits(far.pos - far.homePos),
    text = fillTemplate(state.data.words.too_far, { bytes });
  drawDimension(state, k, far.homePos, far.pos, y, 'torn', text);
}

function drawDimension(state, k, start, end, y, colour, words) {
  const { x, w } = state.layout,
    a = x(start),
    b = x(end),
    from = Math.max(a, LEFT),
    to = Math.min(b, w);
  if (b - a < 44) return;
  k.append(
    svg('path', {
      d: `M${a + 2} ${y - 4}v8M${a + 2} ${y}H${b - 2}M${b - 2} ${y - 4}v8`,
      stroke: color(colour),
      fill: 'none',
    }),
  );
  const fill = colour === 'torn' ? `;fill:${color('torn-text')}` : '';
  const text = {
    x: (from + to) / 2,
    y: y + 4,
    'text-anchor': 'middle',
    class: 'axt',
    style: `paint-order:stroke;stroke:var(--kv-raised);stroke-width:8px${fill}`,
  };
  if (to - from > textWidth(words) + 16) k.append(svg('text', text, words));
}

export function drawAxis(state, g) {
  const { x, w } = state.layout,
    [p0, p1] = state.window,
    y = LOG.y + LOG.h + 36,
    every = tickStep((p1 - p0) / Math.max(1, Math.min(7, (w - LEFT) / TICK_PX)));
  g.append(svgLine(LEFT, y, w, y, { class: 'ax' }));
  for (let p = Math.ceil(p0 / every) * every; p <= p1; p += every) {
    const X = x(p);
    if (X < LEFT + 16 || X > w - 16) continue;
    g.append(svgLine(X, y, X, y + 5, { class: 'ax' }));
    g.append(middleText(X, y + 18, groupDigits(p), 'axt'));
  }
  g.append(svgText(0, y + 18, state.data.words.axis, 'axt'));
}

function tickStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return (
    [1, 2, 2.5, 4, 5, 10].map(f => f * power).find(s => s >= least && Number.isInteger(s)) ??
    10 * power
  );
}
