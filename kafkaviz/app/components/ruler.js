// The three files of a segment, linked: a slot of .timeindex, the slot of .index it was written with, the batch both point at.
// Rows and slots count in the whole segment; m.batches, m.entries and m.times hold those of the slice that was sent.
const LEFT = 94, HEIGHT = 340, TIME = { y: 26, h: 34 }, INDEX = { y: 108, h: 34 }, LOG = { y: 206, h: 54 };
const LEAST_WINDOW = 240, TAIL_ROOM = .15, CENTRE = .475, SLICE_WINDOW_ROWS = 1000, REST_MS = 120, TICK_PX = 90;
const COARSE = 1, PAST = 2, INSIDE = 3, BEYOND = 4; // analysis/links.py, Aim

export default function ({ parentElement: root, data, setStateValue }) {
  const m = root.host.__ruler ??= { key: null };
  m.release?.(); // Streamlit calls anew on each change, without cleaning up before
  m.$ = name => root.querySelector('.' + name);
  m.send = setStateValue;
  take(m, opened(data));
  m.$('ft').textContent = m.data.title;
  m.$('fs').textContent = m.data.hint;
  m.$('oflab').textContent = m.data.words.offset;
  m.$('dt').setAttribute('aria-label', m.data.words.keys);
  m.release = listen(m, root.host);
  show(m);
  return m.release;
}

// ---- what was sent

// Eight bytes with the length of the JSON, the JSON, then the tables: see figures/segment_ruler.py, message.
function opened(sent) {
  const length = num(new DataView(sent.buffer, sent.byteOffset, 8).getBigUint64(0, true)), body = sent.subarray(8 + length);
  const data = JSON.parse(new TextDecoder().decode(sent.subarray(8, 8 + length)));
  data.section = name => body.slice(...data.sections[name]);
  data.overview = data.section('overview');
  return data;
}

function take(m, data) {
  const other = m.key !== data.key;
  if (other) Object.assign(m, { key: data.key, window: null, framed: false, pin: null, hover: null, address: undefined, waiting: null, wanted: null });
  Object.assign(m, { data, base: BigInt(data.base), asking: false, cover: null });
  read(m);
  const shown = address();
  if (shown !== m.address) Object.assign(m, { waiting: shown, address: shown });
  if (m.waiting !== null && m.waiting === data.asked.offset) answer(m, other);
  else if (m.waiting !== null) ask(m, { offset: m.waiting });
  const wanted = m.wanted === null ? null : m.batch(m.wanted);
  if (wanted) { m.wanted = null; pick(m, { batch: wanted }); }
  m.pin = renewed(m, m.pin) ?? told(m);
  m.window ??= framed(m) ?? centred(m, m.pin);
  if (m.framed && !covered(m, m.window)) ahead(m); else if (!covered(m, m.window)) m.window = within(m, m.window);
  m.framed = false;
}

function read(m) {
  const { slice: s, columns } = m.data, of = name => table(m.data.section(name), columns[name]);
  const rows = of('batch'), slots = of('entry'), times = of('time');
  const at = rel => BigInt.asIntN(64, m.base + rel); // offsets stay BigInt: a double is exact to 2^53 only
  m.batches = rows(i => ({
    i: s.from_row + i, pos: num(rows.position[i]), size: num(rows.size[i]), first: at(rows.first[i]), last: at(rows.last[i]),
    ts: rows.newest[i], n: num(rows.records[i]), slot: num(rows.slot[i]), via: num(rows.via[i]),
  }));
  m.entries = slots(i => ({
    slot: s.from_slot + i, key: at(slots.key[i]), pos: num(slots.position[i]), batch: num(slots.batch[i]), home: num(slots.home[i]),
    homePos: num(slots.home_position[i]), time: num(slots.time[i]), aim: num(slots.aim[i]),
  }));
  m.times = times(i => ({
    slot: s.from_time + i, ts: times.timestamp[i], offset: at(times.offset[i]), entry: num(times.slot[i]), batch: num(times.batch[i]),
    pos: num(times.batch_position[i]), true: num(times.true[i]) === 1,
  }));
  m.batch = row => m.batches[row - s.from_row] ?? null;
  m.entry = slot => m.entries[slot - s.from_slot] ?? null;
  m.time = slot => slot < 0 ? null : m.times[slot - s.from_time] ?? null;
  m.alone = new Map(m.times.filter(t => t.entry < 0 && t.batch >= 0).map(t => [t.batch, t]));
  Object.assign(m, { from: s.from_row, rows: s.rows, whole: s.to_row - s.from_row === s.rows, last: s.to_row === s.rows, end: m.data.end });
  m.bytesFrom = m.from ? m.batches[0].pos : 0;
  m.bytesTo = m.last ? Infinity : m.batches.at(-1).pos + m.batches.at(-1).size;
}

// Columns of int64 one after the other, by name; called with a function it makes one object a row.
function table(bytes, names) {
  const all = new BigInt64Array(bytes.buffer), n = all.length / names.length;
  const rows = make => Array.from({ length: n }, (_, i) => make(i));
  names.forEach((name, i) => { rows[name] = all.subarray(i * n, (i + 1) * n); });
  return rows;
}

const num = Number;
const inAddress = name => new URLSearchParams(location.search).get(name) ?? '';
const address = () => inAddress('pin');

// The offset that the address or the reader asked for was looked up.
function answer(m, other) {
  const { row, why, offset } = m.data.asked, found = row === null ? null : m.batch(row);
  m.$('of').value = m.waiting;
  complain(m, why);
  m.waiting = null;
  if (!found) return;
  m.window = framed(m);
  if (other) m.pin = told(m); else pick(m, { batch: found }, offset);
}

// What Python would look at first: a batch, or a slot that is wrong.
function told(m) {
  const { row, slot, time } = m.data.asked, sel = { batch: m.batch(row ?? m.from) ?? m.batches[0] };
  if (slot >= 0) sel.entry = m.entry(slot);
  if (time >= 0) sel.time = m.time(time);
  return sel;
}

// The same choice in the objects of a new slice; what lies outside it stays as it was.
function renewed(m, sel) {
  if (!sel) return null;
  const { batch, entry, time } = sel;
  return { batch: batch && (m.batch(batch.i) ?? batch), entry: entry && (m.entry(entry.slot) ?? entry), time: time && (m.time(time.slot) ?? time) };
}

// ---- choosing

