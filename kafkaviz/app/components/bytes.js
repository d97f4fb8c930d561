// Bytes as hexadecimal and text, sixteen a row, each field in the colour of its kind; the fields beside them, and what the chosen one means.
// Only the rows on screen are drawn, and only a stretch of the bytes is here: m.panes[i] has those from `first` on, as figures/segment_bytes.py sent them.
const ROW = 16, ROW_PX = 22, PAD_PX = 10, SPARE_ROWS = 6, REST_MS = 120;
const BEHIND = ['torn', 'unwritten']; // kinds of what stands behind the last batch, shown with it

export default function ({ parentElement: root, data, setStateValue }) {
  const m = root.host.__bytes ??= { key: null, panes: [] };
  m.release?.(); // Streamlit calls anew on each change, without cleaning up before
  Object.assign(m, { root, send: setStateValue, $: name => root.querySelector('.' + name) });
  take(m, opened(data));
  const sizes = new ResizeObserver(() => m.panes.forEach(p => rows(m, p)));
  m.panes.forEach(p => sizes.observe(p.hex));
  m.release = () => sizes.disconnect();
  return m.release;
}

// ---- what was sent

function opened(sent) {
  const length = Number(new DataView(sent.buffer, sent.byteOffset, 8).getBigUint64(0, true));
  const data = JSON.parse(new TextDecoder().decode(sent.subarray(8, 8 + length)));
  let at = 8 + length;
  for (const p of data.panes) {
    p.bytes = sent.slice(at, at += p.data);
    p.spans = p.spans.map(([start, end, name, value, kind, note, link]) => ({ start, end, name, value, kind, note, link }));
  }
  return data;
}

// The same batch or file again: the reader's place stays. Another one: the field that Python would look at first is chosen.
function take(m, data) {
  const other = m.key !== data.key || m.data.language !== data.language || m.panes.length !== data.panes.length, enter = m.enter, was = m.panes[0]?.chosen;
  Object.assign(m, { key: data.key, data, near: null });
  if (other) {
    m.panes = data.panes.map((p, i) => build(m, p, i));
    m.$('panes').replaceChildren(...m.panes.flatMap((p, i) => [...(i ? [H('div', { class: 'inner' }, data.title)] : []), p.box]),
      ...(data.fault ? [H('div', { class: 'inner bad' }, data.fault)] : []));
    m.enter = null;
  }
  data.panes.forEach((p, i) => refresh(m, m.panes[i], p));
  const outer = m.panes[0];
  if (!other && outer.chosen !== was && outer.chosen !== m.own) m.stepping = { pane: outer, byte: outer.chosen };
  if (!other) { redraw(m); return; }
  m.at = { pane: outer, byte: enter === 'first' ? outer.start : outer.chosen };
  m.panes.forEach(p => { p.hex.scrollTop = 0; rows(m, p); });
  choose(m, outer, m.at.byte, true);
  if (enter) outer.hex.focus({ preventScroll: true });
}

function build(m, sent, i) {
  const room = H('div', { class: 'room' }), { words, file } = m.data, about = fill(words[`of_${sent.of}`], { file });
  const hex = H('div', { class: 'hex', tabindex: 0, role: 'group', 'aria-label': about }, room);
  const list = H('div', { class: 'fl', role: 'list', 'aria-label': words.fields, tabindex: 0 }), p = { hex, room, list, i, box: H('div', { class: 'pane' }, hex, list), cells: new Map() };
  hex.onscroll = () => { rows(m, p); rest(m, p); };
  hex.onkeydown = e => onKey(m, p, e);
  for (const el of [hex, list]) {
    el.onmousemove = e => near(m, p, spanOf(p, e));
    el.onmouseleave = () => near(m, p, null);
    el.onclick = e => { const s = spanOf(p, e); if (s) { chosen(m, p, Math.max(s.start, p.start), el === list); follow(s); } };
  }
  return p;
}

function refresh(m, p, sent) {
  Object.assign(p, sent, { asked: null, drawn: '' });
  p.last = p.first + p.bytes.length;
  p.room.style.height = `${Math.max(1, Math.ceil((p.end - p.start) / ROW)) * ROW_PX}px`;
  p.room.style.setProperty('--digits', `${grp(p.end).length}ch`);
  p.list.replaceChildren(...p.spans.map((s, n) => H('div', { class: 'f', role: 'listitem', 'data-s': n },
    H('span', { class: 'p' }, s.start < p.start ? '' : String(s.start - origin(p))),
    H('span', { class: 'n' }, H('span', { class: `sw k-${s.kind}` }), s.name), H('span', { class: 'v' }, s.value))));
}

