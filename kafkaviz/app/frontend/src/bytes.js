// The bytes view: sixteen bytes per row in hexadecimal and text, each field coloured by its kind,
// next to the list of fields and the meaning of the selected one. Only rows on screen are drawn.
// The browser has only a part of the bytes: state.panes[i] holds those from `first` on, as sent by
// figures/segment/segment_bytes.py.
import { writeParameters } from './address_parameters.js';
import { hasModifier, html, renderMarkup } from './dom.js';
import { fillTemplate, groupDigits, pluralText } from './text.js';

const ROW = 16,
  ROW_PX = 22,
  PAD_PX = 10,
  SPARE_ROWS = 6,
  REST_MS = 120;
// kinds of bytes after the last batch, which are shown with it
const BEHIND = ['torn', 'unwritten'];

export default function ({ parentElement: root, data, setStateValue }) {
  const state = (root.host.__bytes ??= { key: null, panes: [] });
  state.release?.(); // Streamlit calls this again on each change without cleaning up first
  Object.assign(state, { root, send: setStateValue, $: name => root.querySelector(`.${name}`) });
  take(state, decodeMessage(data));
  const sizes = new ResizeObserver(() => state.panes.forEach(p => renderRows(state, p)));
  state.panes.forEach(p => sizes.observe(p.hex));
  state.release = () => sizes.disconnect();
  return state.release;
}

// ---- the message

function decodeMessage(sent) {
  const length = Number(new DataView(sent.buffer, sent.byteOffset, 8).getBigUint64(0, true));
  const data = JSON.parse(new TextDecoder().decode(sent.subarray(8, 8 + length)));
  let at = 8 + length;
  for (const p of data.panes) {
    p.bytes = sent.slice(at, (at += p.data));
    p.spans = p.spans.map(([start, end, name, value, kind, note, link]) => ({
      start,
      end,
      name,
      value,
      kind,
      note,
      link,
    }));
  }
  return data;
}

// Keeps the position for the same batch or file; for another one it selects the field given by
// Python.
function take(state, data) {
  const other =
      state.key !== data.key ||
      state.data.language !== data.language ||
      state.panes.length !== data.panes.length,
    enter = state.enter,
    was = state.panes[0]?.chosen;
  Object.assign(state, { key: data.key, data, near: null });
  if (other) {
    state.panes = data.panes.map((p, i) => build(state, p, i));
    state
      .$('panes')
      .replaceChildren(
        ...state.panes.flatMap((p, i) => [...(i ? [html('div', 'inner', data.title)] : []), p.box]),
        ...(data.fault ? [html('div', 'inner bad', data.fault)] : []),
      );
    state.enter = null;
  }
  data.panes.forEach((p, i) => refresh(state.panes[i], p));
  const outer = state.panes[0];
  if (!other && outer.chosen !== was && outer.chosen !== state.own)
    state.stepping = { pane: outer, byte: outer.chosen };
  if (!other) {
    redraw(state);
    return;
  }
  state.at = { pane: outer, byte: enter === 'first' ? outer.start : outer.chosen };
  state.panes.forEach(p => {
    p.hex.scrollTop = 0;
    renderRows(state, p);
  });
  choose(state, outer, state.at.byte, true);
  if (enter) outer.hex.focus({ preventScroll: true });
}

function build(state, sent, i) {
  const room = html('div', 'room'),
    { words, file } = state.data,
    about = fillTemplate(words[`of_${sent.of}`], { file });
  const hex = html('div', { class: 'hex', tabindex: 0, role: 'group', 'aria-label': about }, room);
  const list = html('div', {
      class: 'fields',
      role: 'list',
      'aria-label': words.fields,
      tabindex: 0,
    }),
    p = { hex, room, list, i, box: html('div', 'pane', hex, list), cells: new Map() };
  hex.onscroll = () => {
    renderRows(state, p);
    rest(state, p);
  };
  hex.onkeydown = e => onKey(state, p, e);
  for (const el of [hex, list]) {
    el.onmousemove = e => markNear(state, p, spanOf(p, e));
    el.onmouseleave = () => markNear(state, p, null);
    el.onclick = e => {
      const s = spanOf(p, e);
      if (s) {
        selectByte(state, p, Math.max(s.start, p.start), el === list);
        follow(s);
      }
    };
  }
  return p;
}

function refresh(p, sent) {
  Object.assign(p, sent, { requestedByte: null, drawn: '' });
  p.last = p.first + p.bytes.length;
  p.room.style.height = `${Math.max(1, Math.ceil((p.end - p.start) / ROW)) * ROW_PX}px`;
  p.room.style.setProperty('--digits', `${groupDigits(p.end).length}ch`);
  p.list.replaceChildren(
    ...p.spans.map((s, n) =>
      html(
        'div',
        { class: 'f', role: 'listitem', 'data-s': n },
        html('span', 'p', s.start < p.start ? '' : String(s.start - origin(p))),
        html('span', 'n', html('span', `swatch k-${s.kind}`), s.name),
        html('span', 'v', s.value),
      ),
    ),
  );
}

