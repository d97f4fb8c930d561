// The three lanes: the layout of their parts, and the links between them.

import { color, drawingWidth, svg, svgRect, svgStroke, svgText } from '../dom.js';
import { scale } from '../text.js';
import { HEIGHT, INDEX, LEFT, LOG, PAST, TIME } from './constants.js';
import { patterns } from './drawing.js';
import { drawAxis, drawBatches, drawGaps, drawHops, drawTail } from './log.js';
import { chain } from './selection.js';
import { dateText, isDate, isoText } from './sentence.js';
import { label, ring } from './shapes.js';

import {
  chooseSlots,
  drawLink,
  drawPointer,
  drawSlots,
  drawTornSlot,
  drawUnwrittenSlot,
  slotsWords,
} from './slots.js';
import { hasRoom } from './window.js';

export function drawDetail(state) {
  const el = state.$('detail'),
    w = drawingWidth(el),
    lit = chain(state, state.hover ?? state.pin);
  const g = svg(
    'svg',
    {
      height: HEIGHT,
      viewBox: `0 0 ${w} ${HEIGHT}`,
      preserveAspectRatio: 'xMinYMid',
      role: 'img',
      'aria-label': state.data.title,
    },
    patterns(),
  );
  g.append(svg('clipPath', { id: 'cp' }, svgRect(LEFT - 1, 0, w - LEFT + 1, HEIGHT)));
  const k = svg('g', { 'clip-path': 'url(#cp)', class: 'dim' }),
    stations = stationsIn(state),
    room = (w - LEFT) / (stations.length || 1);
  state.layout = {
    w,
    x: scale(...state.window, LEFT, w),
    stations,
    room,
    cw: Math.min(150, room - 8),
  };
  drawNames(state, g);
  drawLanes(state, k);
  if (state.layout.cw < 10) drawBands(state, k, lit);
  else
    stations.forEach((s, i) => (s.after ? drawAfter(state, k, i) : drawSlots(state, k, s, i, lit)));
  drawBatches(state, k, lit);
  drawTail(state, k);
  drawHops(state, k, lit);
  drawGaps(state, k, lit);
  drawAxis(state, g);
  g.append(k);
  el.replaceChildren(g);
}

/** @type {[string, { y: number, h: number }, string, string][]} */
const NAMES = [
  ['.timeindex', TIME, 'time', 'slot_of_12'],
  ['.index', INDEX, 'offset', 'slot_of_8'],
  ['.log', LOG, 'log', 'to_scale'],
];

function drawNames(state, g) {
  for (const [name, { y, h }, colour, note] of NAMES) {
    const style = `font-size:12.5px;font-weight:600;fill:${color(`${colour}-text`)}`;
    g.append(
      svgText(0, y + h / 2 + 4, name, { class: 'mono', style }),
      svgText(0, y + h / 2 + 18, state.data.words[note], 'axt'),
    );
  }
  g.append(svgText(0, TIME.y + TIME.h / 2 + 32, timeCut(state), 'axt day'));
}

// Chooses the part of times such as 2026-11-21T09:29:44.123Z that slots show, as state.layout.cut:
// the full time, else without the common part, which is then written next to the lane, else without
// the milliseconds, so that different neighbours look different. A character is 7.2 px wide.
function timeCut(state) {
  const { stations, cw } = state.layout,
    times = stations.filter(s => s.time && isDate(s.time.ts)).map(s => isoText(s.time.ts)),
    [first = ''] = times;
  const are = end => times.every(t => t.slice(0, end) === first.slice(0, end)),
    cuts =
      cw > 90
        ? []
        : cw > 70
          ? [[-10, -1]]
          : [
              [-7, -1],
              [-10, -5],
            ];
  const cut = cw > 90 ? [-13, -1] : (cuts.find(([start]) => are(start)) ?? [-13, -5]);
  // if the days differ, each slot shows its own
  Object.assign(state.layout, { cut, days: !are(-14) });
  return times.length && are(cut[0])
    ? [dateText(first), cw < 50 ? '' : first.slice(-13, cut[0])].join(' ').trim()
    : '';
}

// Returns the places of the two upper lanes, equally wide and in log order: an entry with its time,
// a time without entry, and the slots after the last entry.
function stationsIn(state) {
  const [p0, p1] = state.window,
    span = p1 - p0,
    first = p0 - span * 0.0127,
    last = p1 >= state.end ? p1 : p1 - span * 0.0085;
  const isInWindow = p => p >= first && p <= last,
    stations = [],
    { index, time } = state.data.lanes;
  for (const e of state.entries) {
    const at = e.aim >= PAST ? e.homePos : e.pos;
    if (isInWindow(at) || (e.aim >= PAST && isInWindow(e.pos)))
      stations.push({ at: isInWindow(at) ? at : e.pos, entry: e, time: state.time(e.time) });
  }
  for (const t of state.times)
    if (t.entry < 0 && isInWindow(Math.min(t.pos, state.end - 1)))
      stations.push({ at: t.pos, time: t });
  stations.sort((a, b) => a.at - b.at || (a.entry?.slot ?? Infinity) - (b.entry?.slot ?? Infinity));
  const lastEntry = state.last ? (state.entries.at(-1)?.pos ?? -1) : Infinity;
  if ((hasRoom(index) && p1 > lastEntry) || (hasRoom(time) && !hasRoom(index) && p1 >= state.end))
    stations.push({ after: true });
  return stations;
}

