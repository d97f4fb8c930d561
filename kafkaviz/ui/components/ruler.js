// The three files of a segment, linked: a slot of .timeindex, the slot of .index it was written with, the batch both point at.
// Rows and slots count in the whole segment; m.batches, m.entries and m.times hold those of the slice that was sent.
const LEFT = 94, HEIGHT = 340, TIME = { y: 26, h: 34 }, INDEX = { y: 108, h: 34 }, LOG = { y: 206, h: 54 };
const LEAST_WINDOW = 240, TAIL_ROOM = .15, CENTRE = 0.475, SLICE_WINDOW_ROWS = 1000;
const EXACT = 0, COARSE = 1, PAST = 2, INSIDE = 3, BEYOND = 4;

export default function ({ parentElement: root, data: sent, setStateValue }) {
  const data = opened(sent);
  const m = root.host.__ruler ??= { key: null };
  const $ = name => root.querySelector('.' + name);
  m.$ = $;
  m.send = setStateValue;
  take(m, data);
  $('ft').textContent = data.title;
  $('fs').textContent = data.hint;
  listen(m, $);
  m.sizes?.disconnect();
  m.width = root.host.clientWidth;
  m.sizes = new ResizeObserver(() => { if (root.host.clientWidth !== m.width) { m.width = root.host.clientWidth; m.cover = null; show(m); } });
  m.sizes.observe(root.host);
  const key = e => onKey(m, e);
  document.addEventListener('keydown', key);
  show(m);
  return () => { document.removeEventListener('keydown', key); m.sizes.disconnect(); };
}

// ---- what was sent

function take(m, data) {
  const other = m.key !== data.key;
  if (other) Object.assign(m, { key: data.key, window: null, pin: null, hover: null, address: undefined, waiting: null, wanted: null });
  m.data = data;
  m.base = BigInt(data.base);
  read(m);
  const shown = address();
  if (shown !== m.address) Object.assign(m, { waiting: shown, address: shown });
  if (m.waiting !== null && m.waiting === data.asked.offset) answer(m, other);
  else if (m.waiting !== null) ask(m, { offset: m.waiting });
  if (m.wanted !== null && m.batch(m.wanted)) { const row = m.wanted; m.wanted = null; pick(m, { batch: m.batch(row) }); }
  m.pin = renewed(m, m.pin) ?? told(m);
  m.window ??= centred(m, m.pin);
  if (!covered(m, m.window)) m.window = within(m, m.window);
  m.asking = false;
  m.cover = null;
}

// Eight bytes with the length of the JSON, the JSON, then the tables: see figures/segment_ruler.py, message.
function opened(sent) {
  const length = num(new DataView(sent.buffer, sent.byteOffset, 8).getBigUint64(0, true)), body = sent.subarray(8 + length);
  const data = JSON.parse(new TextDecoder().decode(sent.subarray(8, 8 + length)));
  data.section = name => body.slice(...data.sections[name]);
  data.overview = data.section('overview');
  return data;
}

function read(m) {
  const { slice: s, columns } = m.data, of = name => table(m.data.section(name), columns[name]);
  const rows = of('batch'), slots = of('entry'), times = of('time');
  const at = rel => BigInt.asIntN(64, m.base + rel);
  m.from = s.from_row; m.to = s.to_row; m.rows = s.rows; m.whole = s.to_row - s.from_row === s.rows;
  m.batches = rows(i => ({ i: s.from_row + i, pos: num(rows.position[i]), size: num(rows.size[i]), first: at(rows.first[i]), last: at(rows.last[i]),
    ts: rows.newest[i], n: num(rows.records[i]), slot: num(rows.slot[i]), via: num(rows.via[i]) }));
  m.entries = slots(i => ({ slot: s.from_slot + i, key: at(slots.key[i]), pos: num(slots.position[i]), batch: num(slots.batch[i]), home: num(slots.home[i]),
    homePos: num(slots.home_position[i]), time: num(slots.time[i]), aim: num(slots.aim[i]) }));
  m.times = times(i => ({ slot: s.from_time + i, ts: times.timestamp[i], offset: at(times.offset[i]), entry: num(times.slot[i]), batch: num(times.batch[i]),
    pos: num(times.batch_position[i]), true: num(times.true[i]) === 1 }));
  m.batch = row => m.batches[row - s.from_row] ?? null;
  m.entry = slot => m.entries[slot - s.from_slot] ?? null;
  m.time = slot => slot < 0 ? null : m.times[slot - s.from_time] ?? null;
  m.alone = new Map(m.times.filter(t => t.entry < 0 && t.batch >= 0).map(t => [t.batch, t]));
  m.bytesFrom = m.from ? m.batches[0].pos : 0;
  m.end = m.data.end;
  m.bytesTo = m.to < m.rows ? m.batches.at(-1).pos + m.batches.at(-1).size : Infinity;
}

// Columns of int64 one after the other, by name; called with a function it makes one object a row.
function table(bytes, names) {
  const all = new BigInt64Array(bytes.buffer), n = all.length / names.length;
  const rows = make => Array.from({ length: n }, (_, i) => make(i));
  names.forEach((name, i) => { rows[name] = all.subarray(i * n, (i + 1) * n); });
  return rows;
}

const num = Number;
const address = () => new URLSearchParams(location.search).get('pin') ?? '';

function answer(m, other) {
  const { row, why } = m.data.asked, found = row === null ? null : m.batch(row);
  m.$('of').value = m.waiting;
  complain(m, why);
  m.waiting = null;
  if (!found) return;
  m.window = null;
  if (other) m.pin = told(m); else pick(m, { batch: found }, m.data.asked.offset);
}

// What Python would have looked at first: a batch, or a slot that is wrong.
const told = m => ({ batch: m.batch(m.data.asked.row ?? m.from) ?? m.batches[0], ...(m.data.asked.slot >= 0 && { entry: m.entry(m.data.asked.slot) }), ...(m.data.asked.time >= 0 && { time: m.time(m.data.asked.time) }) });