// A choice is a batch, and the slot it was chosen by if that is not the batch's own; the chain is all that lights up with it.
function chain(m, sel) {
  const batch = sel.batch, own = batch && (m.entry(batch.slot) ?? m.entry(batch.via));
  const entry = sel.entry ?? (sel.time ? m.entry(sel.time.entry) : own);
  const time = sel.time ?? (entry && m.time(entry.time)) ?? (batch && m.alone.get(batch.i)) ?? null;
  return { batch, entry, time, direct: !!batch && !!entry && batch.slot === entry.slot };
}

function pick(m, sel, offset = offsetOf(sel.batch)) {
  m.pin = sel;
  m.hover = null;
  keepInView(m);
  if (!sel.batch) return;
  remember(m, offset);
  m.send('pin', { key: m.key, row: sel.batch.i, slot: sel.entry?.slot ?? -1, time: sel.time?.slot ?? -1 });
}

const offsetOf = batch => batch ? String(batch.first >= 0n ? batch.first : batch.last) : '';

function remember(m, offset) {
  write(m, { pin: offset, byte: null }); // a byte that was looked at belongs to the pin before
  m.address = offset;
  m.$('of').value = offset;
  complain(m, '');
}

// Into the address goes what its reader sees; of the window only what the pin alone would not bring back.
function write(m, more = {}) {
  const url = new URL(location), shown = m.window?.map(Math.round).join('-');
  const own = m.window && shown !== centred(m, m.pin).map(Math.round).join('-'), keep = { ...m.data.address, ...more, ...(own ? { window: shown } : {}) };
  for (const name in keep) if (keep[name] === null) url.searchParams.delete(name); else url.searchParams.set(name, keep[name]);
  if (!own) url.searchParams.delete('window');
  history.replaceState(history.state, '', url);
}

// The window that the address names, as far as the axis goes.
function framed(m) {
  const [, from, to] = /^(\d{1,15})-(\d{1,15})$/.exec(inAddress('window')) ?? [], span = to - from;
  if (!(span > 0) || from > m.data.size) return null;
  m.framed = true;
  const wide = Math.max(Math.min(LEAST_WINDOW, widest(m)), Math.min(widest(m), span)), start = Math.max(0, Math.min(limit(m, wide) - wide, num(from)));
  return [start, start + wide];
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
  if (!found) { m.waiting = digits; ask(m, { offset: digits }); return; }
  m.window = null;
  pick(m, { batch: found }, digits);
  m.window = centred(m, m.pin);
  show(m);
}

