// The figure of the index: one cell per slot, or a strip for many slots, and below it the slots
// left by each probe.
import {
  color,
  endText,
  hatchedDrawing,
  middleText,
  pageFill,
  svg,
  svgCircle,
  svgLine,
  svgRect,
  svgStroke,
  svgText,
  warmText,
} from '../dom.js';
import { countText, fillTemplate, groupDigits, scale, textWidth } from '../text.js';

// rows of probes: the figure grows with them, and shows the last ones of a longer search
const MIN_ROWS = 4,
  MAX_ROWS = 12,
  REMOVED = { rx: 2, fill: 'url(#hOut)', stroke: color('line') }; // slots that a probe removes

export function drawIndex(state, step, search) {
  const draw = search.cells ? drawSlots : drawIndexStrip;
  const view = searchProgress(step, search);
  view.reads = search.memory ? state.reads : null;
  state.$('ix').replaceChildren(draw(state, state.width, search, view));
}

// Returns the state of a search at a step: probes so far, the current one, and the pages touched.
function searchProgress(step, search) {
  const probes = search.rows.slice(0, step.probes),
    last = probes.at(-1),
    pages = new Set(probes.flatMap(p => p.pages));
  const foundSlot = step.over && search.slot >= 0 ? search.slot : null;
  const left =
    foundSlot !== null ? [foundSlot, foundSlot] : last ? last.after : [0, search.entries - 1];
  const now = !step.over && step.phase === search.kind ? last : null;
  return { probes, pages, foundSlot, left, over: step.over, now };
}

const tick = (x, y, r) => [
  svgCircle(x, y, r, { fill: color('hit'), stroke: color('raised'), 'stroke-width': 2 }),
  svgStroke(`M${x - 3.6} ${y}l2.6 3 4.6-5.6`, 'bg', 1.8),
];
const disc = (x, y, n, fill) => {
  const style = `fill:${color('bg')};font-size:11.5px;font-weight:650`;
  return svg('g', {}, svgCircle(x, y, 9, { fill }), middleText(x, y + 4, String(n), { style }));
};
// Draws whether the page of a probe was hot or cold when the probe needed it.
function drawPageMark({ reads }, i, x, y) {
  if (!reads) return [];
  const fill = pageFill[reads[i].length ? 'cold' : 'hot'];
  return [svgRect(x, y - 5, 9, 10, { rx: 2, ...fill })];
}
const colour = search => (search.kind === 'time' ? 'time' : 'offset');

function makeClickable(state, search, box, slotAt) {
  if (!state.data.picks || search.kind !== state.data.by) return box;
  box.classList.add('pick');
  box.addEventListener('click', event => state.hooks.ask({ key: state.key, slot: slotAt(event) }));
  return box;
}

// Returns the positions of the cells of few slots, and of the rows of their probes.
function slotLayout(w, search) {
  const time = search.kind === 'time',
    N = search.entries,
    L = 44,
    R = time ? 118 : 104,
    cw = N ? Math.min(150, (w - L - R) / N) : 0,
    tiny = cw < (time ? 30 : 25),
    H0 = tiny ? 30 : 52,
    top = 30;
  return { w, time, N, cw, tiny, H0, top, rowH: 24, y0: top + H0 + 34, x: s => L + s * cw };
}

function drawSlots(state, w, search, view) {
  const { words } = state.data,
    layout = slotLayout(w, search),
    { x, cw, top, H0, rowH, y0 } = layout;
  const height = y0 + Math.max(view.probes.length, MIN_ROWS) * rowH + 6,
    g = hatchedDrawing(w, height, state.$('f1t').textContent);
  state.place = s => [x(s) + 1, top, Math.max(3, cw - 2), H0];
  g.append(...drawPageBrackets(layout, search, view.pages, words));
  if (search.warm_from !== null) g.append(...drawWarmSlots(layout, search.warm_from, words));
  g.append(...drawRowNames(layout, search, words));
  const probed = new Set(view.probes.map(p => p.slot));
  search.cells.forEach(([key, value, sentence], s) => {
    const cell = drawSlotCell(layout, search, view, { s, key, value, isProbed: probed.has(s) });
    const box = state.hover(cell, () => [sentence]);
    g.append(makeClickable(state, search, box, () => s));
  });
  view.probes.forEach((p, i) => g.append(...drawProbeRow(layout, search, view, p, i, words)));
  return g;
}