// The same choice in the objects of a new slice; what lies outside it stays as it was.
const renewed = (m, sel) => sel && { batch: sel.batch && (m.batch(sel.batch.i) ?? sel.batch), entry: sel.entry && (m.entry(sel.entry.slot) ?? sel.entry), time: sel.time && (m.time(sel.time.slot) ?? sel.time) };

// ---- choosing

// A choice is a batch, and the slot it was chosen by if that is not the batch's own; the chain is all that lights up with it.
function chain(m, sel) {
  const batch = sel.batch, entry = sel.entry ?? (sel.time ? m.entry(sel.time.entry) : batch && (m.entry(batch.slot) ?? m.entry(batch.via)));
  return { batch, entry, time: sel.time ?? (entry && m.time(entry.time)) ?? (batch && m.alone.get(batch.i)) ?? null, direct: !!batch && !!entry && batch.slot === entry.slot };
}

function pick(m, sel, offset) {
  m.pin = sel;
  m.hover = null;
  const text = offset ?? offsetOf(sel.batch);
  keepInView(m);
  if (sel.batch) {
    remember(m, text);
    m.send('pin', { key: m.key, row: sel.batch.i, slot: sel.entry?.slot ?? -1, time: sel.time?.slot ?? -1 });
  }
}

const offsetOf = batch => batch ? String(batch.first >= 0n ? batch.first : batch.last) : '';

function remember(m, offset) {
  const url = new URL(location), keep = { ...m.data.address, pin: offset };
  for (const name in keep) url.searchParams.set(name, keep[name]);
  history.replaceState(history.state, '', url);
  m.address = offset;
  m.$('of').value = offset;
  complain(m, '');
}

function complain(m, why) {
  m.$('why').textContent = why;
  m.$('of').setAttribute('aria-invalid', why ? 'true' : 'false');
}

function step(m, row) {
  const to = Math.max(0, Math.min(m.rows - 1, row)), batch = m.batch(to);
  if (batch) { pick(m, { batch }); show(m); } else { m.wanted = to; ask(m, { row: to }); }
}

function goTo(m, text) {
  const digits = text.replace(/[\s\u202f]/g, '');
  if (!digits) return;
  const found = /^\d+$/.test(digits) ? holding(m, BigInt(digits)) : null;
  if (found) { m.window = null; pick(m, { batch: found }, digits); m.window ??= centred(m, m.pin); show(m); } else { m.waiting = digits; ask(m, { offset: digits }); }
}

// The batch of the slice that holds an offset, if the slice surely has it.
function holding(m, offset) {
  const found = m.batches.find(b => b.last >= offset), first = m.batches[0];
  return found && (found.i > first.i || (first.first >= 0n && first.first <= offset)) ? found : null;
}

function ask(m, what) {
  m.asking = true;
  m.send('slice', { key: m.key, ...what });
}

// ---- the window

// How far the axis goes for a window of this span: behind the last batch there is room for what was never written, or is torn.
const open = ({ slots, written, cut_bytes }) => slots > written || cut_bytes > 0;
const trails = m => m.data.tail || open(m.data.lanes.index);
const limit = (m, span) => Math.max(m.data.size, m.end + (trails(m) ? span * TAIL_ROOM : 0));
const widest = m => m.whole ? Math.max(limit(m, 0), m.end + (limit(m, m.end) - m.end) / (1 - TAIL_ROOM)) : sliceSpan(m);
const sliceSpan = m => m.batches[Math.min(SLICE_WINDOW_ROWS, m.batches.length) - 1].pos - m.batches[0].pos;

function within(m, [a, b]) {
  const span = Math.max(Math.min(LEAST_WINDOW, widest(m)), Math.min(b - a, widest(m))), middle = (a + b) / 2;
  const low = m.asking ? 0 : m.bytesFrom, high = m.asking ? limit(m, span) : Math.min(m.bytesTo, limit(m, span));
  const from = Math.max(low, Math.min(high - span, middle - span / 2));
  return [from, from + span];
}

function centred(m, { batch, entry }) {
  let span = Math.min(widest(m), Math.max(m.data.span, batch.size * 1.5)), from = batch.pos - CENTRE * span;
  const near = entry && entry.aim >= PAST && Math.abs(entry.pos - entry.homePos) < widest(m) / 2 && entry.pos < m.end;
  if (near) { span = Math.max(span, Math.abs(entry.pos - entry.homePos) * 1.8); from = (entry.pos + entry.homePos - span) / 2; }
  if (trails(m) && batch.pos > m.end - span * .72) { span = Math.min(widest(m), span * 1.15); from = Infinity; }
  from = Math.max(0, Math.min(limit(m, span) - span, from));
  return [from, from + span];
}

const covered = (m, [a, b]) => a >= m.bytesFrom && b <= m.bytesTo;

function keepInView(m) {
  const b = m.pin.batch;
  if (!b || !m.window) return;
  const [from, to] = m.window, span = to - from;
  if (b.pos >= from && b.pos + b.size <= to) return;
  m.window = b.size > span ? centred(m, m.pin) : slide(m, b.pos - span / 2);
}

function slide(m, from) {
  const span = m.window[1] - m.window[0], start = Math.max(0, Math.min(limit(m, span) - span, from));
  return [start, start + span];
}

function zoom(m, factor, at = (m.window[0] + m.window[1]) / 2) {
  const [a, b] = m.window, span = Math.max(Math.min(LEAST_WINDOW, widest(m)), Math.min(widest(m), (b - a) * factor));
  const from = at - (at - a) * span / (b - a);
  m.window = [from, from + span];
  m.window = slide(m, from);
  moved(m);
}

// The window came to rest: if it left the slice, the server is asked for the one around it, once.
function moved(m) {
  show(m);
  clearTimeout(m.rest);
  if (!covered(m, m.window)) m.rest = setTimeout(() => ask(m, { position: Math.round((m.window[0] + m.window[1]) / 2) }), 120);
}

// ---- what the reader does

