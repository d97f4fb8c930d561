// The window: which bytes of the .log the lanes show.
import { CENTRE, LEAST_WINDOW, PAST, REST_MS, SLICE_WINDOW_ROWS, TAIL_ROOM } from './constants.js';
import { show } from './drawing.js';
import { num } from './message.js';
import { ask } from './selection.js';

export const inAddress = name => new URLSearchParams(location.search).get(name) ?? '';

// Into the address goes what its reader sees; of the window only what the pin alone would not bring back.
export function write(state, more = {}) {
  const url = new URL(location.href),
    shown = state.window?.map(Math.round).join('-');
  const own = state.window && shown !== centred(state, state.pin).map(Math.round).join('-'),
    keep = { ...state.data.address, ...more, ...(own ? { window: shown } : {}) };
  for (const name in keep)
    if (keep[name] === null) url.searchParams.delete(name);
    else url.searchParams.set(name, keep[name]);
  if (!own) url.searchParams.delete('window');
  history.replaceState(history.state, '', url);
}

// The window that the address names, as far as the axis goes.
export function framed(state) {
  const [, from, to] = (/^(\d{1,15})-(\d{1,15})$/.exec(inAddress('window')) ?? []).map(num),
    span = to - from;
  if (!(span > 0) || from > state.data.size) return null;
  state.framed = true;
  const wide = Math.max(Math.min(LEAST_WINDOW, widest(state)), Math.min(widest(state), span)),
    start = Math.max(0, Math.min(limit(state, wide) - wide, from));
  return [start, start + wide];
}

// How far the axis goes for a window of this span: behind the last batch there is room for what was never written, or is torn.
export const open = lane => lane.slots > lane.written || lane.cut_bytes > 0;

const trails = state => state.data.tail || open(state.data.lanes.index);

const limit = (state, span) =>
  Math.max(state.data.size, state.end + (trails(state) ? span * TAIL_ROOM : 0));

function widest(state) {
  if (state.whole)
    return Math.max(state.data.size, trails(state) ? state.end / (1 - TAIL_ROOM) : state.end);
  return (
    state.batches[Math.min(SLICE_WINDOW_ROWS, state.batches.length) - 1].pos - state.batches[0].pos
  );
}

export function within(state, [a, b]) {
  const span = Math.max(Math.min(LEAST_WINDOW, widest(state)), Math.min(b - a, widest(state))),
    centre = (a + b) / 2;
  const from = Math.max(
    state.bytesFrom,
    Math.min(Math.min(state.bytesTo, limit(state, span)) - span, centre - span / 2),
  );
  return [from, from + span];
}

export function centred(state, { batch, entry }) {
  let span = Math.min(widest(state), Math.max(state.data.span, batch.size * 1.5)),
    from = batch.pos - CENTRE * span;
  const apart =
    entry && entry.aim >= PAST && entry.pos < state.end ? Math.abs(entry.pos - entry.homePos) : 0;
  if (apart && apart < widest(state) / 2) {
    span = Math.max(span, apart * 1.8);
    from = (entry.pos + entry.homePos - span) / 2;
  }
  if (trails(state) && batch.pos > state.end - span * 0.72) {
    span = Math.min(widest(state), span * 1.15);
    // all that is behind it, unless that is wider than the window
    const last = limit(state, span) - span;
    from = last <= batch.pos ? last : batch.pos - CENTRE * span;
  }
  from = Math.max(0, Math.min(limit(state, span) - span, from));
  return [from, from + span];
}

export const covered = (state, [a, b]) => a >= state.bytesFrom && b <= state.bytesTo;

export function keepInView(state) {
  const b = state.pin.batch;
  if (!b || !state.window) return;
  const [from, to] = state.window,
    span = to - from;
  if (b.pos >= from && b.pos + b.size <= to) return;
  state.window = b.size > span ? centred(state, state.pin) : slide(state, b.pos - span / 2);
}

export function slide(state, from) {
  const span = state.window[1] - state.window[0],
    start = Math.max(0, Math.min(limit(state, span) - span, from));
  return [start, start + span];
}

export function zoom(state, factor, at = middle(state)) {
  const [a, b] = state.window,
    span = Math.max(
      Math.min(LEAST_WINDOW, widest(state)),
      Math.min(widest(state), (b - a) * factor),
    );
  const from = at - ((at - a) * span) / (b - a);
  state.window = [from, from + span];
  state.window = slide(state, from);
  moved(state);
}

// Where keys zoom: at the pin, or at the middle of a window that does not show it.
function middle(state) {
  const [a, b] = state.window,
    pin = state.pin.batch,
    at = pin ? (Math.max(a, pin.pos) + Math.min(b, pin.pos + pin.size)) / 2 : -1;
  return at > a && at < b ? at : (a + b) / 2;
}

// The window came to rest: the address has it, and if it left the slice, the server is asked for the one around it, once.
export function moved(state) {
  show(state);
  clearTimeout(state.rest);
  state.rest = setTimeout(() => {
    write(state);
    if (!covered(state, state.window)) ahead(state);
  }, REST_MS);
}

export const ahead = state =>
  ask(state, { position: Math.round((state.window[0] + state.window[1]) / 2) });
