// The slots of both indexes in the lanes, each with its pointer.

import { color, html, middleText, svg, svgRect, svgText } from '../dom.js';
import { fillTemplate, groupDigits, textWidth } from '../text.js';
import { INDEX, LEFT, LOG, PAST, TIME } from './constants.js';

import { chain } from './selection.js';
import { dateText, isDate, isoText, range, timeText } from './sentence.js';

import { fitsCode, fitsText, label, ring, twoLines } from './shapes.js';

const slotWords = (state, slot) => fillTemplate(state.data.words.slot, { slot: groupDigits(slot) });

export const slotsWords = (state, first, last) =>
  fillTemplate(state.data.words.slots, { first: groupDigits(first), last: groupDigits(last) });

export function chooseSlots(state, { written, slots }, room) {
  const words =
      slots - written === 1 ? slotWords(state, written) : slotsWords(state, written, slots - 1),
    short = `${groupDigits(written)}–${groupDigits(slots - 1)}`;
  return [words, short].find(text => (textWidth(text) * 11) / 12 <= room) ?? '';
}

const slotBox = (X, lane, cw, look) => svgRect(X - cw / 2, lane.y, cw, lane.h, { rx: 3, ...look });

export function drawUnwrittenSlot(X, lane, cw, words) {
  const look = { fill: 'url(#unwritten)', stroke: color('unwritten'), 'stroke-dasharray': '4 3' };
  const style = 'paint-order:stroke;stroke:var(--kv-unwritten-soft);stroke-width:6px';
  return [
    slotBox(X, lane, cw, look),
    ...(fitsText(cw, words) ? [middleText(X, lane.y + 21, words, { style })] : []),
  ];
}

export function drawTornSlot(state, X, lane, cw, { slots, cut_bytes }) {
  const d = `M${X - cw / 2} ${lane.y}h${cw / 2}l-4 5 5 6 -5 6 5 6 -5 6 4 5h${-cw / 2}z`,
    words = `${cut_bytes} B`;
  const parts = [
    svg('path', { d, fill: 'url(#torn)', stroke: color('torn'), 'stroke-width': 1.4 }),
    label(X - cw / 2, lane.y - 5, slotWords(state, slots)),
  ];
  if (fitsText(cw / 2 - 4, words))
    parts.push(
      svgText(X + 8, lane.y + 21, words, { style: `fill:${color('torn-text')};font-weight:650` }),
    );
  return parts;
}

// Returns the offset, or the stored relative offset if the whole one does not fit.
const offsetIn = (state, offset, cw) =>
  fitsCode(cw, groupDigits(offset)) ? groupDigits(offset) : `+${groupDigits(offset - state.base)}`;

export function drawSlots(state, k, station, i, lit) {
  const X = LEFT + (i + 0.5) * state.layout.room,
    { entry: e, time: t } = station,
    { index, time } = state.data.lanes,
    { cw } = state.layout;
  const chosen = e ? lit.entry === e : lit.time === t,
    none = state.data.closing,
    { words } = state.data;
  if (e) drawIndexSlot(state, k, X, e, chosen);
  else if (index.written)
    k.append(
      ...drawAbsentSlot(X, INDEX, cw, none ? words[`none_${none}`] : words.no_entry, words[none]),
    );
  if (e && t) drawLink(state, k, X, t, e, chosen);
  if (t) drawTimeSlot(state, k, X, t, e, lit.time === t);
  else if (isTimeLost(state, e)) k.append(...drawUnwrittenSlot(X, TIME, cw, words[time.unwritten]));
  else if (time.written) k.append(...drawAbsentSlot(X, TIME, cw, words.no_newer));
}