// An offset that was chosen elsewhere on the page; the window moves only as far as it must.
function pinned(m, offset) {
  const found = holding(m, BigInt(offset));
  if (!found) { goTo(m, offset); return; }
  pick(m, { batch: found }, offset);
  show(m);
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
const open = lane => lane.slots > lane.written || lane.cut_bytes > 0;
const trails = m => m.data.tail || open(m.data.lanes.index);
const limit = (m, span) => Math.max(m.data.size, m.end + (trails(m) ? span * TAIL_ROOM : 0));

function widest(m) {
  if (m.whole) return Math.max(m.data.size, trails(m) ? m.end / (1 - TAIL_ROOM) : m.end);
  return m.batches[Math.min(SLICE_WINDOW_ROWS, m.batches.length) - 1].pos - m.batches[0].pos;
}

function within(m, [a, b]) {
  const span = Math.max(Math.min(LEAST_WINDOW, widest(m)), Math.min(b - a, widest(m))), centre = (a + b) / 2;
  const from = Math.max(m.bytesFrom, Math.min(Math.min(m.bytesTo, limit(m, span)) - span, centre - span / 2));
  return [from, from + span];
}

function centred(m, { batch, entry }) {
  let span = Math.min(widest(m), Math.max(m.data.span, batch.size * 1.5)), from = batch.pos - CENTRE * span;
  const apart = entry && entry.aim >= PAST && entry.pos < m.end ? Math.abs(entry.pos - entry.homePos) : 0;
  if (apart && apart < widest(m) / 2) { span = Math.max(span, apart * 1.8); from = (entry.pos + entry.homePos - span) / 2; }
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

function zoom(m, factor, at = middle(m)) {
  const [a, b] = m.window, span = Math.max(Math.min(LEAST_WINDOW, widest(m)), Math.min(widest(m), (b - a) * factor));
  const from = at - (at - a) * span / (b - a);
  m.window = [from, from + span];
  m.window = slide(m, from);
  moved(m);
}

// Where keys zoom: at the pin, or at the middle of a window that does not show it.
function middle(m) {
  const [a, b] = m.window, pin = m.pin.batch, at = pin ? (Math.max(a, pin.pos) + Math.min(b, pin.pos + pin.size)) / 2 : -1;
  return at > a && at < b ? at : (a + b) / 2;
}

// The window came to rest: the address has it, and if it left the slice, the server is asked for the one around it, once.
function moved(m) {
  show(m);
  clearTimeout(m.rest);
  m.rest = setTimeout(() => { write(m); if (!covered(m, m.window)) ahead(m); }, REST_MS);
}

const ahead = m => ask(m, { position: Math.round((m.window[0] + m.window[1]) / 2) });

// ---- what the reader does

// Sets up what the reader can do; gives back what undoes it.
function listen(m, host) {
  const dt = m.$('dt'), resized = () => { if (host.clientWidth !== m.width) { m.width = host.clientWidth; m.cover = null; show(m); } };
  const sizes = new ResizeObserver(resized), key = e => onKey(m, e), turn = e => wheel(m, e), asked = e => pinned(m, e.detail);
  m.$('go').onsubmit = e => { e.preventDefault(); goTo(m, m.$('of').value); };
  m.$('of').onfocus = e => e.target.select();
  m.$('ov').onpointerdown = e => drag(m, e);
  dt.onpointermove = e => point(m, e);
  dt.onpointerleave = () => hover(m, null);
  dt.onclick = e => { const found = hit(m, e); if (found) { pick(m, found); show(m); } };
  m.width = host.clientWidth;
  sizes.observe(host);
  dt.addEventListener('wheel', turn, { passive: false });
  document.addEventListener('keydown', key);
  document.addEventListener('kafkaviz-pin', asked); // an offset chosen elsewhere on the page: in the bytes
  return () => { sizes.disconnect(); dt.removeEventListener('wheel', turn); document.removeEventListener('keydown', key); document.removeEventListener('kafkaviz-pin', asked); };
}

// A browser repeats the last move when the drawing below a resting pointer changes; that is no wish of the reader's.
function point(m, e) {
  const at = `${e.clientX} ${e.clientY}`;
  if (m.pointer === at) return;
  m.pointer = at;
  hover(m, hit(m, e));
}

function wheel(m, e) {
  if (e.ctrlKey || e.metaKey) return;
  e.preventDefault();
  const span = m.window[1] - m.window[0], perPx = span / (m.layout.w - LEFT), x = e.clientX - m.$('dt').getBoundingClientRect().left - LEFT;
  if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) { m.window = slide(m, m.window[0] + e.deltaX * perPx); moved(m); }
  else if (e.deltaY) zoom(m, e.deltaY > 0 ? 1.15 : 1 / 1.15, m.window[0] + Math.max(0, x) * perPx);
}

function drag(m, e) {
  if (e.button) return;
  const box = m.$('ov').getBoundingClientRect(), perPx = m.scale / (box.width - LEFT), [a, b] = m.window;
  const at = (e.clientX - box.left - LEFT) * perPx, start = at < a || at > b ? at - (b - a) / 2 : a;
  const move = v => { m.window = slide(m, start + (v.clientX - e.clientX) * perPx); show(m); };
  const drop = () => {
    for (const [name, act] of [['pointermove', move], ['pointerup', drop], ['pointercancel', drop]]) removeEventListener(name, act);
    m.held = false;
    moved(m);
  };
  for (const [name, act] of [['pointermove', move], ['pointerup', drop], ['pointercancel', drop]]) addEventListener(name, act);
  m.held = true;
  move(e);
  e.preventDefault();
}

function onKey(m, e) {
  const path = e.composedPath(), isField = n => n instanceof HTMLElement && (/^(INPUT|SELECT|TEXTAREA)$/.test(n.tagName) || n.isContentEditable);
  const here = path.includes(m.$('dt')) || e.target === document.body;
  if (!here || path.some(isField) || e.ctrlKey || e.metaKey || e.altKey || document.querySelector('[role="dialog"]')) return;
  const row = m.pin.batch?.i ?? m.from, nearer = () => zoom(m, .8);
  const act = {
    ArrowRight: () => step(m, row + 1), ArrowLeft: () => step(m, row - 1), Home: () => step(m, 0), End: () => step(m, m.rows - 1),
    '+': nearer, '=': nearer, '-': () => zoom(m, 1.25),
  }[e.key];
  if (!act) return;
  e.preventDefault();
  act();
}

function hover(m, found) {
  const was = m.hover;
  m.$('dt').style.cursor = found ? 'pointer' : '';
  if (found === was || (found && was && found.batch === was.batch && found.entry === was.entry && found.time === was.time)) return;
  m.hover = found;
  show(m, false);
}

// What lies under the pointer, by the geometry of the last drawing.
function hit(m, e) {
  const box = m.$('dt').getBoundingClientRect(), x = e.clientX - box.left - LEFT, y = e.clientY - box.top;
  const on = lane => y >= lane.y && y < lane.y + lane.h;
  if (x < 0 || !m.layout) return null;
  if (on(LOG)) return ofBatch(batchAt(m, m.window[0] + x * (m.window[1] - m.window[0]) / (m.layout.w - LEFT)));
  const { stations, room, cw } = m.layout, i = Math.floor(x / room), station = stations[i];
  if (!station || station.after || Math.abs(x - (i + .5) * room) > Math.max(cw, room - 1) / 2) return null;
  const { entry, time } = station;
  if (on(INDEX) && entry) return ofEntry(m, entry);
  if (on(TIME) && time) return entry && time.true ? ofEntry(m, entry) : { batch: m.batch(time.batch), time };
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

// ---- drawing: the whole segment

function show(m, whole = true) {
  if (whole) overview(m);
  const stale = !covered(m, m.window);
  m.$('dt').classList.toggle('stale', stale);
  if (!stale || !m.layout) detail(m);
  say(m);
}

function patterns() {
  const pattern = (id, size, ...kids) => S('pattern', { id, width: size, height: size, patternUnits: 'userSpaceOnUse' }, ...kids);
  const dots = [S('rect', { width: 5, height: 5, fill: V('unwritten-soft') }), S('circle', { cx: 1.2, cy: 1.2, r: .8, fill: V('unwritten') })];
  const cross = S('path', { d: 'M0 0l6 6M6 0L0 6', stroke: V('torn'), 'stroke-width': .9, opacity: .7 });
  return S('defs', {}, pattern('unwritten', 5, ...dots), pattern('torn', 6, S('rect', { width: 6, height: 6, fill: V('torn-soft') }), cross));
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
  const g = S('svg', { height: 50, viewBox: `0 0 ${w} 50`, preserveAspectRatio: 'xMinYMid', role: 'img', 'aria-label': m.data.words.overview }, patterns());
  g.append(S('text', { x: 0, y: 15, class: 'axt' }, m.data.words.whole_upper), S('text', { x: 0, y: 30, class: 'axt' }, m.data.words.whole_lower));
  if (m.data.overview.length) columns(m, g, x); else each(m, g, x);
  const from = Math.min(x(m.end), w - 11);
  if (m.data.tail) g.append(S('rect', { x: from, y: 16, width: w - from, height: 16, fill: 'url(#torn)', stroke: V('torn') }));
  const last = m.end || m.data.size, parts = w - LEFT < 4 * TICK_PX ? 2 : 4;
  const marks = Array.from({ length: parts }, (_, k) => Math.round(last * k / parts / 1000) * 1000);
  for (const p of [...(last > 8000 ? marks : [0]), last]) {
    const anchor = p === 0 ? 'start' : p === last && x(p) > w - 40 ? 'end' : 'middle';
    g.append(S('text', { x: x(p), y: 47, 'text-anchor': anchor, class: 'axt' }, grp(p)));
  }
  g.append(S('rect', { y: 2, height: 33, rx: 4, class: 'win', fill: V('ink'), 'fill-opacity': .07, stroke: V('ink'), 'stroke-width': 1.6 }));
  return g;
}

// Each batch and each entry of a segment that has few.
function each(m, g, x) {
  const plain = m.data.shade.by === 'Plain';
  m.batches.forEach((b, i) => {
    const look = plain ? { fill: V(i % 2 ? 'log-soft' : 'log'), opacity: i % 2 ? 1 : .55 } : { fill: shade(m, b) };
    g.append(S('rect', { x: x(b.pos), y: 16, width: Math.max(.6, x(b.pos + b.size) - x(b.pos) - .5), height: 16, ...look }));
  });
  for (const e of m.entries) {
    const fill = V(e.aim >= PAST ? 'torn' : 'offset');
    if (e.pos >= 0 && e.pos < m.data.size) g.append(S('rect', { x: x(e.pos) - .8, y: 5, width: 1.8, height: 9, fill }));
  }
}

// Columns of equal length, as Python put them together.
function columns(m, g, x) {
  const n = m.data.overview.length / 2, bytesEach = m.data.size / n, last = Math.min(n, Math.ceil(m.end / bytesEach));
  const entries = m.data.overview.subarray(0, n), shades = m.data.overview.subarray(n), most = Math.max(1, ...entries);
  for (let i = 0, j; i < last; i = j) {
    for (j = i + 1; j < last && shades[j] === shades[i]; j++);
    const from = x(i * bytesEach);
    g.append(S('rect', { x: from, y: 16, width: x(Math.min(j * bytesEach, m.end)) - from, height: 16, fill: tone(shades[i] / 255) }));
  }
  entries.forEach((count, i) => {
    const at = x((i + .5) * bytesEach) - .8;
    if (count) g.append(S('rect', { x: at, y: 5, width: 1.8, height: 9, fill: V('offset'), opacity: .45 + .55 * count / most }));
  });
}

const grey = percent => `color-mix(in oklab, ${V('log')} ${percent}%, ${V('raised')})`;
const tone = v => grey(Math.round(12 + 70 * Math.max(0, Math.min(1, v))));
const shadeOf = (m, value) => tone((value - m.data.shade.low) / Math.max(1, m.data.shade.high - m.data.shade.low));
const valueOf = (m, b) => m.data.shade.by === 'Size' ? b.size : num(b.ts);
const shade = (m, b) => m.data.shade.by === 'Plain' ? grey(34) : shadeOf(m, valueOf(m, b));

// ---- drawing: the three lanes

function detail(m) {
  const el = m.$('dt'), w = widthOf(el), lit = chain(m, m.hover ?? m.pin);
  const g = S('svg', { height: HEIGHT, viewBox: `0 0 ${w} ${HEIGHT}`, preserveAspectRatio: 'xMinYMid', role: 'img', 'aria-label': m.data.title }, patterns());
  g.append(S('clipPath', { id: 'cp' }, S('rect', { x: LEFT - 1, y: 0, width: w - LEFT + 1, height: HEIGHT })));
  const k = S('g', { 'clip-path': 'url(#cp)', class: 'dim' }), stations = stationsIn(m), room = (w - LEFT) / (stations.length || 1);
  m.layout = { w, x: scale(...m.window, LEFT, w), stations, room, cw: Math.min(150, room - 8) };
  names(m, g);
  lanes(m, k);
  if (m.layout.cw < 10) bands(m, k, lit); else stations.forEach((s, i) => s.after ? after(m, k, i) : slots(m, k, s, i, lit));
  batches(m, k, lit);
  tail(m, k);
  hops(m, k, lit);
  gaps(m, k, lit);
  axis(m, g);
  g.append(k);
  el.replaceChildren(g);
}

const NAMES = [['.timeindex', TIME, 'time', 'slot_of_12'], ['.index', INDEX, 'offset', 'slot_of_8'], ['.log', LOG, 'log', 'to_scale']];

function names(m, g) {
  for (const [name, { y, h }, colour, note] of NAMES) {
    const style = `font-size:12.5px;font-weight:600;fill:${V(colour + '-text')}`;
    g.append(S('text', { x: 0, y: y + h / 2 + 4, class: 'mono', style }, name), S('text', { x: 0, y: y + h / 2 + 18, class: 'axt' }, m.data.words[note]));
  }
  g.append(S('text', { x: 0, y: TIME.y + TIME.h / 2 + 32, class: 'axt day' }, inCommon(m)));
}

// How the times of this window are written, m.layout.cut of 2026-11-21T09:29:44.123Z: whole, else without what they have in common, which
// stands beside the lane, else without the milliseconds, so that neighbours that differ look so. A character is 7.2 px wide.
function inCommon(m) {
  const { stations, cw } = m.layout, times = stations.filter(s => s.time && dated(s.time.ts)).map(s => iso(s.time.ts)), [first = ''] = times;
  const are = end => times.every(t => t.slice(0, end) === first.slice(0, end)), cuts = cw > 90 ? [] : cw > 70 ? [[-10, -1]] : [[-7, -1], [-10, -5]];
  const cut = cw > 90 ? [-13, -1] : cuts.find(([start]) => are(start)) ?? [-13, -5];
  Object.assign(m.layout, { cut, days: !are(-14) }); // of different days each slot says its own
  return times.length && are(cut[0]) ? [day(first), cw < 50 ? '' : first.slice(-13, cut[0])].join(' ').trim() : '';
}

// The places in the two upper lanes, of equal width and in the order of the log: an entry and its time, a time alone, and what follows.
function stationsIn(m) {
  const [p0, p1] = m.window, span = p1 - p0, first = p0 - span * .0127, last = p1 >= m.end ? p1 : p1 - span * .0085;
  const seen = p => p >= first && p <= last, found = [], { index, time } = m.data.lanes;
  for (const e of m.entries) {
    const at = e.aim >= PAST ? e.homePos : e.pos;
    if (seen(at) || (e.aim >= PAST && seen(e.pos))) found.push({ at: seen(at) ? at : e.pos, entry: e, time: m.time(e.time) });
  }
  for (const t of m.times) if (t.entry < 0 && seen(Math.min(t.pos, m.end - 1))) found.push({ at: t.pos, time: t });
  found.sort((a, b) => a.at - b.at || (a.entry?.slot ?? Infinity) - (b.entry?.slot ?? Infinity));
  const lastEntry = m.last ? m.entries.at(-1)?.pos ?? -1 : Infinity;
  if ((open(index) && p1 > lastEntry) || (open(time) && !open(index) && p1 >= m.end)) found.push({ after: true });
  return found;
}

// A lane without any entry in this window still says so.
function lanes(m, k) {
  const { w, stations } = m.layout, { time, index } = m.data.lanes;
  for (const [lane, told, has] of [[TIME, time, s => s.time], [INDEX, index, s => s.entry]]) {
    if (!told.missing && (stations.some(has) || (told.written && stations.length) || (open(told) && stations.some(s => s.after)))) continue;
    const box = { x: LEFT + 1, y: lane.y, width: w - LEFT - 2, height: lane.h, rx: 3, fill: 'none', 'stroke-dasharray': '3 3' };
    const text = { x: (LEFT + w) / 2, y: lane.y + 21, 'text-anchor': 'middle' };
    if (told.missing) k.append(S('rect', { ...box, stroke: V('torn') }), S('text', { ...text, style: `fill:${V('torn-text')}` }, told.words));
    else k.append(S('rect', { ...box, stroke: V('line-2') }), S('text', { ...text, class: 'axt' }, told.written ? m.data.words.no_entry_here : told.words));
  }
}

// What follows the last entry of a file: slots without one, and what is left of a slot that was cut.
function after(m, k, i) {
  const { room, cw } = m.layout, X = LEFT + (i + .5) * room, { index, time } = m.data.lanes;
  for (const [lane, told] of [[TIME, time], [INDEX, index]]) {
    if (told.cut_bytes) k.append(...cut(m, X, lane, cw, told));
    else if (told.slots > told.written) k.append(...unwritten(X, lane, cw, m.data.words[told.unwritten]), label(X - cw / 2, lane.y - 5, which(m, told, room)));
  }
}

const slotWords = (m, slot) => fill(m.data.words.slot, { slot: grp(slot) });
const slotsWords = (m, first, last) => fill(m.data.words.slots, { first: grp(first), last: grp(last) });
function which(m, { written, slots }, room) {
  const words = slots - written === 1 ? slotWords(m, written) : slotsWords(m, written, slots - 1), short = `${grp(written)}–${grp(slots - 1)}`;
  return [words, short].find(one => wide(one) * 11 / 12 <= room) ?? '';
}

function unwritten(X, lane, cw, words) {
  const box = { x: X - cw / 2, y: lane.y, width: cw, height: lane.h, rx: 3, fill: 'url(#unwritten)', stroke: V('unwritten'), 'stroke-dasharray': '4 3' };
  const style = 'paint-order:stroke;stroke:var(--kv-unwritten-soft);stroke-width:6px';
  return [S('rect', box), ...(reads(cw, words) ? [S('text', { x: X, y: lane.y + 21, 'text-anchor': 'middle', style }, words)] : [])];
}

function cut(m, X, lane, cw, { slots, cut_bytes }) {
  const d = `M${X - cw / 2} ${lane.y}h${cw / 2}l-4 5 5 6 -5 6 5 6 -5 6 4 5h${-cw / 2}z`, words = `${cut_bytes} B`;
  const parts = [S('path', { d, fill: 'url(#torn)', stroke: V('torn'), 'stroke-width': 1.4 }), label(X - cw / 2, lane.y - 5, slotWords(m, slots))];
  if (reads(cw / 2 - 4, words)) parts.push(S('text', { x: X + 8, y: lane.y + 21, style: `fill:${V('torn-text')};font-weight:650` }, words));
  return parts;
}

const label = (x, y, words) => S('text', { x: x + 2, y, class: 'axt', style: 'font-size:11px' }, words);
const middled = (X, y, style, words) => S('text', { x: X, y, 'text-anchor': 'middle', class: 'mono', style }, words);
const twoLines = (X, y, upper, lower, colour, px = 12) => [
  middled(X, y + 14, `font-size:${px}px;font-weight:600;fill:${V('ink')}`, upper), middled(X, y + 28, `font-size:11px;fill:${V(colour + '-text')}`, lower)];
// 6.7 px a character of the code face, 5.7 of the other.
const fits = (cw, ...texts) => Math.max(...texts.map(t => t.length)) * 6.7 + 6 <= cw;
const reads = (cw, words) => wide(words) + 4 <= cw;
// An offset, or, where that is too long, what the file holds: its distance from the segment's base offset.
const offsetIn = (m, offset, cw) => fits(cw, grp(offset)) ? grp(offset) : `+${grp(offset - m.base)}`;

function slots(m, k, station, i, lit) {
  const X = LEFT + (i + .5) * m.layout.room, { entry: e, time: t } = station, { index, time } = m.data.lanes, { cw } = m.layout;
  const chosen = e ? lit.entry === e : lit.time === t, none = m.data.closing, { words } = m.data;
  if (e) indexSlot(m, k, X, e, chosen);
  else if (index.written) k.append(...absent(X, INDEX, cw, none ? words[`none_${none}`] : words.no_entry, words[none]));
  if (e && t) between(m, k, X, t, e, chosen);
  if (t) timeSlot(m, k, X, t, e, lit.time === t);
  else if (lostTime(m, e)) k.append(...unwritten(X, TIME, cw, words[time.unwritten]));
  else if (time.written) k.append(...absent(X, TIME, cw, words.no_newer));
}

function indexSlot(m, k, X, e, on) {
  const { cw } = m.layout, wrong = e.aim >= PAST, colour = wrong ? 'torn' : 'offset', texts = [offsetIn(m, e.key, cw), `→ ${grp(e.pos)}`];
  pointer(m, k, X, INDEX.y + INDEX.h, e.pos, on, colour, wrong ? '5 3' : null);
  const box = { x: X - cw / 2, y: INDEX.y, width: cw, height: INDEX.h, rx: 3, fill: V(colour + '-soft'), ...ring(on, wrong, colour) };
  const words = fits(cw, ...texts) ? twoLines(X, INDEX.y, ...texts, colour) : null;
  k.append(S('g', { class: on ? 'it on' : 'it' }, S('rect', box), words, named(m, e.slot, X - cw / 2, INDEX.y - 4)));
}

function timeSlot(m, k, X, t, e, on) {
  const { cw } = m.layout, colour = t.true ? 'time' : 'torn', d = Math.min(7, cw / 4), h = TIME.h / 2;
  const texts = [when(t.ts, m.layout.cut), `→ ${offsetIn(m, t.offset, cw - 14)}`];
  if (!e) pointer(m, k, X, TIME.y + TIME.h, t.pos, on, colour, '3 3', m.data.lanes.index.missing ? null : INDEX.y + INDEX.h);
  const hexagon = `M${X - cw / 2} ${TIME.y + h}l${d} ${-h}h${cw - 2 * d}l${d} ${h}l${-d} ${h}h${-(cw - 2 * d)}z`;
  const shape = S('path', { d: hexagon, fill: V(colour + '-soft'), ...ring(on, !t.true, colour) });
  const words = fits(cw, ...texts) ? twoLines(X, TIME.y, ...texts, colour, cw < 96 ? 11.5 : 12) : null;
  k.append(S('g', { class: on ? 'it on' : 'it' }, shape, words, named(m, t.slot, X - cw / 2, TIME.y - 5, m.layout.days && dated(t.ts) ? day(iso(t.ts)) : '')));
}

const ring = (on, wrong, colour) => ({ stroke: on || wrong ? V(colour) : 'none', 'stroke-width': on ? 2 : 1 });

function named(m, slot, x, y, more = '') {
  const room = m.layout.room / 7.5, digits = String(slot).length, whole = `${slotWords(m, slot)} · ${more}`;
  if (more && wide(whole) < m.layout.room) return label(x, y, whole);
  return room > 5 + digits ? label(x, y, slotWords(m, slot)) : room > digits ? label(x, y, grp(slot)) : null;
}

function absent(X, lane, cw, words, shorter = '') {
  const box = { x: X - cw / 2, y: lane.y, width: cw, height: lane.h, rx: 3, fill: 'none', stroke: V('line-2'), 'stroke-dasharray': '3 3' };
  const text = reads(cw, words) ? words : reads(cw, shorter) ? shorter : '';
  return [S('rect', box), S('text', { x: X, y: lane.y + lane.h / 2 + 4, 'text-anchor': 'middle', class: 'axt' }, text)];
}

// An offset entry behind the last time entry of a closed segment whose time index ends in zeros.
function lostTime(m, e) {
  const { time } = m.data.lanes;
  return time.unwritten === 'zeros' && time.slots > time.written && m.last && e.pos > (m.times.at(-1)?.pos ?? -1);
}

// From a slot down to the byte it names; a time entry alone passes the index lane.
function pointer(m, k, X, y, position, on, colour, dashes, past = null) {
  const bx = Math.max(LEFT - 20, Math.min(m.layout.w + 20, m.layout.x(position))), start = past ?? y;
  const kind = on ? 'lnk on' : colour === 'torn' ? 'lnk bad' : 'lnk';
  const look = { class: kind, stroke: V(colour), 'stroke-width': on ? 2 : 1.3, 'stroke-dasharray': dashes };
  if (past !== null) k.append(S('path', { d: `M${X} ${y}V${INDEX.y}`, ...look }));
  k.append(S('path', { d: `M${X} ${start}C${X} ${start + 38} ${bx + .7} ${LOG.y - 44} ${bx + .7} ${LOG.y - 3}`, ...look }),
    S('path', { d: `M${bx - 3.2} ${LOG.y - 8}l4 6 4 -6z`, class: kind, style: `stroke:none;fill:${V(colour)}` }));
}

// From a time entry to its offset entry; dashed where the newest record came before the batch of that entry.
function between(m, k, X, t, e, on) {
  const earlier = t.true && t.offset !== e.key && t.batch !== e.home, y = (TIME.y + TIME.h + INDEX.y) / 2 + 4;
  const look = { class: 'lnk' + (on ? ' on' : ''), stroke: V(t.true ? 'time' : 'torn'), 'stroke-width': on ? 2 : 1.3 };
  k.append(S('path', { d: `M${X} ${TIME.y + TIME.h}V${INDEX.y}`, ...look, 'stroke-dasharray': earlier || !t.true ? '3 3' : null }));
  if (earlier) k.append(label(X + 5, y, m.data.words.newest_earlier));
  if (!t.true) k.append(S('text', { x: X + 7, y, style: `font-size:11px;fill:${V('torn-text')}` }, m.data.words.not_its_time));
}

// Too many slots for boxes: each lane is one band with a tick a slot, and every so many of them has its link.
function bands(m, k, lit) {
  const { w, stations, room } = m.layout, every = Math.ceil(9 / room), { index, time } = m.data.lanes;
  band(m, k, TIME, s => s.time, 'time');
  band(m, k, INDEX, s => s.entry, 'offset');
  stations.forEach((s, i) => {
    const on = (s.entry && lit.entry === s.entry) || (s.time && lit.time === s.time);
    if (on || s.entry?.aim >= PAST || i % every === 0) drop(m, k, s, LEFT + (i + .5) * room, on);
  });
  if (!stations.at(-1)?.after) return;
  for (const [lane, told] of [[TIME, time], [INDEX, index]])
    if (open(told)) k.append(...(told.cut_bytes ? cut(m, w - 24, lane, 46, told) : unwritten(w - 24, lane, 46, '')));
}

// The link of one slot in a band, and, of the chosen one, the slot itself.
function drop(m, k, { entry: e, time: t }, X, on) {
  const wrong = e?.aim >= PAST, passing = m.data.lanes.index.missing ? null : INDEX.y + INDEX.h;
  if (e) pointer(m, k, X, INDEX.y + INDEX.h, e.pos, on, wrong ? 'torn' : 'offset', wrong ? '5 3' : null);
  else if (t) pointer(m, k, X, TIME.y + TIME.h, t.pos, on, t.true ? 'time' : 'torn', '3 3', passing);
  if (!on) return;
  if (t && e) between(m, k, X, t, e, true);
  for (const [lane, slot, colour] of [[TIME, t, 'time'], [INDEX, e, 'offset']])
    if (slot) k.append(S('rect', { x: X - 4, y: lane.y, width: 8, height: lane.h, rx: 2, fill: V(colour + '-soft'), ...ring(true, false, colour) }));
}

function band(m, k, lane, has, colour) {
  const { stations, room } = m.layout, every = Math.ceil(2.5 / room);
  const all = stations.map((s, i) => ({ slot: has(s)?.slot, i })).filter(s => s.slot !== undefined);
  if (!all.length) return;
  const from = LEFT + all[0].i * room, to = LEFT + (all.at(-1).i + 1) * room;
  k.append(S('rect', { x: from, y: lane.y, width: to - from, height: lane.h, rx: 3, fill: V(colour + '-soft') }),
    label(from, lane.y - 5, slotsWords(m, all[0].slot, all.at(-1).slot)));
  const ticks = all.filter((_, n) => n % every === 0).map(({ i }) => `M${LEFT + (i + .5) * room} ${lane.y + 4}v${lane.h - 8}`);
  k.append(S('path', { d: ticks.join(''), stroke: V(colour), 'stroke-width': 1, opacity: .5, fill: 'none' }));
}

// ---- drawing: the log

function batches(m, k, lit) {
  const { w } = m.layout, [p0, p1] = m.window, inside = m.batches.filter(b => b.pos + b.size > p0 && b.pos < p1);
  const chosen = lit.batch, mate = lit.entry && !lit.direct ? m.batch(lit.entry.batch) : null, crowded = inside.length > (w - LEFT) / 2;
  if (crowded) runs(m, k, inside);
  for (const b of crowded ? [mate, chosen] : inside) if (b) box(m, k, b, b === chosen, b === chosen || b === mate);
  const front = k.querySelector('.chosen');
  if (front) k.append(front);
  for (const e of m.entries) if (e.aim === COARSE && e.home >= 0) rest(m, k, e);
  for (const e of m.entries) if (e.aim >= PAST && e.aim <= BEYOND && e.home >= 0) owed(m, k, m.batch(e.home));
}

// The batch that an entry should point at and does not.
function owed(m, k, b) {
  if (!b) return;
  const { x } = m.layout, from = x(b.pos) + 1.6, width = Math.max(1, x(b.pos + b.size) - from - 1.6);
  k.append(S('rect', { class: 'it on', x: from, y: LOG.y + 1, width, height: LOG.h - 2, rx: 2, fill: 'none', stroke: V('torn'), 'stroke-width': 1.4, 'stroke-dasharray': '4 3' }));
}

function box(m, k, b, on, bright) {
  const { x } = m.layout, xa = x(b.pos) + .6, width = Math.max(1, x(b.pos + b.size) - xa - .6), look = { x: xa, y: LOG.y, width };
  const whole = S('rect', { ...look, height: LOG.h, rx: Math.min(2, width / 3), fill: shade(m, b), ...ring(on, false, 'ink') });
  const mark = b.slot >= 0 ? S('rect', { ...look, height: 4, fill: V('offset') }) : null;
  k.append(S('g', { class: `it${bright ? ' on' : ''}${on ? ' chosen' : ''}` }, whole, mark));
}

// The rest of an append whose only entry points at its first batch.
function rest(m, k, e) {
  const { x, w } = m.layout, first = m.batch(e.batch), last = m.batch(e.home);
  if (!first || !last) return;
  const from = Math.max(LEFT, x(first.pos + first.size)), to = Math.min(w, x(last.pos + last.size) - 1.2);
  if (to > from) k.append(S('rect', { x: from, y: LOG.y, width: to - from, height: 2, fill: V('offset'), opacity: .55 }));
}

// More batches than there is room for: runs of them as one block, as dark as their mean.
function runs(m, k, inside) {
  const { x } = m.layout, plain = m.data.shade.by === 'Plain';
  for (let i = 0, j, odd = 0; i < inside.length; i = j, odd ^= 1) {
    const from = x(inside[i].pos);
    for (j = i + 1; j < inside.length && x(inside[j].pos) < from + 3; j++);
    const run = inside.slice(i, j), width = Math.max(1, x(run.at(-1).pos + run.at(-1).size) - from - .4);
    const mean = run.reduce((sum, b) => sum + valueOf(m, b), 0) / run.length;
    k.append(S('rect', { class: 'it', x: from, y: LOG.y, width, height: LOG.h, fill: plain ? tone(odd ? .26 : .36) : shadeOf(m, mean) }));
    if (run.some(b => b.slot >= 0)) k.append(S('rect', { class: 'it', x: from, y: LOG.y, width, height: 4, fill: V('offset') }));
  }
}

function tail(m, k) {
  const { x, w } = m.layout, t = m.data.tail, y = LOG.y;
  if (!t || m.window[1] <= m.end) return;
  const from = Math.max(LEFT - 20, x(m.end)), to = Math.max(from + 30, x(m.data.size)), beside = to + 56 < w;
  const at = beside ? to + 6 : Math.max(LEFT + 4, from) + 8, over = 'paint-order:stroke;stroke:var(--kv-torn-soft);stroke-width:8px;';
  const style = `${beside ? '' : over}fill:${V('torn-text')}`, d = `M${from + 2} ${y}H${to}l-5 7 6 8 -6 8 6 8 -6 8 6 8 -3 7H${from + 2}Z`;
  k.append(S('path', { d, fill: 'url(#torn)', stroke: V('torn'), 'stroke-width': 1.4 }), S('text', { x: at, y: y + 24, style: style + ';font-weight:650' }, bytes(t.size)),
    S('text', { x: at, y: y + 39, style }, t.kind === 'zeros' ? m.data.words.of_zeros : m.data.words.no_batch));
}

// The headers a search reads from where its entry points to the chosen batch.
function hops(m, k, { batch, entry, direct, time }) {
  if (!batch || !m.batch(batch.i) || direct || (time && !entry && m.hover?.time)) return; // far from this window nothing is seen of it
  const start = entry ? entry.batch : 0, y = LOG.y + LOG.h, { x } = m.layout;
  if (start < 0 || start >= batch.i) return;
  const points = m.batches.slice(Math.max(0, start - m.from), batch.i + 1 - m.from).map(b => x(b.pos) + 2);
  let d = '', before = null;
  for (const p of points) {
    if (before !== null && p - before < 1.5 && p !== points.at(-1)) continue;
    d += before === null ? `M${p} ${y + 2}` : `Q${(before + p) / 2} ${y + 14} ${p} ${y + 2}`;
    before = p;
  }
  k.append(S('path', { d, fill: 'none', stroke: V('scan'), 'stroke-width': 1.7 }));
}

// From each entry to the next one that leads where it should; and how far the chosen one leads astray.
function gaps(m, k, { entry }) {
  const y = LOG.y + LOG.h + 24, far = entry?.aim === PAST ? entry : null, sound = slot => { const e = m.entry(slot); return e?.aim >= PAST ? sound(slot + 1) : e; };
  for (const { entry: e } of m.layout.stations) {
    const next = e && e.aim < PAST ? sound(e.slot + 1) : null;
    const covered = far && next && next.pos > far.homePos && e.pos < far.pos;
    if (next && next.pos > e.pos && !covered) dimension(m, k, e.pos, next.pos, y, 'line-2', `${grp(next.pos - e.pos)} B`);
  }
  if (far) dimension(m, k, far.homePos, far.pos, y, 'torn', fill(m.data.words.too_far, { bytes: grp(far.pos - far.homePos) }));
}

function dimension(m, k, start, end, y, colour, words) {
  const { x, w } = m.layout, a = x(start), b = x(end), from = Math.max(a, LEFT), to = Math.min(b, w);
  if (b - a < 44) return;
  k.append(S('path', { d: `M${a + 2} ${y - 4}v8M${a + 2} ${y}H${b - 2}M${b - 2} ${y - 4}v8`, stroke: V(colour), fill: 'none' }));
  const fill = colour === 'torn' ? `;fill:${V('torn-text')}` : '';
  const text = { x: (from + to) / 2, y: y + 4, 'text-anchor': 'middle', class: 'axt', style: `paint-order:stroke;stroke:var(--kv-raised);stroke-width:8px${fill}` };
  if (to - from > wide(words) + 16) k.append(S('text', text, words));
}

function axis(m, g) {
  const { x, w } = m.layout, [p0, p1] = m.window, y = LOG.y + LOG.h + 44, every = tickStep((p1 - p0) / Math.max(1, Math.min(7, (w - LEFT) / TICK_PX)));
  g.append(S('line', { x1: LEFT, x2: w, y1: y, y2: y, class: 'ax' }));
  for (let p = Math.ceil(p0 / every) * every; p <= p1; p += every) {
    const X = x(p);
    if (X < LEFT + 16 || X > w - 16) continue;
    g.append(S('line', { x1: X, x2: X, y1: y, y2: y + 5, class: 'ax' }));
    g.append(S('text', { x: X, y: y + 18, 'text-anchor': 'middle', class: 'axt' }, grp(p)));
  }
  g.append(S('text', { x: w, y: y + 31, 'text-anchor': 'end', class: 'axt' }, m.data.words.axis));
}

function tickStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 2.5, 4, 5, 10].map(f => f * power).find(s => s >= least && Number.isInteger(s)) ?? 10 * power;
}