// ---- drawing

// The zero of displayed positions: a file counts from its first byte, even if the pane begins
// later.
const origin = p => (p.of === 'file' ? 0 : p.start);

// Finds the field that contains a byte by binary search; null if its bytes are not loaded.
function at(p, byte) {
  let lo = 0,
    hi = p.spans.length - 1;
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (p.spans[mid].start <= byte) lo = mid;
    else hi = mid - 1;
  }
  const s = p.spans[lo];
  return s && s.start <= byte && byte < s.end ? s : null;
}

function renderRows(state, p) {
  const top = Math.max(0, Math.floor((p.hex.scrollTop - PAD_PX) / ROW_PX) - SPARE_ROWS),
    count = Math.ceil((p.hex.clientHeight || 430) / ROW_PX) + 2 * SPARE_ROWS;
  const end = Math.min(Math.ceil((p.end - p.start) / ROW), top + count),
    drawn = `${top} ${end} ${p.first}`;
  if (p.drawn === drawn) return;
  p.drawn = drawn;
  p.cells = new Map();
  p.room.replaceChildren(
    ...Array.from({ length: Math.max(0, end - top) }, (_, i) => buildRow(p, top + i)),
  );
  mark(state);
}

function buildRow(p, n) {
  const from = p.start + n * ROW,
    to = Math.min(p.end, from + ROW),
    position = html('span', 'a', groupDigits(from)),
    el = html('div', { class: 'r', style: `top:${n * ROW_PX}px` }, position);
  const cell = (byte, kind, text) => {
    const s = at(p, byte),
      isLoaded = byte >= p.first && byte < p.last && s,
      c = html('span', isLoaded ? `${kind} k-${s.kind}` : `${kind} gone`, isLoaded ? text : '·');
    if (isLoaded) {
      c.dataset.b = byte;
      c.style.cssText = edgeStyle(s, byte, from);
      p.cells.set(s, [...(p.cells.get(s) ?? []), c]);
    }
    return c;
  };
  const valueAt = byte => p.bytes[byte - p.first];
  for (let b = from; b < from + ROW; b++)
    el.append(
      b < to ? cell(b, 'h', valueAt(b)?.toString(16).padStart(2, '0')) : html('span', 'h', '  '),
    );
  for (let b = from; b < to; b++) {
    const value = valueAt(b),
      c = cell(b, 'x', value > 31 && value < 127 ? String.fromCharCode(value) : '·');
    c.classList.remove(...[...c.classList].filter(name => name.startsWith('k-')));
    if (b === from) c.classList.add('first');
    el.append(c);
  }
  return el;
}

// Returns the sides on which a cell shows the frame of its field: at the ends of field and row.
function edgeStyle(s, byte, from) {
  const sides = {
    l: byte === s.start || byte === from,
    r: byte === s.end - 1 || byte === from + ROW - 1,
    t: byte - ROW < s.start,
    b: byte + ROW >= s.end,
  };
  return Object.keys(sides)
    .filter(side => sides[side])
    .map(side => `--${side}:1`)
    .join(';');
}

function redraw(state) {
  state.panes.forEach(p => renderRows(state, p));
  const to = state.stepping;
  if (!to) {
    mark(state);
    return;
  }
  if (to.byte >= to.pane.first && to.byte < to.pane.last) {
    state.stepping = null;
    choose(state, to.pane, to.byte, true);
    return;
  }
  if (!to.again) {
    to.again = true;
    ask(state, to.pane, to.byte);
  } // only once, because a file that shrank never has the byte
  mark(state);
}

// Marks the selected field and the one under the pointer in cells and list, and shows its meaning.
function mark(state) {
  if (!state.at) return;
  for (const p of state.panes) {
    p.marked?.forEach(el => el.classList.remove('on', 'near'));
    p.marked = [];
    const light = (s, name) => {
      if (s)
        for (const el of [...(p.cells.get(s) ?? []), p.list.children[p.spans.indexOf(s)]]) {
          el.classList.add(name);
          p.marked.push(el);
        }
    };
    if (state.at.pane === p) light(at(p, state.at.byte), 'on');
    if (state.near?.pane === p) light(state.near.span, 'near');
  }
  const { pane, span } = state.near ?? {
    pane: state.at.pane,
    span: at(state.at.pane, state.at.byte),
  };
  if (span) say(state, pane, span);
}