// A lane without entries in this window says so.
function drawLanes(state, k) {
  const { w, stations } = state.layout,
    { time, index } = state.data.lanes;
  for (const [lane, file, has] of [
    [TIME, time, s => s.time],
    [INDEX, index, s => s.entry],
  ]) {
    if (
      !file.missing &&
      (stations.some(has) ||
        (file.written && stations.length) ||
        (hasRoom(file) && stations.some(s => s.after)))
    )
      continue;
    const box = {
      x: LEFT + 1,
      y: lane.y,
      width: w - LEFT - 2,
      height: lane.h,
      rx: 3,
      fill: 'none',
      'stroke-dasharray': '3 3',
    };
    const text = { x: (LEFT + w) / 2, y: lane.y + 21, 'text-anchor': 'middle' };
    if (file.missing)
      k.append(
        svg('rect', { ...box, stroke: color('torn') }),
        svg('text', { ...text, style: `fill:${color('torn-text')}` }, file.words),
      );
    else
      k.append(
        svg('rect', { ...box, stroke: color('ink-3') }),
        svg(
          'text',
          { ...text, class: 'axt' },
          file.written ? state.data.words.no_entry_here : file.words,
        ),
      );
  }
}

// Draws what follows the last entry of a file: unwritten slots, or a torn slot.
function drawAfter(state, k, i) {
  const { room, cw } = state.layout,
    X = LEFT + (i + 0.5) * room,
    { index, time } = state.data.lanes;
  for (const [lane, file] of [
    [TIME, time],
    [INDEX, index],
  ]) {
    if (file.cut_bytes) k.append(...drawTornSlot(state, X, lane, cw, file));
    else if (file.slots > file.written)
      k.append(
        ...drawUnwrittenSlot(X, lane, cw, state.data.words[file.unwritten]),
        label(X - cw / 2, lane.y - 5, chooseSlots(state, file, room)),
      );
  }
}

// For too many slots: each lane becomes a band with one tick per slot, and only some have a link.
function drawBands(state, k, lit) {
  const { w, stations, room } = state.layout,
    every = Math.ceil(9 / room),
    { index, time } = state.data.lanes;
  drawBand(state, k, TIME, s => s.time, 'time');
  drawBand(state, k, INDEX, s => s.entry, 'offset');
  stations.forEach((s, i) => {
    const on = (s.entry && lit.entry === s.entry) || (s.time && lit.time === s.time);
    if (on || s.entry?.aim >= PAST || i % every === 0)
      drawDrop(state, k, s, LEFT + (i + 0.5) * room, on);
  });
  if (!stations.at(-1)?.after) return;
  for (const [lane, file] of [
    [TIME, time],
    [INDEX, index],
  ])
    if (hasRoom(file))
      k.append(
        ...(file.cut_bytes
          ? drawTornSlot(state, w - 24, lane, 46, file)
          : drawUnwrittenSlot(w - 24, lane, 46, '')),
      );
}

// Draws the link of one slot in a band, and the slot itself if it is selected.
function drawDrop(state, k, { entry: e, time: t }, X, on) {
  const wrong = e?.aim >= PAST,
    look = wrong ? 'torn' : 'offset',
    dashes = wrong ? '5 3' : null,
    passing = state.data.lanes.index.missing ? null : INDEX.y + INDEX.h;
  if (e) drawPointer(state, k, X, INDEX.y + INDEX.h, e.pos, on, look, dashes);
  else if (t)
    drawPointer(state, k, X, TIME.y + TIME.h, t.pos, on, t.true ? 'time' : 'torn', '3 3', passing);
  if (!on) return;
  if (t && e) drawLink(state, k, X, t, e, true);
  for (const [lane, slot, colour] of [
    [TIME, t, 'time'],
    [INDEX, e, 'offset'],
  ])
    if (slot)
      k.append(
        svgRect(X - 4, lane.y, 8, lane.h, {
          rx: 2,
          fill: color(`${colour}-soft`),
          ...ring(true, false, colour),
        }),
      );
}

function drawBand(state, k, lane, has, colour) {
  const { stations, room } = state.layout,
    every = Math.ceil(2.5 / room);
  const all = stations.map((s, i) => ({ slot: has(s)?.slot, i })).filter(s => s.slot !== undefined);
  if (!all.length) return;
  const from = LEFT + all[0].i * room,
    to = LEFT + (all.at(-1).i + 1) * room;
  k.append(
    svgRect(from, lane.y, to - from, lane.h, { rx: 3, fill: color(`${colour}-soft`) }),
    label(from, lane.y - 5, slotsWords(state, all[0].slot, all.at(-1).slot)),
  );
  const ticks = all
    .filter((_, n) => n % every === 0)
    .map(({ i }) => `M${LEFT + (i + 0.5) * room} ${lane.y + 4}v${lane.h - 8}`);
  k.append(svgStroke(ticks.join(''), colour, 1, { opacity: 0.5 }));
}