function listen(m, $) {
  $('go').onsubmit = e => { e.preventDefault(); goTo(m, $('of').value); };
  $('of').onfocus = e => e.target.select();
  if ($('dt').dataset.ready) return;
  $('dt').dataset.ready = '1';
  $('dt').addEventListener('pointermove', e => hover(m, hit(m, e)));
  $('dt').addEventListener('pointerleave', () => hover(m, null));
  $('dt').addEventListener('click', e => { const found = hit(m, e); if (found) { pick(m, found); show(m); } });
  $('dt').addEventListener('wheel', e => {
    if (e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    const span = m.window[1] - m.window[0], x = e.clientX - $('dt').getBoundingClientRect().left;
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) { m.window = slide(m, m.window[0] + e.deltaX * span / (m.layout.w - LEFT)); moved(m); }
    else if (e.deltaY) zoom(m, e.deltaY > 0 ? 1.15 : 1 / 1.15, m.window[0] + Math.max(0, x - LEFT) * span / (m.layout.w - LEFT));
  }, { passive: false });
  $('ov').addEventListener('pointerdown', e => drag(m, e));
}

function drag(m, e) {
  if (e.button) return;
  const box = m.$('ov').getBoundingClientRect(), perPx = m.scale / (box.width - LEFT), [a, b] = m.window, at = (e.clientX - box.left - LEFT) * perPx;
  const start = at < a || at > b ? at - (b - a) / 2 : a;
  const move = v => { m.window = slide(m, start + (v.clientX - e.clientX) * perPx); show(m); };
  const drop = () => { removeEventListener('pointermove', move); m.held = false; moved(m); };
  m.held = true;
  move(e);
  addEventListener('pointermove', move);
  addEventListener('pointerup', drop, { once: true });
  addEventListener('pointercancel', drop, { once: true });
  e.preventDefault();
}

function onKey(m, e) {
  const path = e.composedPath(), field = path.some(n => n instanceof HTMLElement && (/^(INPUT|SELECT|TEXTAREA)$/.test(n.tagName) || n.isContentEditable));
  const here = path.includes(m.$('dt')) || e.target === document.body;
  if (field || !here || e.ctrlKey || e.metaKey || e.altKey || document.querySelector('[role="dialog"]')) return;
  const row = m.pin.batch?.i ?? m.from;
  const act = { ArrowRight: () => step(m, row + 1), ArrowLeft: () => step(m, row - 1), Home: () => step(m, 0), End: () => step(m, m.rows - 1),
    '+': () => zoom(m, 0.8), '=': () => zoom(m, 0.8), '-': () => zoom(m, 1.25) }[e.key];
  if (!act) return;
  e.preventDefault();
  act();
}

function hover(m, found) {
  m.$('dt').style.cursor = found ? 'pointer' : '';
  if (same(found, m.hover)) return;
  m.hover = found;
  show(m, false);
}
const same = (a, b) => a === b || (!!a && !!b && a.batch === b.batch && a.entry === b.entry && a.time === b.time);

// What lies under the pointer, by the geometry of the last drawing.
function hit(m, e) {
  const box = m.$('dt').getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top, on = lane => y >= lane.y && y < lane.y + lane.h;
  if (x < LEFT || !m.layout) return null;
  if (on(LOG)) return ofBatch(batchAt(m, m.window[0] + (x - LEFT) * (m.window[1] - m.window[0]) / (m.layout.w - LEFT)));
  const { stations, room, cw } = m.layout, i = Math.floor((x - LEFT) / room), station = stations[i];
  if (!station || station.after || Math.abs(x - LEFT - (i + .5) * room) > Math.max(cw, room - 1) / 2) return null;
  if (on(INDEX) && station.entry) return ofEntry(m, station.entry);
  if (on(TIME) && station.time) return station.entry && station.time.true ? ofEntry(m, station.entry) : { batch: m.batch(station.time.batch), time: station.time };
  return null;
}
const ofBatch = batch => batch && { batch };

function ofEntry(m, entry) {
  const batch = m.batch(entry.batch);
  return batch && batch.slot === entry.slot ? { batch } : { batch: batch ?? m.batch(entry.home), entry };
}

function batchAt(m, position) {
  let lo = 0, hi = m.batches.length - 1;
  while (lo < hi) { const mid = (lo + hi + 1) >> 1; if (m.batches[mid].pos <= position) lo = mid; else hi = mid - 1; }
  const b = m.batches[lo];
  return b && b.pos <= position && position < b.pos + b.size ? b : null;
}

// ---- drawing

function show(m, whole = true) {
  if (whole) overview(m);
  const stale = !covered(m, m.window);
  m.$('dt').classList.toggle('stale', stale);
  if (!stale || !m.layout) detail(m);
  say(m);
}

function patterns() {
  const p = (id, size, ...kids) => S('pattern', { id, width: size, height: size, patternUnits: 'userSpaceOnUse' }, ...kids);
  return S('defs', {},
    p('unwritten', 5, S('rect', { width: 5, height: 5, fill: V('unwritten-soft') }), S('circle', { cx: 1.2, cy: 1.2, r: .8, fill: V('unwritten') })),
    p('torn', 6, S('rect', { width: 6, height: 6, fill: V('torn-soft') }), S('path', { d: 'M0 0l6 6M6 0L0 6', stroke: V('torn'), 'stroke-width': .9, opacity: .7 })));
}

function overview(m) {
  const el = m.$('ov'), w = widthOf(el), right = m.data.tail ? w - 12 : w, x = scale(0, Math.max(1, m.data.size), LEFT, right);
  m.scale = m.data.size * (w - LEFT) / (right - LEFT);
  if (m.cover !== w) { m.cover = w; el.replaceChildren(wholeSegment(m, w, x)); }
  const [a, b] = m.window, box = el.querySelector('.win'), from = Math.min(x(a), w - 8), to = Math.min(w, Math.max(x(b), from + 8));
  put(box, { x: from, width: to - from }, []);
  box.classList.toggle('held', !!m.held);
}