// Draws a bracket around the slots of each page, marked if the page was touched.
function drawPageBrackets({ x, top, N }, search, pages, words) {
  const page = s => Math.floor(s / search.page_slots),
    brackets = [];
  for (let s = 1, a = 0; s <= N; s++)
    if (s === N || page(s) !== page(a)) {
      const p = page(a),
        on = pages.has(p),
        word =
          x(s) - x(a) > 96 && on
            ? fillTemplate(words.page_touched, { n: p })
            : x(s) - x(a) > 44
              ? fillTemplate(words.page, { n: p })
              : String(p),
        bracket = `M${x(a) + 2} ${top - 4}v-5h${x(s) - x(a) - 4}v5`;
      brackets.push(
        svgStroke(bracket, on ? 'ink' : 'ink-3', on ? 1.8 : 1),
        middleText((x(a) + x(s)) / 2, top - 14, word, on ? 'strong' : 'axt'),
      );
      a = s;
    }
  return brackets;
}

// Draws the warm section below the cells, and the part in front of it.
function drawWarmSlots({ x, top, H0, N }, F, words) {
  const parts = [
    svgRect(x(F), top + H0 + 5, x(N) - x(F), 9, { fill: 'url(#hWarm)' }),
    endText(x(N), top + H0 + 26, F === 0 ? words.warm_all : words.warm, warmText),
  ];
  if (F > 0)
    parts.push(svgRect(x(0), top + H0 + 5, x(F) - x(0) - 2, 9, { fill: color('log-soft') }));
  if (F > 0 && textWidth(words.in_front + words.warm) + 30 < x(N) - x(0))
    parts.push(svgText(x(0), top + H0 + 26, words.in_front, 'axt'));
  return parts;
}

// Draws the names of a cell's lines, or the range of slots if the cells are narrow.
function drawRowNames({ x, top, tiny, time, N }, search, words) {
  if (tiny)
    return [
      svgText(0, top + 19, words.slots, 'axt'),
      svgText(x(N) + 10, top + 19, N ? fillTemplate(words.slots_to, { last: N - 1 }) : '', 'axt'),
    ];
  const third = time ? words.offset : search.cells[0]?.[1] ? words.byte : '';
  return [words.slot, words.key, third].map((t, i) => svgText(0, top + [15, 32, 46][i], t, 'axt'));
}

// Draws the content of a slot, or only whether it was read if the cell is narrow.
function drawSlotCell(layout, search, view, { s, key, value, isProbed }) {
  const { x, cw, top, H0, tiny, N } = layout,
    { probes, now, foundSlot } = view,
    [lo, hi] = view.left ?? [N, -1];
  const out = probes.length && (s < lo || s > hi),
    hit = foundSlot === s,
    isCurrent = now?.slot === s,
    mid = x(s) + cw / 2;
  const cell = svg(
    'g',
    { opacity: out && !isProbed ? 0.42 : 1 },
    svgRect(x(s) + 1, top, Math.max(1, cw - 2), H0, {
      rx: 3,
      fill: color(hit ? 'hit-soft' : out ? 'panel' : `${colour(search)}-soft`),
      stroke: hit ? color('hit') : isCurrent ? color('probe') : 'none',
      'stroke-width': hit || isCurrent ? 2.4 : 0,
    }),
  );
  if (!tiny) cell.append(...drawSlotTexts(layout, { s, key, value, hit }));
  else if (hit) cell.append(svgStroke(`M${mid - 4} ${top + 15}l3 3.4 5.4-7`, 'hit', 2));
  else if (isProbed) cell.append(svgCircle(mid, top + 15, 2.6, { fill: color('ink') }));
  return cell;
}

function drawSlotTexts({ x, cw, top, time }, { s, key, value, hit }) {
  const mid = x(s) + cw / 2,
    isNarrow = cw < 44,
    short = text => (isNarrow ? text.replace(/\s/g, '') : text),
    keyText = time ? key.slice(cw < 52 ? 9 : 6) : short(key),
    keyStyle = `font-size:${isNarrow ? 11 : 13}px;font-weight:600;fill:${color('ink')}`,
    valueStyle = `font-size:${isNarrow ? 9.5 : 11}px;fill:${color('ink-3')}`;
  return [
    middleText(mid, top + 15, s + (hit ? ' ✓' : ''), { class: 'axt', style: 'font-size:11px' }),
    middleText(mid, top + 32, keyText, { class: 'mono', style: keyStyle }),
    middleText(mid, top + 46, short(value), { class: 'mono', style: valueStyle }),
  ];
}

