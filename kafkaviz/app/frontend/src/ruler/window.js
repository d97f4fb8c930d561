// The window: the bytes of the .log that the lanes show.
import { addressParameter, writeParameters } from '../address_parameters.js';
import { CENTRE, MIN_WINDOW, PAST, REST_MS, SLICE_WINDOW_ROWS, TAIL_ROOM } from './constants.js';
import { render } from './drawing.js';
import { toNumber } from './message.js';
import { requestSlice } from './selection.js';

// Writes the view to the address; the window only if the pin alone would not restore it.
export function writeAddress(state, more = {}) {
  const range = state.window?.map(Math.round).join('-'),
    own = state.window && range !== centredWindow(state, state.pin).map(Math.round).join('-');
  writeParameters({ ...state.data.address, ...more, window: own ? range : null });
}

// Returns the window in the address, limited to the axis.
export function windowOfAddress(state) {
  const [, from, to] = (/^(\d{1,15})-(\d{1,15})$/.exec(addressParameter('window')) ?? []).map(
      toNumber,
    ),
    span = to - from;
  if (!(span > 0) || from > state.data.size) return null;
  state.framed = true;
  return onAxis(state, from, limitedSpan(state, span));
}

// The end of the axis for a window of this span leaves space after the last batch for unwritten or
// torn parts.
export const hasRoom = lane => lane.slots > lane.written || lane.cut_bytes > 0;

const hasTail = state => state.data.tail || hasRoom(state.data.lanes.index);

const axisEnd = (state, span) =>
  Math.max(state.data.size, state.end + (hasTail(state) ? span * TAIL_ROOM : 0));

function widestSpan(state) {
  if (state.isComplete)
    return Math.max(state.data.size, hasTail(state) ? state.end / (1 - TAIL_ROOM) : state.end);
  return (
    state.batches[Math.min(SLICE_WINDOW_ROWS, state.batches.length) - 1].pos - state.batches[0].pos
  );
}

// Returns a span that is neither too narrow nor wider than the loaded part.
function limitedSpan(state, span) {
  const widest = widestSpan(state);
  return Math.max(Math.min(MIN_WINDOW, widest), Math.min(widest, span));
}

// Returns a window from a byte on, moved as far as needed to be on the axis.
function onAxis(state, from, span) {
  const start = Math.max(0, Math.min(axisEnd(state, span) - span, from));
  return [start, start + span];
}

export function clampedWindow(state, [a, b]) {
  const span = limitedSpan(state, b - a),
    centre = (a + b) / 2;
  const from = Math.max(
    state.bytesFrom,
    Math.min(Math.min(state.bytesTo, axisEnd(state, span)) - span, centre - span / 2),
  );
  return [from, from + span];
}

export function centredWindow(state, { batch, entry }) {
  let span = Math.min(widestSpan(state), Math.max(state.data.span, batch.size * 1.5)),
    from = batch.pos - CENTRE * span;
  const apart =
    entry && entry.aim >= PAST && entry.pos < state.end ? Math.abs(entry.pos - entry.homePos) : 0;
  if (apart && apart < widestSpan(state) / 2) {
    span = Math.max(span, apart * 1.8);
    from = (entry.pos + entry.homePos - span) / 2;
  }
  if (hasTail(state) && batch.pos > state.end - span * 0.72) {
    span = Math.min(widestSpan(state), span * 1.15);
    // show the whole tail unless it is wider than the window
    const last = axisEnd(state, span) - span;
    from = last <= batch.pos ? last : batch.pos - CENTRE * span;
  }
  return onAxis(state, from, span);
}

export const isLoaded = (state, [a, b]) => a >= state.bytesFrom && b <= state.bytesTo;

export function keepInView(state) {
  const b = state.pin.batch;
  if (!b || !state.window) return;
  const [from, to] = state.window,
    span = to - from;
  if (b.pos >= from && b.pos + b.size <= to) return;
  state.window =
    b.size > span ? centredWindow(state, state.pin) : slideWindow(state, b.pos - span / 2);
}

export function slideWindow(state, from) {
  return onAxis(state, from, state.window[1] - state.window[0]);
}

export function zoom(state, factor, at = zoomCentre(state)) {
  const [a, b] = state.window,
    span = limitedSpan(state, (b - a) * factor);
  state.window = onAxis(state, at - ((at - a) * span) / (b - a), span);
  settle(state);
}

// Returns the centre of a zoom by key: the pin, or the middle if the window does not show the pin.
function zoomCentre(state) {
  const [a, b] = state.window,
    pin = state.pin.batch,
    at = pin ? (Math.max(a, pin.pos) + Math.min(b, pin.pos + pin.size)) / 2 : -1;
  return at > a && at < b ? at : (a + b) / 2;
}

// After the window has stopped: writes it to the address, and requests the slice around it if
// needed.
export function settle(state) {
  render(state);
  clearTimeout(state.rest);
  state.rest = setTimeout(() => {
    writeAddress(state);
    if (!isLoaded(state, state.window)) requestWindow(state);
  }, REST_MS);
}

export const requestWindow = state =>
  requestSlice(state, { position: Math.round((state.window[0] + state.window[1]) / 2) });