// ---- drawing

// From where places are counted: a file from its first byte, even if what can be scrolled through begins later.
const origin = p => p.of === 'file' ? 0 : p.start;

// The span that has a byte, by halving; null where its bytes are not here.
function at(p, byte) {
  let lo = 0, hi = p.spans.length - 1;
  while (lo < hi) { const mid = (lo + hi + 1) >> 1; if (p.spans[mid].start <= byte) lo = mid; else hi = mid - 1; }
  const s = p.spans[lo];
  return s && s.start <= byte && byte < s.end ? s : null;
}

function rows(m, p) {
  const top = Math.max(0, Math.floor((p.hex.scrollTop - PAD_PX) / ROW_PX) - SPARE_ROWS), count = Math.ceil((p.hex.clientHeight || 430) / ROW_PX) + 2 * SPARE_ROWS;
  const end = Math.min(Math.ceil((p.end - p.start) / ROW), top + count), drawn = `${top} ${end} ${p.first}`;
  if (p.drawn === drawn) return;
  p.drawn = drawn;
  p.cells = new Map();
  p.room.replaceChildren(...Array.from({ length: Math.max(0, end - top) }, (_, i) => row(p, top + i)));
  mark(m);
}

function row(p, n) {
  const from = p.start + n * ROW, to = Math.min(p.end, from + ROW), el = H('div', { class: 'r', style: `top:${n * ROW_PX}px` }, H('span', { class: 'a' }, grp(from)));
  const cell = (byte, kind, text) => {
    const s = at(p, byte), here = byte >= p.first && byte < p.last && s, c = H('span', { class: here ? `${kind} k-${s.kind}` : `${kind} gone` }, here ? text : '·');
    if (here) { c.dataset.b = byte; c.style.cssText = edges(s, byte, from); p.cells.set(s, [...(p.cells.get(s) ?? []), c]); }
    return c;
  };
  const found = byte => p.bytes[byte - p.first];
  for (let b = from; b < from + ROW; b++) el.append(b < to ? cell(b, 'h', found(b)?.toString(16).padStart(2, '0')) : H('span', { class: 'h' }, '  '));
  for (let b = from; b < to; b++) {
    const c = cell(b, 'x', found(b) > 31 && found(b) < 127 ? String.fromCharCode(found(b)) : '·');
    c.classList.remove(...[...c.classList].filter(name => name.startsWith('k-')));
    if (b === from) c.classList.add('x1');
    el.append(c);
  }
  return el;
}

// On which sides a cell has the frame of its field: where the field ends, or the row does.
function edges(s, byte, from) {
  const sides = { l: byte === s.start || byte === from, r: byte === s.end - 1 || byte === from + ROW - 1, t: byte - ROW < s.start, b: byte + ROW >= s.end };
  return Object.keys(sides).filter(side => sides[side]).map(side => `--${side}:1`).join(';');
}

function redraw(m) {
  m.panes.forEach(p => rows(m, p));
  const to = m.stepping;
  if (!to) { mark(m); return; }
  if (to.byte >= to.pane.first && to.byte < to.pane.last) { m.stepping = null; choose(m, to.pane, to.byte, true); return; }
  if (!to.again) { to.again = true; ask(m, to.pane, to.byte); } // once: of a file that shrank it never comes
  mark(m);
}

// Frames the cells and the list's line of the chosen field, and of the one under the pointer; says what it means.
function mark(m) {
  if (!m.at) return;
  for (const p of m.panes) {
    p.marked?.forEach(el => el.classList.remove('on', 'near'));
    p.marked = [];
    const light = (s, name) => { if (s) for (const el of [...(p.cells.get(s) ?? []), p.list.children[p.spans.indexOf(s)]]) { el.classList.add(name); p.marked.push(el); } };
    if (m.at.pane === p) light(at(p, m.at.byte), 'on');
    if (m.near?.pane === p) light(m.near.span, 'near');
  }
  const { pane, span } = m.near ?? { pane: m.at.pane, span: at(m.at.pane, m.at.byte) };
  if (span) say(m, pane, span);
}

function say(m, p, s) {
  const of = p.of === 'batch' && BEHIND.includes(s.kind) ? 'file' : p.of, begin = of === 'file' ? 0 : origin(p), from = s.start - begin, to = s.end - 1 - begin;
  const at = { name: s.name, first: grp(from), last: grp(to), position: grp(s.start), size: grp(s.end - s.start) }, { words } = m.data;
  const where = rich(ofMany(words, s.start < p.start ? 'at_none' : `at_${of}`, to > from ? 2 : 1), at), { gap } = words;
  const value = s.kind === 'payload' && s.value ? [' ', H('span', { class: 'val' }, s.value)] : [];
  const told = [...where, gap, s.note, ...value].map(one => typeof one === 'string' ? document.createTextNode(one) : one);
  const said = told.map(one => one.textContent).join('');
  if (m.said !== said) { m.said = said; m.$('mean').replaceChildren(...told); }
}