// Draws a probe: the slots it leaves, and the comparison.
function drawProbeRow({ w, x, cw, rowH, y0, time }, search, view, p, i, words) {
  const y = y0 + i * rowH + rowH / 2,
    isCurrent = p === view.now,
    [a, b] = p.before,
    parts = [];
  const cut = (l, r) => {
    if (r >= l)
      parts.push(svgRect(x(l) + 1, y - 6, (r - l + 1) * cw - 2, 12, { ...REMOVED, rx: 3 }));
  };
  if (!p.after) cut(a, b);
  else {
    cut(a, p.after[0] - 1);
    cut(p.after[1] + 1, b);
    if (p.after[1] >= p.after[0])
      parts.push(
        svgRect(x(p.after[0]) + 1, y - 6, Math.max(1, (p.after[1] - p.after[0] + 1) * cw - 2), 12, {
          rx: 3,
          fill: color(colour(search)),
          opacity: isCurrent ? 0.62 : 0.3,
        }),
      );
  }
  const short = text => (time ? text.slice(6) : text);
  parts.push(
    svgText(0, y + 4, words.probe, isCurrent ? 'strong' : 'axt'),
    ...drawPageMark(view, i, 34, y),
    disc(x(p.slot) + cw / 2, y, i + 1, color(isCurrent ? 'probe' : 'ink-2')),
    endText(w, y + 4, `${short(p.key)} ${p.compare} ${short(search.target)}`, {
      class: `${isCurrent ? 'strong ' : ''}mono`,
      style: 'font-size:12px',
    }),
  );
  return parts;
}

// Returns the position of the strip of a whole index, and of the rows of its probes.
function stripLayout(w, search, view) {
  const firstRow = Math.max(0, view.probes.length - MAX_ROWS),
    tight = search.rows.length > 10,
    rowH = tight ? 19 : 23,
    // above the file are its pages, or their numbers
    [sy, sh, gap] = search.memory ? [18, 14, 26] : [40, 26, 54],
    y0 = sy + sh + gap,
    px = scale(0, search.pages, 0, w);
  return {
    w,
    sy,
    sh,
    px,
    firstRow,
    rowH,
    rowY: i => y0 + (i - firstRow) * rowH,
    bar: tight ? 9 : 11,
    y0,
    fw: w - 220,
    slotX: slot => px(slot / search.page_slots),
  };
}

function drawIndexStrip(state, w, search, view) {
  const { words } = state.data,
    layout = stripLayout(w, search, view),
    { firstRow, sy, sh, y0, rowH, slotX } = layout,
    rows = Math.max(MIN_ROWS, view.probes.length - firstRow);
  const g = hatchedDrawing(w, y0 + rows * rowH + 8, state.$('f1t').textContent);
  state.place = s => [Math.min(slotX(s), w - 6), sy, Math.max(6, slotX(s + 1) - slotX(s)), sh];
  const strip = drawStrip(layout, search);
  g.append(svgText(0, 12, search.strip, 'axt'), strip);
  if (search.warm_from !== null) g.append(...drawWarmPart(layout, search, strip, words));
  pickSlots(state, search, strip);
  g.append(...drawTouchedPages(layout, search, view, words));
  if (view.foundSlot !== null) g.append(...tick(slotX(view.foundSlot + 0.5), sy + sh / 2, 8));
  const y = search.memory ? sy + sh + 15 : y0 - 16;
  // the name of the warm section may be on the same line
  const section = search.memory && search.warm_from !== null ? warmLabel(search, words) : '';
  if (textWidth(words.magnifies + section) + 30 < w)
    g.append(svgText(0, y, words.magnifies, 'axt'));
  for (let i = firstRow; i < view.probes.length; i++)
    g.append(
      ...drawMagnifiedSlots(layout, search, view, view.probes[i], i),
      ...drawProbeWords(layout, search, view, view.probes[i], i, words),
    );
  if (!view.probes.length) g.append(...drawWholeIndex(layout, search, words));
  return g;
}

// Draws the index, with its pages separated if there is space.
function drawStrip({ w, sy, sh, px }, search) {
  const fill = color(`${colour(search)}-soft`),
    strip = svg('g', {}, svgRect(0, sy, w, sh, { fill, rx: 3 }));
  if (search.pages <= w / 5)
    for (let i = 1; i < search.pages; i++)
      strip.append(svgLine(px(i), sy, px(i), sy + sh, { stroke: color('bg') }));
  return strip;
}

// Draws the warm section in the strip, with its share as text.
function drawWarmPart({ w, sy, sh, slotX }, search, strip, words) {
  const ww = Math.max(4, w - slotX(search.warm_from));
  strip.append(svgRect(w - ww, sy, ww, sh, { fill: ww < 9 ? color('warm') : 'url(#hWarm)' }));
  return [endText(w, sy + sh + 15, warmLabel(search, words), warmText)];
}

function warmLabel({ warm_from: F, entries: N }, words) {
  const part = ((N - F) * 100) / N,
    share = part.toFixed(part < 1 ? 2 : 0);
  return F === 0 ? words.warm_all : fillTemplate(words.warm_share, { share });
}

// A click on the strip sends the slot below the pointer.
function pickSlots(state, search, strip) {
  const slotAt = event => {
    const { left, width } = strip.getBoundingClientRect(),
      slot = Math.floor(((event.clientX - left) / width) * search.pages * search.page_slots);
    return Math.max(0, Math.min(search.entries - 1, slot));
  };
  const box = state.data.picks ? state.hover(strip, () => [state.data.words.click]) : strip;
  makeClickable(state, search, box, slotAt);
}