// ---- words

const FAR_MS = 8640000000000000n; // as far as a Date goes
const dated = ts => ts !== -1n && ts <= FAR_MS && ts >= -FAR_MS;
const day = text => text.slice(0, -14); // of 2026-11-21T09:29:44.123Z
const iso = ts => new Date(num(ts)).toISOString();
const when = (ts, cut = [-13, -1]) => dated(ts) ? iso(ts).slice(...cut) : ts === -1n ? '–' : `${grp(ts)} ms`;
const moment = ts => dated(ts) ? `${day(iso(ts))} ${when(ts)}` : when(ts);
const range = (m, b) => b.first >= 0n ? `${grp(b.first)}–${grp(b.last)}` : fill(m.data.words.up_to, { last: grp(b.last) });

// Two sentences of the words that were sent, or one of them.
function sentences(m, ...told) {
  const { gap } = m.data.words;
  return told.filter(one => one.length).flatMap((one, i) => i ? [gap, ...one] : one);
}

// A sentence; of a number of things where there is one.
const tell = (m, key, values = {}, n = null) => rich(ofMany(m.data.words, key, n), n === null ? values : { n: grp(n), ...values });
const over = (m, key, n, values) => n > 0 ? tell(m, `${key}_over`, values, n) : tell(m, key, values);
const wrong = (m, key, values, n) => [H('span', { class: 'bad' }, ...tell(m, key, values, n))];

