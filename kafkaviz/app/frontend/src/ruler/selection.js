// What is pinned: a batch with its slots; by a pointer, by keys, by an offset, by the address.
import { render } from './drawing.js';
import {
  addressParameter,
  centredWindow,
  keepInView,
  windowOfAddress,
  writeAddress,
} from './window.js';

export const address = () => addressParameter('pin');

// The offset that the address or the reader asked for was looked up.
export function applyAnswer(state, other) {
  const { row, why, offset } = state.data.asked,
    batch = row === null ? null : state.batch(row);
  state.$('of').value = state.waiting;
  showRefusal(state, why);
  state.waiting = null;
  if (!batch) return;
  state.window = windowOfAddress(state);
  if (other) state.pin = defaultSelection(state);
  else select(state, { batch }, offset);
}

// What Python would look at first: a batch, or a slot that is wrong.
export function defaultSelection(state) {
  const { row, slot, time } = state.data.asked,
    sel = { batch: state.batch(row ?? state.from) ?? state.batches[0] };
  if (slot >= 0) sel.entry = state.entry(slot);
  if (time >= 0) sel.time = state.time(time);
  return sel;
}

// The same choice in the objects of a new slice; what lies outside it stays as it was.
export function renewSelection(state, sel) {
  if (!sel) return null;
  const { batch, entry, time } = sel;
  return {
    batch: batch && (state.batch(batch.i) ?? batch),
    entry: entry && (state.entry(entry.slot) ?? entry),
    time: time && (state.time(time.slot) ?? time),
  };
}

// A choice is a batch, and the slot it was chosen by if that is not the batch's own; the chain is all that lights up with it.
export function chain(state, sel) {
  const batch = sel.batch,
    own = batch && (state.entry(batch.slot) ?? state.entry(batch.via));
  const entry = sel.entry ?? (sel.time ? state.entry(sel.time.entry) : own);
  const time =
    sel.time ?? (entry && state.time(entry.time)) ?? (batch && state.alone.get(batch.i)) ?? null;
  return { batch, entry, time, direct: !!batch && !!entry && batch.slot === entry.slot };
}

export function select(state, sel, offset = offsetOf(sel.batch)) {
  state.pin = sel;
  state.hover = null;
  keepInView(state);
  if (!sel.batch) return;
  rememberOffset(state, offset);
  state.send('pin', {
    key: state.key,
    row: sel.batch.i,
    slot: sel.entry?.slot ?? -1,
    time: sel.time?.slot ?? -1,
  });
}

const offsetOf = batch => (batch ? String(batch.first >= 0n ? batch.first : batch.last) : '');

function rememberOffset(state, offset) {
  writeAddress(state, { pin: offset, byte: null }); // a byte that was looked at belongs to the pin before
  state.address = offset;
  state.$('of').value = offset;
  showRefusal(state, '');
}

function showRefusal(state, why) {
  state.$('why').textContent = why;
  state.$('of').setAttribute('aria-invalid', why ? 'true' : 'false');
}

export function selectRow(state, row) {
  const to = Math.max(0, Math.min(state.rows - 1, row)),
    batch = state.batch(to);
  if (batch) {
    select(state, { batch });
    render(state);
  } else {
    state.pendingRow = to;
    requestSlice(state, { row: to });
  }
}

export function goToOffset(state, text) {
  const digits = text.replace(/[\s\u202f]/g, '');
  if (!digits) return;
  const batch = /^\d+$/.test(digits) ? loadedBatch(state, BigInt(digits)) : null;
  if (!batch) {
    state.waiting = digits;
    requestSlice(state, { offset: digits });
    return;
  }
  state.window = null;
  select(state, { batch }, digits);
  state.window = centredWindow(state, state.pin);
  render(state);
}

// An offset that was chosen elsewhere on the page; the window moves only as far as it must.
export function selectOffset(state, offset) {
  const batch = loadedBatch(state, BigInt(offset));
  if (!batch) {
    goToOffset(state, offset);
    return;
  }
  select(state, { batch }, offset);
  render(state);
}

// The batch of the slice that holds an offset, if the slice surely has it.
function loadedBatch(state, offset) {
  const batch = state.batches.find(b => b.last >= offset),
    first = state.batches[0];
  return batch && (batch.i > first.i || (first.first >= 0n && first.first <= offset))
    ? batch
    : null;
}

export function requestSlice(state, what) {
  state.asking = true;
  state.send('slice', { key: state.key, ...what });
}