function say(state, p, s) {
  const subject = p.of === 'batch' && BEHIND.includes(s.kind) ? 'file' : p.of,
    begin = subject === 'file' ? 0 : origin(p),
    from = s.start - begin,
    to = s.end - 1 - begin;
  const at = {
      name: s.name,
      first: groupDigits(from),
      last: groupDigits(to),
      position: groupDigits(s.start),
      size: groupDigits(s.end - s.start),
    },
    { words } = state.data;
  const where = renderMarkup(
      pluralText(words, s.start < p.start ? 'at_none' : `at_${subject}`, to > from ? 2 : 1),
      at,
    ),
    { gap } = words;
  const value = s.kind === 'payload' && s.value ? [' ', html('span', 'val', s.value)] : [];
  const sentence = [...where, gap, s.note, ...value].map(part =>
    typeof part === 'string' ? document.createTextNode(part) : part,
  );
  const text = sentence.map(part => part.textContent).join('');
  if (state.sentence !== text) {
    state.sentence = text;
    state.$('mean').replaceChildren(...sentence);
  }
}

// ---- input

function spanOf(p, e) {
  const data = e.target.closest?.('[data-b], [data-s]')?.dataset;
  if (!data) return null;
  return data.s === undefined ? at(p, Number(data.b)) : p.spans[data.s];
}

function markNear(state, p, s) {
  if ((state.near?.span ?? null) === s) return;
  state.near = s ? { pane: p, span: s } : null;
  mark(state);
}

// Selects the field of a byte and scrolls to it; requests the bytes first if they are not loaded.
function choose(state, p, byte, inView = false) {
  if (byte < p.first || byte >= p.last) {
    state.stepping = { pane: p, byte };
    ask(state, p, byte);
    return;
  }
  const s = at(p, byte);
  state.at = { pane: p, byte };
  state.near = null;
  if (inView || s) show(p, s, byte);
  renderRows(state, p);
  mark(state);
}

// Selects a byte of the file for the reader and writes it into the address.
function selectByte(state, p, byte, inView) {
  choose(state, p, byte, inView);
  if (p.i) return;
  state.own = byte;
  writeParameters({ byte });
}

function show(p, s, byte) {
  const y = Math.floor((byte - p.start) / ROW) * ROW_PX + PAD_PX,
    h = p.hex.clientHeight;
  if (h && (y < p.hex.scrollTop + 1 || y + ROW_PX > p.hex.scrollTop + h - 1))
    p.hex.scrollTop = Math.max(0, y - h / 3);
  const line = p.list.children[p.spans.indexOf(s)],
    list = p.list;
  if (!line) return;
  const top = line.offsetTop - list.offsetTop;
  if (top < list.scrollTop || top + line.offsetHeight > list.scrollTop + list.clientHeight)
    list.scrollTop = Math.max(0, top - list.clientHeight / 3);
}

function onKey(state, p, e) {
  if (hasModifier(e)) return;
  const byte = state.at.pane === p ? state.at.byte : p.start,
    s = at(p, byte),
    page = Math.max(1, Math.floor(p.hex.clientHeight / ROW_PX) - 1) * ROW;
  const to = there => selectByte(state, p, Math.max(p.start, Math.min(p.end - 1, there)), true);
  const act = {
    ArrowRight: () =>
      s && s.end >= p.end ? goToNeighbour(state, p, state.data.after) : to(s ? s.end : byte),
    ArrowLeft: () =>
      s && s.start <= p.start
        ? goToNeighbour(state, p, state.data.before)
        : to(s ? s.start - 1 : byte),
    ArrowDown: () => to(byte + ROW),
    ArrowUp: () => to(byte - ROW),
    PageDown: () => to(byte + page),
    PageUp: () => to(byte - page),
    Home: () => to(p.start),
    End: () => to(p.end - 1),
    Enter: () => enter(state, p, s),
  }[e.key];
  if (!act) return;
  e.preventDefault();
  state.enter = null;
  act();
}

// Before the first field and after the last one the neighbouring batch follows.
function goToNeighbour(state, p, offset) {
  if (p.i || offset === null) return;
  state.enter = 'first';
  pin(offset);
}

function enter(state, p, s) {
  if (s?.link) follow(s);
  else if (!p.i && state.panes[1] && s?.start === p.opens) {
    state.panes[1].hex.focus();
    choose(state, state.panes[1], 0, true);
  }
}

const follow = s => {
  if (s.link) pin(s.link);
};
const pin = offset => document.dispatchEvent(new CustomEvent('kafkaviz-pin', { detail: offset }));

// When the pane stops at rows that are not loaded, requests them once.
function rest(state, p) {
  clearTimeout(p.rest);
  const from = p.start + Math.max(0, Math.floor((p.hex.scrollTop - PAD_PX) / ROW_PX)) * ROW,
    to = Math.min(p.end, from + ((p.hex.clientHeight / ROW_PX) | 0) * ROW);
  if (from < p.first || to > p.last) p.rest = setTimeout(() => ask(state, p, from), REST_MS);
}

function ask(state, p, byte) {
  if (p.requestedByte === byte) return;
  p.requestedByte = byte;
  const want = {
    ...(state.want?.key === state.key ? state.want : {}),
    key: state.key,
    [p.i ? 'inner' : 'outer']: byte,
  };
  state.want = want;
  state.send('want', want);
}