function say(m) {
  const sel = m.hover ?? m.pin, l = chain(m, sel), b = l.batch;
  const ofBatch = () => b ? sentences(m, tell(m, 'batch', { range: range(m, b), position: grp(b.pos), size: grp(b.size) }), how(m, l)) : [];
  m.$('say').replaceChildren(H('span', {}, ...(sel.entry ? ofSlot(m, sel.entry) : sel.time ? ofTime(m, sel.time) : ofBatch())));
}

// How a search for this batch finds it.
function how(m, { batch: b, entry: e, direct }) {
  if (direct) return own(m, b, e);
  if (m.data.lanes.index.missing) return over(m, 'missing_index', b.i);
  if (!m.batch(b.i) && b.via >= 0) return tell(m, b.slot >= 0 ? 'own_away' : 'lands_away', { slot: grp(b.slot >= 0 ? b.slot : b.via) });
  if (!e && b.via >= 0) return tell(m, 'lands_before', { slot: grp(b.via) });
  if (!e) return over(m, 'before_first', b.i);
  const slot = grp(e.slot);
  if (e.batch > b.i) return tell(m, 'lands_past', { slot });
  if (e.batch < 0) return tell(m, e.aim === BEYOND ? 'lands_beyond' : 'lands_inside', { slot });
  return over(m, 'lands', b.i - e.batch, { slot });
}

