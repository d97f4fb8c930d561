// The three linked files of a segment: a .timeindex slot, the .index slot written with it, and the
// batch both point at.
import { render } from './drawing.js';
import { addListeners } from './input.js';
import { parseMessage, readTables } from './message.js';
import {
  address,
  applyAnswer,
  defaultSelection,
  renewSelection,
  requestSlice,
  select,
} from './selection.js';
import {
  centredWindow,
  clampedWindow,
  isLoaded,
  requestWindow,
  windowOfAddress,
} from './window.js';

export default function ({ parentElement: root, data, setStateValue }) {
  const state = (root.host.__ruler ??= { key: null });
  state.release?.(); // Streamlit calls this again on each change without cleaning up first
  state.$ = name => root.querySelector(`.${name}`);
  state.send = setStateValue;
  take(state, parseMessage(data));
  state.$('ft').textContent = state.data.title;
  state.$('fs').textContent = state.data.hint;
  state.$('oflab').textContent = state.data.words.offset;
  state.$('detail').setAttribute('aria-label', state.data.words.keys);
  state.release = addListeners(state, root.host);
  render(state);
  return state.release;
}

function take(state, data) {
  const other = state.key !== data.key;
  if (other)
    Object.assign(state, {
      key: data.key,
      window: null,
      framed: false,
      pin: null,
      hover: null,
      address: undefined,
      waiting: null,
      pendingRow: null,
    });
  Object.assign(state, { data, base: BigInt(data.base), asking: false, cover: null });
  readTables(state);
  const offset = address();
  if (offset !== state.address) Object.assign(state, { waiting: offset, address: offset });
  if (state.waiting !== null && state.waiting === data.asked.offset) applyAnswer(state, other);
  else if (state.waiting !== null) requestSlice(state, { offset: state.waiting });
  const batch = state.pendingRow === null ? null : state.batch(state.pendingRow);
  if (batch) {
    state.pendingRow = null;
    select(state, { batch });
  }
  state.pin = renewSelection(state, state.pin) ?? defaultSelection(state);
  state.window ??= windowOfAddress(state) ?? centredWindow(state, state.pin);
  if (state.framed && !isLoaded(state, state.window)) requestWindow(state);
  else if (!isLoaded(state, state.window)) state.window = clampedWindow(state, state.window);
  state.framed = false;
}