function wholeSegment(m, w, x) {
  const g = S('svg', { height: 50, viewBox: `0 0 ${w} 50`, role: 'img', 'aria-label': 'The whole segment; the window shown below' }, patterns());
  g.append(S('text', { x: 0, y: 15, class: 'axt' }, 'whole'), S('text', { x: 0, y: 30, class: 'axt' }, 'segment'));
  if (m.data.overview.length) columns(m, g, x); else {
    m.batches.forEach((b, i) => g.append(S('rect', { x: x(b.pos), y: 16, width: Math.max(.6, x(b.pos + b.size) - x(b.pos) - .5), height: 16,
      ...(m.data.shade.by === 'Plain' ? { fill: V(i % 2 ? 'log-soft' : 'log'), opacity: i % 2 ? 1 : .55 } : { fill: shade(m, b) }) })));
    for (const e of m.entries) if (e.pos >= 0 && e.pos < m.data.size) g.append(S('rect', { x: x(e.pos) - .8, y: 5, width: 1.8, height: 9, fill: V(e.aim >= PAST ? 'torn' : 'offset') }));
  }
  if (m.data.tail) { const from = Math.min(x(m.end), w - 11); g.append(S('rect', { x: from, y: 16, width: w - from, height: 16, fill: 'url(#torn)', stroke: V('torn') })); }
  const last = m.end || m.data.size, ticks = [0, 1, 2, 3].map(k => Math.round(last * k / 4000) * 1000).filter((p, k, all) => p < last && p !== all[k - 1]);
  for (const p of [...(last > 8000 ? ticks : [0]), last])
    g.append(S('text', { x: x(p), y: 47, 'text-anchor': p === 0 ? 'start' : p === last && x(p) > w - 40 ? 'end' : 'middle', class: 'axt' }, grp(p)));
  g.append(S('rect', { y: 2, height: 33, rx: 4, class: 'win', fill: V('ink'), 'fill-opacity': .07, stroke: V('ink'), 'stroke-width': 1.6 }));
  return g;
}

function columns(m, g, x) {
  const n = m.data.overview.length / 2, each = m.data.size / n, entries = m.data.overview.subarray(0, n), shades = m.data.overview.subarray(n);
  const most = Math.max(1, ...entries), last = Math.min(n, Math.ceil(m.end / each));
  for (let i = 0, j; i < last; i = j) {
    for (j = i + 1; j < last && shades[j] === shades[i]; j++);
    g.append(S('rect', { x: x(i * each), y: 16, width: x(Math.min(j * each, m.end)) - x(i * each), height: 16, fill: tone(shades[i] / 255) }));
  }
  entries.forEach((count, i) => { if (count) g.append(S('rect', { x: x((i + .5) * each) - .8, y: 5, width: 1.8, height: 9, fill: V('offset'), opacity: .45 + .55 * count / most })); });
}

const tone = v => `color-mix(in oklab, ${V('log')} ${Math.round(12 + 70 * Math.max(0, Math.min(1, v)))}%, ${V('raised')})`;
function shade(m, b) {
  const { by, low, high } = m.data.shade;
  return by === 'Plain' ? `color-mix(in oklab, ${V('log')} 34%, ${V('raised')})` : tone(((by === 'Size' ? b.size : num(b.ts)) - low) / Math.max(1, high - low));
}

function detail(m) {
  const el = m.$('dt'), w = widthOf(el), [p0, p1] = m.window, x = scale(p0, p1, LEFT, w), lit = chain(m, m.hover ?? m.pin);
  const g = S('svg', { height: HEIGHT, viewBox: `0 0 ${w} ${HEIGHT}`, role: 'img', 'aria-label': m.data.title }, patterns());
  g.append(S('clipPath', { id: 'cp' }, S('rect', { x: LEFT - 1, y: 0, width: w - LEFT + 1, height: HEIGHT })));
  for (const [name, y, colour, note] of [['.timeindex', TIME.y + 17, 'time', '12 B a slot'], ['.index', INDEX.y + 17, 'offset', '8 B a slot'], ['.log', LOG.y + 27, 'log', 'to scale']])
    g.append(S('text', { x: 0, y: y + 4, class: 'mono', style: `font-size:12.5px;font-weight:600;fill:${V(colour + '-text')}` }, name), S('text', { x: 0, y: y + 18, class: 'axt' }, note));
  const k = S('g', { 'clip-path': 'url(#cp)', class: 'dim' }), stations = stationsIn(m), room = (w - LEFT) / (stations.length || 1);
  m.layout = { w, x, stations, room, cw: Math.min(150, room - 8) };
  lanes(m, k);
  if (m.layout.cw < 10) bands(m, k, lit); else stations.forEach((s, i) => s.after ? after(m, k, i) : slots(m, k, s, i, lit));
  batches(m, k, lit);
  tail(m, k);
  hops(m, k, lit);
  gaps(m, k);
  axis(m, g);
  g.append(k);
  el.replaceChildren(g);
}

// The places in the two upper lanes, of equal width and in the order of the log: an entry and its time, a time alone, and what follows.
function stationsIn(m) {
  const [p0, p1] = m.window, span = p1 - p0, edge = p1 >= m.end ? p1 : p1 - span * .0085, seen = p => p >= p0 - span * .0127 && p <= edge;
  const found = [];
  for (const e of m.entries) {
    const at = e.aim >= PAST ? e.homePos : e.pos;
    if (seen(at) || (e.aim >= PAST && seen(e.pos))) found.push({ at: seen(at) ? at : e.pos, entry: e, time: m.time(e.time) });
  }
  for (const t of m.times) if (t.entry < 0 && seen(Math.min(t.pos, m.end - 1))) found.push({ at: t.pos, time: t });
  found.sort((a, b) => a.at - b.at || (a.entry?.slot ?? Infinity) - (b.entry?.slot ?? Infinity));
  const last = m.to === m.rows ? m.entries.at(-1)?.pos ?? -1 : Infinity, { index, time } = m.data.lanes;
  if ((open(index) && p1 > last) || (open(time) && !open(index) && p1 >= m.end)) found.push({ after: true });
  return found;
}