function own(m, b, e) {
  const at = { slot: grp(e.slot), key: grp(e.key) };
  if (e.aim === COARSE) return tell(m, 'own_append', at, e.home - b.i);
  if (e.key !== b.last) return tell(m, 'own_any', at);
  const others = b.n === 1 ? [] : e.slot > 0 ? tell(m, 'others_slot', { slot: grp(e.slot - 1) }) : tell(m, 'others_start');
  return sentences(m, tell(m, 'own', at), others);
}

function ofSlot(m, e) {
  const told = tell(m, 'entry', { slot: grp(e.slot), key: grp(e.key), position: grp(e.pos) });
  const fault = e.aim === PAST ? past(m, e) : { [INSIDE]: 'inside', [BEYOND]: e.home < 0 ? 'no_holder' : 'beyond' }[e.aim] ?? (e.aim > BEYOND ? 'unordered' : '');
  return sentences(m, told, typeof fault === 'string' ? (fault ? wrong(m, fault) : []) : fault);
}

// How far an entry points behind the batch of its offset, and what a search from there passes over.
function past(m, e) {
  const home = m.batch(e.home), target = m.batch(e.batch);
  const begins = target ? '_begins' : '', values = target ? { first: grp(target.first), missed: missed(m, e, target) } : {};
  return home ? wrong(m, `past${begins}`, { range: range(m, home), ...values }, e.pos - home.pos) : wrong(m, `past_away${begins}`, values);
}

// The offsets from the key of an entry that points too far up to where a search from there begins, or to the next key.
function missed(m, e, target) {
  const next = m.entry(e.slot + 1)?.key, last = (next !== undefined && next < target.first ? next : target.first) - 1n;
  return last > e.key ? `${grp(e.key)}–${grp(last)}` : grp(e.key);
}

function ofTime(m, t) {
  const b = m.batch(t.batch), told = tell(m, 'time_entry', { slot: grp(t.slot), moment: moment(t.ts), offset: grp(t.offset) });
  if (t.batch < 0) return sentences(m, told, wrong(m, 'no_holder'));
  if (!t.true) return sentences(m, told, b ? wrong(m, 'time_other', { range: range(m, b), moment: moment(b.ts) }) : wrong(m, 'time_other_away'));
  if (m.data.lanes.index.missing) return sentences(m, told, tell(m, 'time_scan'));
  return sentences(m, told, tell(m, m.data.closing ? `time_${m.data.closing}` : 'time_alone'));
}
