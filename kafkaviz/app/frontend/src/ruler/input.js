// Pointer, wheel and key input.
import { hasDialog, hasModifier, isField } from '../dom.js';
import { INDEX, LEFT, LOG, TIME } from './constants.js';
import { render } from './drawing.js';
import { goToOffset, select, selectOffset, selectRow } from './selection.js';
import { settle, slideWindow, zoom } from './window.js';

// Adds the listeners and returns a function that removes them.
export function addListeners(state, host) {
  const detail = state.$('detail'),
    resized = () => {
      if (host.clientWidth !== state.width) {
        state.width = host.clientWidth;
        state.cover = null;
        render(state);
      }
    };
  const sizes = new ResizeObserver(resized),
    key = e => onKey(state, e),
    turn = e => onWheel(state, e),
    pin = e => selectOffset(state, e.detail);
  state.$('go-to').onsubmit = e => {
    e.preventDefault();
    goToOffset(state, state.$('of').value);
  };
  state.$('of').onfocus = e => e.target.select();
  state.$('overview').onpointerdown = e => onDrag(state, e);
  detail.onpointermove = e => onPointerMove(state, e);
  detail.onpointerleave = () => hover(state, null);
  detail.onclick = e => {
    const selection = selectionAt(state, e);
    if (selection) {
      select(state, selection);
      render(state);
    }
  };
  state.width = host.clientWidth;
  sizes.observe(host);
  detail.addEventListener('wheel', turn, { passive: false });
  document.addEventListener('keydown', key);
  // an offset selected elsewhere on the page, in the bytes view
  document.addEventListener('kafkaviz-pin', pin);
  return () => {
    sizes.disconnect();
    detail.removeEventListener('wheel', turn);
    document.removeEventListener('keydown', key);
    document.removeEventListener('kafkaviz-pin', pin);
  };
}

// Browsers repeat the last move when the drawing changes below a resting pointer; that is ignored.
function onPointerMove(state, e) {
  const at = `${e.clientX} ${e.clientY}`;
  if (state.pointer === at) return;
  state.pointer = at;
  hover(state, selectionAt(state, e));
}

function onWheel(state, e) {
  if (e.ctrlKey || e.metaKey) return;
  e.preventDefault();
  const span = state.window[1] - state.window[0],
    perPx = span / (state.layout.w - LEFT),
    x = e.clientX - state.$('detail').getBoundingClientRect().left - LEFT;
  if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
    state.window = slideWindow(state, state.window[0] + e.deltaX * perPx);
    settle(state);
  } else if (e.deltaY)
    zoom(state, e.deltaY > 0 ? 1.15 : 1 / 1.15, state.window[0] + Math.max(0, x) * perPx);
}

function onDrag(state, e) {
  if (e.button) return;
  const box = state.$('overview').getBoundingClientRect(),
    perPx = state.scale / (box.width - LEFT),
    [a, b] = state.window;
  const at = (e.clientX - box.left - LEFT) * perPx,
    start = at < a || at > b ? at - (b - a) / 2 : a;
  const move = v => {
    state.window = slideWindow(state, start + (v.clientX - e.clientX) * perPx);
    render(state);
  };
  const ended = new AbortController();
  const drop = () => {
    ended.abort();
    state.isDragging = false;
    settle(state);
  };
  addEventListener('pointermove', move, ended);
  addEventListener('pointerup', drop, ended);
  addEventListener('pointercancel', drop, ended);
  state.isDragging = true;
  move(e);
  e.preventDefault();
}

function onKey(state, e) {
  const path = e.composedPath(),
    isOnRuler = path.includes(state.$('detail')) || e.target === document.body;
  if (!isOnRuler || path.some(isField) || hasModifier(e) || hasDialog()) return;
  const row = state.pin.batch?.i ?? state.from,
    nearer = () => zoom(state, 0.8);
  const act = {
    ArrowRight: () => selectRow(state, row + 1),
    ArrowLeft: () => selectRow(state, row - 1),
    Home: () => selectRow(state, 0),
    End: () => selectRow(state, state.rows - 1),
    '+': nearer,
    '=': nearer,
    '-': () => zoom(state, 1.25),
  }[e.key];
  if (!act) return;
  e.preventDefault();
  act();
}

export function hover(state, selection) {
  const was = state.hover;
  state.$('detail').style.cursor = selection ? 'pointer' : '';
  if (
    selection === was ||
    (selection &&
      was &&
      selection.batch === was.batch &&
      selection.entry === was.entry &&
      selection.time === was.time)
  )
    return;
  state.hover = selection;
  render(state, false);
}

// Returns what is under the pointer, according to the layout of the last drawing.
function selectionAt(state, e) {
  const box = state.$('detail').getBoundingClientRect(),
    x = e.clientX - box.left - LEFT,
    y = e.clientY - box.top;
  const on = lane => y >= lane.y && y < lane.y + lane.h;
  if (x < 0 || !state.layout) return null;
  const [a, b] = state.window,
    position = a + (x * (b - a)) / (state.layout.w - LEFT);
  if (on(LOG)) return ofBatch(batchAt(state, position));
  const { stations, room, cw } = state.layout,
    i = Math.floor(x / room),
    station = stations[i];
  if (!station || station.after || Math.abs(x - (i + 0.5) * room) > Math.max(cw, room - 1) / 2)
    return null;
  const { entry, time } = station;
  if (on(INDEX) && entry) return ofEntry(state, entry);
  if (on(TIME) && time)
    return entry && time.true ? ofEntry(state, entry) : { batch: state.batch(time.batch), time };
  return null;
}

export const ofBatch = batch => batch && { batch };

function ofEntry(state, entry) {
  const batch = state.batch(entry.batch);
  return batch && batch.slot === entry.slot
    ? { batch }
    : { batch: batch ?? state.batch(entry.home), entry };
}

function batchAt(state, position) {
  let lo = 0,
    hi = state.batches.length - 1;
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (state.batches[mid].pos <= position) lo = mid;
    else hi = mid - 1;
  }
  const b = state.batches[lo];
  return b && b.pos <= position && position < b.pos + b.size ? b : null;
}