// A lane without any entry in this window still says so.
function lanes(m, k) {
  const { w, stations } = m.layout;
  for (const [lane, told, has] of [[TIME, m.data.lanes.time, s => s.time], [INDEX, m.data.lanes.index, s => s.entry]]) {
    if (!told.missing && (stations.some(has) || (told.written && stations.length) || (open(told) && stations.some(s => s.after)))) continue;
    k.append(S('rect', { x: LEFT + 1, y: lane.y, width: w - LEFT - 2, height: lane.h, rx: 3, fill: 'none', stroke: V(told.missing ? 'torn' : 'line-2'), 'stroke-dasharray': '3 3' }),
      S('text', { x: (LEFT + w) / 2, y: lane.y + 21, 'text-anchor': 'middle', style: told.missing ? `fill:${V('torn-text')}` : null, class: told.missing ? null : 'axt' }, told.missing || !told.written ? told.words : 'no entry in this window'));
  }
}

// What follows the last entry of a file: slots without one, and what is left of a slot that was cut.
function after(m, k, i) {
  const { room, cw } = m.layout, X = LEFT + (i + .5) * room, { index, time } = m.data.lanes;
  for (const [lane, told] of [[TIME, time], [INDEX, index]]) {
    if (told.cut_bytes) k.append(...cut(X, lane, cw, told));
    else if (told.slots > told.written) k.append(...unwritten(X, lane, cw, told.unwritten), label(X - cw / 2, lane.y - 5, told.slots - told.written === 1 ? `slot ${grp(told.written)}` : `slots ${grp(told.written)} to ${grp(told.slots - 1)}`));
  }
}
const unwritten = (X, lane, cw, words) => [S('rect', { x: X - cw / 2, y: lane.y, width: cw, height: lane.h, rx: 3, fill: 'url(#unwritten)', stroke: V('unwritten'), 'stroke-dasharray': '4 3' }),
  reads(cw, words) ? S('text', { x: X, y: lane.y + 21, 'text-anchor': 'middle', style: 'paint-order:stroke;stroke:var(--kv-unwritten-soft);stroke-width:6px' }, words) : null].filter(Boolean);
const cut = (X, lane, cw, { slots, cut_bytes }) => [S('path', { d: `M${X - cw / 2} ${lane.y}h${cw / 2}l-4 5 5 6 -5 6 5 6 -5 6 4 5h${-cw / 2}z`, fill: 'url(#torn)', stroke: V('torn'), 'stroke-width': 1.4 }), label(X - cw / 2, lane.y - 5, `slot ${grp(slots)}`),
  reads(cw / 2 - 4, `${cut_bytes} B`) ? S('text', { x: X + 8, y: lane.y + 21, style: `fill:${V('torn-text')};font-weight:650` }, `${cut_bytes} B`) : null].filter(Boolean);

const label = (x, y, words) => S('text', { x: x + 2, y, class: 'axt', style: 'font-size:11px' }, words);
const twoLines = (X, y, upper, lower, colour) => [
  S('text', { x: X, y: y + 14, 'text-anchor': 'middle', class: 'mono', style: `font-size:12px;font-weight:600;fill:${V('ink')}` }, upper),
  S('text', { x: X, y: y + 28, 'text-anchor': 'middle', class: 'mono', style: `font-size:11px;fill:${V(colour + '-text')}` }, lower)];
// Grouped digits are narrow: six and a half pixels a character of the code face at 11 px, and some room left and right.
const fits = (cw, ...texts) => Math.max(...texts.map(t => t.length)) * 6.7 + 6 <= cw;
const reads = (cw, words) => words.length * 5.7 + 4 <= cw;

function slots(m, k, { entry: e, time: t }, i, lit) {
  const { x, room, cw, w } = m.layout, X = LEFT + (i + .5) * room, chosen = (e && lit.entry === e) || (!e && lit.time === t), cls = chosen ? ' on' : '', { index, time } = m.data.lanes;
  if (e) {
    const bad = e.aim >= PAST, colour = bad ? 'torn' : 'offset', bx = Math.max(LEFT - 20, Math.min(w + 20, x(e.pos)));
    pointer(k, X, INDEX.y + INDEX.h, bx, chosen, colour, bad ? '5 3' : null);
    if (t) between(k, X, t, e, chosen); else if (lostTime(m, e)) k.append(...unwritten(X, TIME, cw, time.unwritten)); else if (time.written) k.append(...absent(X, TIME, cw, 'no newer record'));
    const texts = [grp(e.key), `→ ${grp(e.pos)}`];
    k.append(S('g', { class: 'it' + cls }, S('rect', { x: X - cw / 2, y: INDEX.y, width: cw, height: INDEX.h, rx: 3, fill: V(colour + '-soft'), stroke: chosen || bad ? V(colour) : 'none', 'stroke-width': chosen ? 2 : 1 }),
      ...(fits(cw, ...texts) ? twoLines(X, INDEX.y, ...texts, colour) : []), named(m, e.slot, X - cw / 2, INDEX.y - 4)));
  } else if (index.written) k.append(...absent(X, INDEX, cw, m.data.closing ? `none: ${m.data.closing}` : 'no entry', m.data.closing));
  if (t) {
    const d = Math.min(7, cw / 4), bad = !t.true, colour = bad ? 'torn' : 'time', texts = [when(t.ts, cw > 100 ? 12 : 8), `→ ${grp(t.offset)}`];
    if (!e) pointer(k, X, TIME.y + TIME.h, Math.max(LEFT - 20, Math.min(w + 20, x(t.pos))), chosen, colour, '3 3', index.missing ? null : INDEX.y + INDEX.h);
    k.append(S('g', { class: 'it' + (lit.time === t ? ' on' : '') },
      S('path', { d: `M${X - cw / 2} ${TIME.y + TIME.h / 2}l${d} ${-TIME.h / 2}h${cw - 2 * d}l${d} ${TIME.h / 2}l${-d} ${TIME.h / 2}h${-(cw - 2 * d)}z`, fill: V(colour + '-soft'), stroke: lit.time === t || bad ? V(colour) : 'none', 'stroke-width': lit.time === t ? 2 : 1 }),
      ...(fits(cw, ...texts) ? twoLines(X, TIME.y, ...texts, colour) : []), named(m, t.slot, X - cw / 2, TIME.y - 5)));
  }
}

