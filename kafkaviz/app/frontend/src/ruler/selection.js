// The pinned batch and its slots, selected by pointer, key, offset or address.
import { addressParameter } from '../address_parameters.js';
import { render } from './drawing.js';
import { centredWindow, keepInView, windowOfAddress, writeAddress } from './window.js';

export const address = () => addressParameter('pin');

// Applies the answer to an offset from the address or the reader.
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

// Returns the initial selection given by Python: a batch, or a faulty slot.
export function defaultSelection(state) {
  const { row, slot, time } = state.data.asked,
    sel = { batch: state.batch(row ?? state.from) ?? state.batches[0] };
  if (slot >= 0) sel.entry = state.entry(slot);
  if (time >= 0) sel.time = state.time(time);
  return sel;
}

// Returns the same selection with the objects of a new slice; parts outside the slice stay.
export function renewSelection(state, sel) {
  if (!sel) return null;
  const { batch, entry, time } = sel;
  return {
    batch: batch && (state.batch(batch.i) ?? batch),
    entry: entry && (state.entry(entry.slot) ?? entry),
    time: time && (state.time(time.slot) ?? time),
  };
}

// Returns everything that a selection highlights. A selection is a batch, and the slot it was
// selected by if that is not the batch's own.
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
  // the byte in the address belongs to the previous pin
  writeAddress(state, { pin: offset, byte: null });
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

// Selects an offset from elsewhere on the page, and moves the window only as far as needed.
export function selectOffset(state, offset) {
  const batch = loadedBatch(state, BigInt(offset));
  if (!batch) {
    goToOffset(state, offset);
    return;
  }
  select(state, { batch }, offset);
  render(state);
}

// Returns the batch with an offset if the slice certainly contains it, else null.
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