// ---- what the reader does

function spanOf(p, e) {
  const el = e.target.closest?.('[data-b], [data-s]');
  return el ? el.dataset.s !== undefined ? p.spans[el.dataset.s] : at(p, Number(el.dataset.b)) : null;
}

function near(m, p, s) {
  if ((m.near?.span ?? null) === s) return;
  m.near = s ? { pane: p, span: s } : null;
  mark(m);
}

// Chooses the field of a byte and brings it on screen; one that is not here is asked for first.
function choose(m, p, byte, inView = false) {
  if (byte < p.first || byte >= p.last) {
    m.stepping = { pane: p, byte };
    ask(m, p, byte);
    return;
  }
  const s = at(p, byte);
  m.at = { pane: p, byte };
  m.near = null;
  if (inView || s) show(p, s, byte);
  rows(m, p);
  mark(m);
}

// The reader chose a byte of the file: it stands in the address, as a link to it would have it.
function chosen(m, p, byte, inView) {
  choose(m, p, byte, inView);
  if (p.i) return;
  m.own = byte;
  const url = new URL(location);
  url.searchParams.set('byte', byte);
  history.replaceState(history.state, '', url);
}

function show(p, s, byte) {
  const y = Math.floor((byte - p.start) / ROW) * ROW_PX + PAD_PX, h = p.hex.clientHeight;
  if (h && (y < p.hex.scrollTop + 1 || y + ROW_PX > p.hex.scrollTop + h - 1)) p.hex.scrollTop = Math.max(0, y - h / 3);
  const line = p.list.children[p.spans.indexOf(s)], list = p.list;
  if (!line) return;
  const top = line.offsetTop - list.offsetTop;
  if (top < list.scrollTop || top + line.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = Math.max(0, top - list.clientHeight / 3);
}

function onKey(m, p, e) {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const byte = m.at.pane === p ? m.at.byte : p.start, s = at(p, byte), page = Math.max(1, Math.floor(p.hex.clientHeight / ROW_PX) - 1) * ROW;
  const to = there => chosen(m, p, Math.max(p.start, Math.min(p.end - 1, there)), true);
  const act = {
    ArrowRight: () => s && s.end >= p.end ? neighbour(m, p, m.data.after) : to(s ? s.end : byte),
    ArrowLeft: () => s && s.start <= p.start ? neighbour(m, p, m.data.before) : to(s ? s.start - 1 : byte),
    ArrowDown: () => to(byte + ROW), ArrowUp: () => to(byte - ROW), PageDown: () => to(byte + page), PageUp: () => to(byte - page),
    Home: () => to(p.start), End: () => to(p.end - 1), Enter: () => enter(m, p, s),
  }[e.key];
  if (!act) return;
  e.preventDefault();
  m.enter = null;
  act();
}

// Before the first field and behind the last one lie those of the neighbour batches.
function neighbour(m, p, offset) {
  if (p.i || offset === null) return;
  m.enter = 'first';
  pin(offset);
}

function enter(m, p, s) {
  if (s?.link) follow(s);
  else if (!p.i && m.panes[1] && s?.start === p.opens) { m.panes[1].hex.focus(); choose(m, m.panes[1], 0, true); }
}

const follow = s => { if (s.link) pin(s.link); };
const pin = offset => document.dispatchEvent(new CustomEvent('kafkaviz-pin', { detail: offset }));

// The pane came to rest on rows that are not here: the server is asked for them, once.
function rest(m, p) {
  clearTimeout(p.rest);
  const from = p.start + Math.max(0, Math.floor((p.hex.scrollTop - PAD_PX) / ROW_PX)) * ROW, to = Math.min(p.end, from + (p.hex.clientHeight / ROW_PX | 0) * ROW);
  if (from < p.first || to > p.last) p.rest = setTimeout(() => ask(m, p, from), REST_MS);
}

function ask(m, p, byte) {
  if (p.asked === byte) return;
  p.asked = byte;
  const want = { ...(m.want?.key === m.key ? m.want : {}), key: m.key, [p.i ? 'inner' : 'outer']: byte };
  m.want = want;
  m.send('want', want);
}