const named = (m, slot, x, y) => m.layout.room > 7.5 * (5 + String(slot).length) ? label(x, y, `slot ${grp(slot)}`) : m.layout.room > 7.5 * String(slot).length ? label(x, y, grp(slot)) : null;
const absent = (X, lane, cw, words, shorter = '') => [S('rect', { x: X - cw / 2, y: lane.y, width: cw, height: lane.h, rx: 3, fill: 'none', stroke: V('line-2'), 'stroke-dasharray': '3 3' }),
  S('text', { x: X, y: lane.y + lane.h / 2 + 4, 'text-anchor': 'middle', class: 'axt' }, reads(cw, words) ? words : reads(cw, shorter) ? shorter : '')];
// An offset entry behind the last time entry of a closed segment whose time index ends in zeros.
const lostTime = (m, e) => m.data.lanes.time.unwritten === 'zeros' && m.data.lanes.time.slots > m.data.lanes.time.written && m.to === m.rows && e.pos > (m.times.at(-1)?.pos ?? -1);

// From a slot down to the byte it names; a time entry alone passes the index lane.
function pointer(k, X, y, bx, on, colour, dashes, past = null) {
  const cls = on ? ' on' : colour === 'torn' ? ' bad' : '', start = past ?? y, width = on ? 2 : 1.3;
  if (past !== null) k.append(S('path', { d: `M${X} ${y}V${INDEX.y}`, class: 'lnk' + cls, stroke: V(colour), 'stroke-width': width, 'stroke-dasharray': dashes }));
  k.append(S('path', { d: `M${X} ${start}C${X} ${start + 38} ${bx + .7} ${LOG.y - 44} ${bx + .7} ${LOG.y - 3}`, class: 'lnk' + cls, stroke: V(colour), 'stroke-width': width, 'stroke-dasharray': dashes }),
    S('path', { d: `M${bx - 3.2} ${LOG.y - 8}l4 6 4 -6z`, fill: V(colour), class: 'lnk' + cls, style: `stroke:none;fill:${V(colour)}` }));
}

// From a time entry to its offset entry; dashed where the newest record came before the batch of that entry.
function between(k, X, t, e, on) {
  const earlier = t.true && t.offset !== e.key && t.batch !== e.home, y = (TIME.y + TIME.h + INDEX.y) / 2;
  k.append(S('path', { d: `M${X} ${TIME.y + TIME.h}V${INDEX.y}`, class: 'lnk' + (on ? ' on' : ''), stroke: V(t.true ? 'time' : 'torn'), 'stroke-width': on ? 2 : 1.3, 'stroke-dasharray': earlier || !t.true ? '3 3' : null }));
  if (earlier) k.append(label(X + 5, y + 4, 'newest was earlier'));
  if (!t.true) k.append(S('text', { x: X + 7, y: y + 4, style: `font-size:11px;fill:${V('torn-text')}` }, 'not its time'));
}

// Too many slots for boxes: each lane is one band with a tick a slot, and every so many of them has its link.
function bands(m, k, lit) {
  const { x, w, stations, room } = m.layout, tick = Math.ceil(2.5 / room), link = Math.ceil(9 / room);
  for (const [lane, has, colour] of [[TIME, s => s.time, 'time'], [INDEX, s => s.entry, 'offset']]) {
    const all = stations.map((s, i) => ({ s, i })).filter(({ s }) => has(s));
    if (!all.length) continue;
    const first = has(all[0].s).slot, last = has(all.at(-1).s).slot;
    k.append(S('rect', { x: LEFT + all[0].i * room, y: lane.y, width: (all.at(-1).i - all[0].i + 1) * room, height: lane.h, rx: 3, fill: V(colour + '-soft') }), label(LEFT + all[0].i * room, lane.y - 5, `slots ${grp(first)} to ${grp(last)}`));
    k.append(S('path', { d: all.filter((_, n) => n % tick === 0).map(({ i }) => `M${LEFT + (i + .5) * room} ${lane.y + 4}v${lane.h - 8}`).join(''), stroke: V(colour), 'stroke-width': 1, opacity: .5, fill: 'none' }));
  }
  stations.forEach((s, i) => {
    const X = LEFT + (i + .5) * room, e = s.entry, t = s.time, on = (e && lit.entry === e) || (t && lit.time === t);
    if (e && (on || e.aim >= PAST || i % link === 0)) pointer(k, X, INDEX.y + INDEX.h, Math.max(LEFT - 20, Math.min(w + 20, x(e.pos))), on, e.aim >= PAST ? 'torn' : 'offset', e.aim >= PAST ? '5 3' : null);
    if (t && !e && (on || i % link === 0)) pointer(k, X, TIME.y + TIME.h, Math.max(LEFT - 20, Math.min(w + 20, x(t.pos))), on, t.true ? 'time' : 'torn', '3 3', m.data.lanes.index.missing ? null : INDEX.y + INDEX.h);
    if (!on) return;
    if (t && e) k.append(S('path', { d: `M${X} ${TIME.y + TIME.h}V${INDEX.y}`, class: 'lnk on', stroke: V('time'), 'stroke-width': 2 }));
    for (const [lane, has, colour] of [[TIME, t, 'time'], [INDEX, e, 'offset']]) if (has) k.append(S('rect', { x: X - 4, y: lane.y, width: 8, height: lane.h, rx: 2, fill: V(colour + '-soft'), stroke: V(colour), 'stroke-width': 2 }));
  });
  if (stations.at(-1)?.after) for (const [lane, told] of [[TIME, m.data.lanes.time], [INDEX, m.data.lanes.index]]) if (open(told)) k.append(...(told.cut_bytes ? cut(w - 24, lane, 46, told) : unwritten(w - 24, lane, 46, '')));
}