// Draws the remaining slots, the probed ones, and the numbers of the touched pages.
function drawTouchedPages({ w, sy, sh, px, slotX }, search, view, words) {
  const { probes, pages, now } = view,
    parts = [];
  if (probes.length && view.left) {
    const xa = slotX(view.left[0]),
      xb = slotX(view.left[1] + 1);
    parts.push(
      svgRect(Math.min(xa, w - 3), sy, Math.max(3, xb - xa), sh, {
        fill: color(colour(search)),
        opacity: 0.34,
        'pointer-events': 'none',
      }),
    );
  }
  for (const p of probes)
    parts.push(
      svgLine(slotX(p.slot + 0.5), sy - 4, slotX(p.slot + 0.5), sy + sh + 4, {
        stroke: color('probe'),
        'stroke-width': p === now ? 2.6 : 1.4,
      }),
    );
  if (search.memory) return parts;
  const pageNumbers =
    [...pages].slice(0, 13).map(groupDigits).join(', ') + (pages.size > 13 ? ' …' : '');
  const touched = countText(words, 'pages_touched', pages.size, { pages: pageNumbers });
  parts.push(svgText(0, sy + sh + 15, pages.size ? touched : words.no_page));
  const look = { class: 'axt', style: 'font-size:11px' };
  if (search.pages <= 14)
    for (let i = 0; i < search.pages; i++)
      parts.push(svgText(px(i) + 5, sy - 6, fillTemplate(words.page, { n: i }), look));
  return parts;
}

// Draws the slots before a probe over the full width: those it removes and those it leaves.
function drawMagnifiedSlots({ rowY, rowH, bar, fw }, search, view, p, i) {
  const y = rowY(i),
    [a, b] = p.before,
    isCurrent = p === view.now,
    x = scale(a, b + 1, 0, fw),
    [lo, hi] = p.after ?? [b + 1, b],
    xa = x(lo),
    xb = x(hi + 1),
    F = search.warm_from,
    parts = [];
  if (lo > a) parts.push(svgRect(0, y, Math.max(0, xa), bar, REMOVED));
  if (hi < b && p.after) parts.push(svgRect(xb, y, Math.max(0, fw - xb), bar, REMOVED));
  if (p.after) {
    parts.push(
      svgRect(xa, y, Math.max(2, xb - xa), bar, {
        rx: 2,
        fill: color(colour(search)),
        opacity: isCurrent ? 0.75 : 0.42,
      }),
    );
    if (i < view.probes.length - 1 || !view.over)
      parts.push(
        svg('path', {
          d: `M${xa} ${y + bar}L0 ${y + rowH}H${fw}L${Math.max(xb, xa + 2)} ${y + bar}Z`,
          fill: color(colour(search)),
          opacity: 0.13,
        }),
      );
  }
  if (i === 0 && F > 0) {
    const xf = Math.min(x(F), fw - 4);
    parts.push(svgRect(xf, y, fw - xf, bar, { fill: fw - xf < 9 ? color('warm') : 'url(#hWarm)' }));
  }
  parts.push(
    svgCircle(x(p.slot + 0.5), y + bar / 2, isCurrent ? 6.5 : 4.5, {
      fill: color(isCurrent ? 'probe' : 'ink-2'),
      stroke: color('raised'),
      'stroke-width': 1.5,
    }),
  );
  return parts;
}

// Draws the number of a probe, its comparison, and how many slots it leaves.
function drawProbeWords({ w, rowY, bar, fw }, search, view, p, i, words) {
  const middle = rowY(i) + bar / 2,
    y = middle + 4,
    isCurrent = p === view.now,
    [lo, hi] = p.after ?? [0, -1],
    left = p.after ? fillTemplate(words.left, { n: groupDigits(hi - lo + 1) }) : words.none_left,
    comparison = `${search.kind === 'time' ? p.key.slice(3) : p.key} ${p.compare}`,
    style = 'font-size:11.5px';
  return [
    ...drawPageMark(view, i, fw + 1, middle),
    svgText(fw + 14, y, String(i + 1), isCurrent ? 'strong' : ''),
    svgText(fw + 34, y, comparison, { class: `${isCurrent ? 'strong ' : ''}mono`, style }),
    endText(w, y, left, { class: isCurrent ? '' : 'axt', style }),
  ];
}

// Draws all slots in the row of the first probe, before it was made.
function drawWholeIndex({ y0, bar, fw }, search, words) {
  const text = fillTemplate(words.n_slots, { n: groupDigits(search.entries) });
  return [
    svgRect(0, y0, fw, bar, { rx: 2, fill: color(`${colour(search)}-soft`) }),
    svgText(fw + 14, y0 + bar / 2 + 4, text, 'axt'),
  ];
}