function drawIndexSlot(state, k, X, e, on) {
  const { cw } = state.layout,
    wrong = e.aim >= PAST,
    colour = wrong ? 'torn' : 'offset',
    texts = [offsetIn(state, e.key, cw), `→ ${groupDigits(e.pos)}`];
  drawPointer(state, k, X, INDEX.y + INDEX.h, e.pos, on, colour, wrong ? '5 3' : null);
  const look = { fill: color(`${colour}-soft`), ...ring(on, wrong, colour) };
  const words = fitsCode(cw, ...texts) ? twoLines(X, INDEX.y, ...texts, colour) : null;
  const box = slotBox(X, INDEX, cw, look),
    name = drawSlotName(state, e.slot, X - cw / 2, INDEX.y - 4);
  k.append(svg('g', { class: on ? 'entry-mark on' : 'entry-mark' }, box, words, name));
}

function drawTimeSlot(state, k, X, t, e, on) {
  const { cw } = state.layout,
    colour = t.true ? 'time' : 'torn',
    d = Math.min(7, cw / 4),
    h = TIME.h / 2;
  const texts = [timeText(t.ts, state.layout.cut), `→ ${offsetIn(state, t.offset, cw - 14)}`];
  const passing = state.data.lanes.index.missing ? null : INDEX.y + INDEX.h;
  if (!e) drawPointer(state, k, X, TIME.y + TIME.h, t.pos, on, colour, '3 3', passing);
  const hexagon = `M${X - cw / 2} ${TIME.y + h}l${d} ${-h}h${cw - 2 * d}l${d} ${h}l${-d} ${h}h${-(cw - 2 * d)}z`;
  const shape = svg('path', {
    d: hexagon,
    fill: color(`${colour}-soft`),
    ...ring(on, !t.true, colour),
  });
  const words = fitsCode(cw, ...texts)
    ? twoLines(X, TIME.y, ...texts, colour, cw < 96 ? 11.5 : 12)
    : null;
  const day = state.layout.days && isDate(t.ts) ? dateText(isoText(t.ts)) : '',
    name = drawSlotName(state, t.slot, X - cw / 2, TIME.y - 5, day);
  k.append(svg('g', { class: on ? 'entry-mark on' : 'entry-mark' }, shape, words, name));
}

function drawSlotName(state, slot, x, y, more = '') {
  const room = state.layout.room / 7.5,
    digits = String(slot).length,
    withDay = `${slotWords(state, slot)} · ${more}`;
  if (more && textWidth(withDay) < state.layout.room) return label(x, y, withDay);
  return room > 5 + digits
    ? label(x, y, slotWords(state, slot))
    : room > digits
      ? label(x, y, groupDigits(slot))
      : null;
}

function drawAbsentSlot(X, lane, cw, words, shorter = '') {
  const look = { fill: 'none', stroke: color('ink-3'), 'stroke-dasharray': '3 3' };
  const text = fitsText(cw, words) ? words : fitsText(cw, shorter) ? shorter : '';
  return [slotBox(X, lane, cw, look), middleText(X, lane.y + lane.h / 2 + 4, text, 'axt')];
}

// Returns whether an offset entry comes after the last time entry of a closed segment whose time
// index ends in zeros.
function isTimeLost(state, e) {
  const { time } = state.data.lanes;
  return (
    time.unwritten === 'zeros' &&
    time.slots > time.written &&
    state.last &&
    e.pos > (state.times.at(-1)?.pos ?? -1)
  );
}

// Draws a line from a slot to its byte; that of a time without offset entry crosses the index lane.
export function drawPointer(state, k, X, y, position, on, colour, dashes, past = null) {
  const bx = Math.max(LEFT - 20, Math.min(state.layout.w + 20, state.layout.x(position))),
    start = past ?? y;
  const kind = on ? 'lnk on' : colour === 'torn' ? 'lnk bad' : 'lnk';
  const look = {
    class: kind,
    stroke: color(colour),
    'stroke-width': on ? 2 : 1.3,
    'stroke-dasharray': dashes,
  };
  if (past !== null) k.append(svg('path', { d: `M${X} ${y}V${INDEX.y}`, ...look }));
  k.append(
    svg('path', {
      d: `M${X} ${start}C${X} ${start + 38} ${bx + 0.7} ${LOG.y - 44} ${bx + 0.7} ${LOG.y - 3}`,
      ...look,
    }),
    svg('path', {
      d: `M${bx - 3.2} ${LOG.y - 8}l4 6 4 -6z`,
      class: kind,
      style: `stroke:none;fill:${color(colour)}`,
    }),
  );
}