function batches(m, k, lit) {
  const { x, w } = m.layout, [p0, p1] = m.window, inside = m.batches.filter(b => b.pos + b.size > p0 && b.pos < p1), chosen = lit.batch;
  const mate = lit.entry && !lit.direct ? m.batch(lit.entry.batch) : null, plain = m.data.shade.by === 'Plain';
  if (inside.length > (w - LEFT) / 2) {
    columnsOf(m, k, inside, plain);
    for (const b of new Set([mate, chosen])) if (b) box(m, k, b, b === chosen, true);
  } else for (const b of inside) box(m, k, b, b === chosen, b === chosen || b === mate || (lit.direct && lit.batch === b));
  if (chosen && inside.includes(chosen)) k.append(k.querySelector('.chosen'));
  for (const e of m.entries) if (e.aim === COARSE && e.home >= 0) rest(m, k, e);
}

function box(m, k, b, on, bright) {
  const { x } = m.layout, xa = x(b.pos), wd = Math.max(1, x(b.pos + b.size) - xa - 1.2);
  k.append(S('g', { class: 'it' + (bright ? ' on' : '') + (on ? ' chosen' : '') }, S('rect', { x: xa + .6, y: LOG.y, width: wd, height: LOG.h, rx: Math.min(2, wd / 3), fill: shade(m, b), stroke: on ? V('ink') : 'none', 'stroke-width': 2 }),
    b.slot >= 0 ? S('rect', { x: xa + .6, y: LOG.y, width: wd, height: 4, fill: V('offset') }) : null));
}

// The rest of an append whose only entry points at its first batch.
function rest(m, k, e) {
  const { x, w } = m.layout, first = m.batch(e.batch), last = m.batch(e.home);
  if (!first || !last) return;
  const from = Math.max(LEFT, x(first.pos + first.size)), to = Math.min(w, x(last.pos + last.size) - 1.2);
  if (to > from) k.append(S('rect', { x: from, y: LOG.y, width: to - from, height: 2, fill: V('offset'), opacity: .55 }));
}

// More batches than two pixels each: runs of them as one block, the darkness that of their mean.
function columnsOf(m, k, inside, plain) {
  const { x } = m.layout;
  for (let i = 0, j, odd = 0; i < inside.length; i = j, odd ^= 1) {
    const from = x(inside[i].pos);
    for (j = i + 1; j < inside.length && x(inside[j].pos) < from + 3; j++);
    const run = inside.slice(i, j), last = run.at(-1), { low, high, by } = m.data.shade;
    const mean = run.reduce((sum, b) => sum + (by === 'Size' ? b.size : num(b.ts)), 0) / run.length;
    k.append(S('rect', { class: 'it', x: from, y: LOG.y, width: Math.max(1, x(last.pos + last.size) - from - .4), height: LOG.h, fill: plain ? tone(odd ? .26 : .36) : tone((mean - low) / Math.max(1, high - low)) }));
    if (run.some(b => b.slot >= 0)) k.append(S('rect', { class: 'it', x: from, y: LOG.y, width: Math.max(1, x(last.pos + last.size) - from - .4), height: 4, fill: V('offset') }));
  }
}

function tail(m, k) {
  const { x, w } = m.layout, t = m.data.tail;
  if (!t || m.window[1] <= m.end) return;
  const from = Math.max(LEFT - 20, x(m.end)), width = Math.max(30, x(m.data.size) - from), y = LOG.y;
  const words = [t.size < 1024 ? `${grp(t.size)} B` : bytes(t.size), t.kind === 'zeros' ? 'of zeros' : 'no batch'];
  const at = from + width + 6 + 50 < w ? from + width + 6 : Math.max(LEFT + 4, from) + 8, over = at < from + width ? 'paint-order:stroke;stroke:var(--kv-torn-soft);stroke-width:8px;' : '';
  k.append(S('path', { d: `M${from + 2} ${y}H${from + width}l-5 7 6 8 -6 8 6 8 -6 8 6 8 -3 7H${from + 2}Z`, fill: 'url(#torn)', stroke: V('torn'), 'stroke-width': 1.4 }),
    S('text', { x: at, y: y + 24, style: `${over}fill:${V('torn-text')};font-weight:650` }, words[0]), S('text', { x: at, y: y + 39, style: `${over}fill:${V('torn-text')}` }, words[1]));
}

// The headers a search reads from where its entry points to the chosen batch.
function hops(m, k, { batch, entry, direct, time }) {
  if (!batch || direct || (time && !entry && m.data.lanes.index.missing)) return;
  const start = entry ? entry.batch : 0, y = LOG.y + LOG.h, { x } = m.layout;
  if (start < 0 || start >= batch.i || (entry && entry.aim >= PAST && entry.batch < 0)) return;
  const reads = m.batches.slice(Math.max(0, start - m.from), batch.i + 1 - m.from), points = reads.map(b => x(b.pos) + 2);
  let d = '', before = null;
  for (const p of points) {
    if (before !== null && p - before < 1.5 && p !== points.at(-1)) continue;
    d += before === null ? `M${p} ${y + 2}` : `Q${(before + p) / 2} ${y + 14} ${p} ${y + 2}`;
    before = p;
  }
  k.append(S('path', { d, fill: 'none', stroke: V('scan'), 'stroke-width': 1.7 }));
}

function gaps(m, k) {
  const { x, w } = m.layout, y = LOG.y + LOG.h + 24;
  for (const { entry: e } of m.layout.stations) {
    const next = e && m.entry(e.slot + 1);
    if (!next || next.pos <= e.pos || e.aim >= PAST || next.aim >= PAST) continue;
    const a = x(e.pos), b = x(next.pos);
    if (b - a < 44) continue;
    k.append(S('path', { d: `M${a + 2} ${y - 4}v8M${a + 2} ${y}H${b - 2}M${b - 2} ${y - 4}v8`, stroke: V('line-2'), fill: 'none' }));
    if (Math.min(b, w) - Math.max(a, LEFT) > 60) k.append(S('text', { x: (Math.max(a, LEFT) + Math.min(b, w)) / 2, y: y + 4, 'text-anchor': 'middle', class: 'axt', style: 'paint-order:stroke;stroke:var(--kv-raised);stroke-width:8px' }, `${grp(next.pos - e.pos)} B`));
  }
}

function axis(m, g) {
  const { x, w } = m.layout, [p0, p1] = m.window, y = LOG.y + LOG.h + 44, stepBytes = tickStep((p1 - p0) / 7);
  g.append(S('line', { x1: LEFT, x2: w, y1: y, y2: y, class: 'ax' }));
  for (let p = Math.ceil(p0 / stepBytes) * stepBytes; p <= p1; p += stepBytes) {
    const X = x(p);
    if (X >= LEFT + 16 && X <= w - 16) g.append(S('line', { x1: X, x2: X, y1: y, y2: y + 5, class: 'ax' }), S('text', { x: X, y: y + 18, 'text-anchor': 'middle', class: 'axt' }, grp(p)));
  }
  g.append(S('text', { x: w, y: y + 31, 'text-anchor': 'end', class: 'axt' }, 'byte of the .log'));
}

function tickStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return Math.max(1, [1, 2, 2.5, 4, 5, 10].map(f => f * power).find(s => s >= least && Number.isInteger(s)) ?? 10 * power);
}

// ---- words

const dayMs = 8640000000000000n;
const when = (ts, length = 12) => ts === -1n ? '–' : ts > dayMs || ts < -dayMs ? `${grp(ts)} ms` : new Date(num(ts)).toISOString().slice(-13, -1).slice(0, length);
const plural = (n, word) => `${grp(n)} ${word}${n === 1 ? '' : /(s|sh|ch|x)$/.test(word) ? 'es' : 's'}`;
const named_ = b => b.first >= 0n ? `${grp(b.first)}–${grp(b.last)}` : `up to ${grp(b.last)}`;

function say(m) {
  const sel = m.hover ?? m.pin, l = chain(m, sel), words = [];
  if (sel.entry) words.push(...ofSlot(m, sel.entry));
  else if (sel.time) words.push(...ofTime(m, sel.time));
  else if (l.batch) words.push(H('b', {}, `Batch ${named_(l.batch)}`), `, byte ${grp(l.batch.pos)}, ${grp(l.batch.size)} B. `, ...how(m, l));
  m.$('say').replaceChildren(H('span', {}, ...words));
}

// How a search for this batch finds it.
function how(m, { batch: b, entry: e, direct }) {
  if (direct) return own(m, b, e);
  if (m.data.lanes.index.missing) return [`There is no index: a search starts at byte 0${headers(b.i)}.`];
  if (!e) return b.via >= 0 ? [`A search lands on slot ${grp(b.via)}, before this window, and steps on from there.`] : [`Before the first entry: a search starts at byte 0${headers(b.i)}.`];
  const at = `No entry of its own. A search lands on slot ${grp(e.slot)}`;
  if (e.batch < 0) return [at, H('span', { class: 'bad' }, e.aim === BEYOND ? ', which points beyond the last batch.' : ', which points into the middle of a batch: what is read there is no header.')];
  if (e.batch > b.i) return [at, H('span', { class: 'bad' }, ', which points past this batch: it is never found.')];
  return [`${at}${headers(b.i - e.batch)}.`];
}
const headers = n => n > 0 ? ` and steps over ${plural(n, 'header')}` : '';

function own(m, b, e) {
  const others = b.n === 1 ? '' : e.slot > 0 ? ` Its other offsets are found from slot ${grp(e.slot - 1)}.` : ' Its other offsets are found from byte 0.';
  if (e.aim === COARSE) return [`Slot ${grp(e.slot)} points here; its key, ${grp(e.key)}, is ${plural(e.home - b.i, 'batch')} on: one entry for a whole append.`];
  if (e.key === b.last) return [`Slot ${grp(e.slot)} points here; its key is the batch’s `, H('i', {}, 'last'), ` offset, ${grp(e.key)}.${others}`];
  return [`Slot ${grp(e.slot)} points here; its key, ${grp(e.key)}, is one of this batch’s offsets.`];
}

function ofSlot(m, e) {
  const home = m.batch(e.home), words = [H('b', {}, `Slot ${grp(e.slot)}`), ` of the index: offset ${grp(e.key)}, byte ${grp(e.pos)}. `];
  const target = m.batch(e.batch), range = home ? ` ${named_(home)}` : '';
  const fault = { [PAST]: `That is behind the batch${range} that holds the offset${target ? `: a search from here begins at ${grp(target.first)}` : ''}.`, [INSIDE]: 'No batch starts there: what is read is no header.',
    [BEYOND]: e.home < 0 ? 'No batch holds this offset.' : 'The last batch ends before it.' }[e.aim] ?? (e.aim > BEYOND ? 'Its key is not above the one before, so a binary search may go astray.' : '');
  return [...words, H('span', { class: e.aim >= PAST ? 'bad' : '' }, fault)];
}

function ofTime(m, t) {
  const words = [H('b', {}, `Slot ${grp(t.slot)}`), ` of the time index: ${day(t.ts)}${when(t.ts)}, offset ${grp(t.offset)}. `], b = m.batch(t.batch);
  if (!t.true) return [...words, H('span', { class: 'bad' }, t.batch < 0 ? 'No batch holds this offset.' : `The newest record of batch ${b ? `${named_(b)} is of ${day(b.ts)}${when(b.ts)}` : 'is of another time'}.`)];
  if (m.data.lanes.index.missing) return [...words, 'The offset is looked for from byte 0.'];
  return [...words, m.data.closing ? `Written ${m.data.closing}, without an offset entry: the newest record so far.` : 'No offset entry goes with it.'];
}
const day = ts => ts === -1n || ts > dayMs || ts < -dayMs ? '' : new Date(num(ts)).toISOString().slice(0, -14) + ' ';