// Draws a line from a time entry to its offset entry, dashed if the newest record is in an earlier
// batch. The remark about it needs room; that of the chosen slot is always drawn.
export function drawLink(state, k, X, t, e, on) {
  const earlier = t.true && t.offset !== e.key && t.batch !== e.home,
    y = (TIME.y + TIME.h + INDEX.y) / 2 + 4;
  const look = {
    class: `lnk${on ? ' on' : ''}`,
    stroke: color(t.true ? 'time' : 'torn'),
    'stroke-width': on ? 2 : 1.3,
  };
  k.append(
    svg('path', {
      d: `M${X} ${TIME.y + TIME.h}V${INDEX.y}`,
      ...look,
      'stroke-dasharray': earlier || !t.true ? '3 3' : null,
    }),
  );
  if (earlier) {
    const words = state.data.words.newest_earlier,
      px = (textWidth(words) * 11) / 12 + 9;
    if (on || px <= state.layout.room)
      k.append(label(X + px > state.layout.w ? X - px : X + 5, y, words));
  }
  if (!t.true)
    k.append(
      svgText(X + 7, y, state.data.words.not_its_time, {
        style: `font-size:11px;fill:${color('torn-text')}`,
      }),
    );
}

// Draws the fields of the selected slots, and of the selected batch's header.
export function renderFields(state) {
  const { words } = state.data,
    { batch, entry, time } = chain(state, state.hover ?? state.pin),
    relative = offset => groupDigits(offset - state.base);
  const sum = e => `${groupDigits(state.base)} + ${relative(e.key)} = ${groupDigits(e.key)}`;
  const groups = [
    time && [
      'time group',
      `${words.file_time} ${slotWords(state, time.slot)}`,
      [words.timestamp, 8, groupDigits(time.ts)],
      [words.relative_offset, 4, `+${relative(time.offset)}`],
    ],
    entry && [
      'offset group',
      `${words.file_offset} ${slotWords(state, entry.slot)} · ${sum(entry)}`,
      [words.relative_offset, 4, `+${relative(entry.key)}`],
      [words.position, 4, groupDigits(entry.pos)],
    ],
    batch && ['log group', ...headerFields(state, batch)],
  ];
  state.$('fields').replaceChildren(...groups.filter(Boolean).map(drawGroup));
}

const drawGroup = ([kind, title, ...fields]) =>
  html(
    'div',
    kind,
    html('div', 'lab', title),
    ...fields.map(([name, bytes, value]) =>
      html(
        'div',
        { class: 'field', style: `--bytes:${bytes}` },
        html('b', 'mono', value),
        `${name} ${bytes} B`,
      ),
    ),
  );

// Returns a title, and the fields of a batch's header; a magic that Kafka does not know counts as 2.
function headerFields(state, b) {
  const { headers, words } = state.data,
    fields = headers[b.field('magic')] ?? headers[2],
    length = b.size - 12; // the offset and the length itself do not count
  const computed = {
    offset: b.last,
    message_size_bytes: length,
    timestamp_ms: b.ts,
    base_offset: b.first,
    batch_length_bytes: length,
    last_offset_delta: b.last - b.first,
  };
  const bytes = fields.reduce((sum, field) => sum + field[1], 0),
    at = { range: range(state, b), bytes, size: groupDigits(b.size) };
  return [
    fillTemplate(words.header, at),
    ...fields.map(([name, size, column, isHex]) => {
      const value = computed[column] ?? b.field(column);
      return [name, size, isHex ? hexText(value, size) : groupDigits(value)];
    }),
  ];
}

const hexText = (value, bytes) =>
  `0x${BigInt.asUintN(8 * bytes, value)
    .toString(16)
    .padStart(2 * bytes, '0')}`;
