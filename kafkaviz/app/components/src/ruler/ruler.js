// The three files of a segment, linked: a slot of .timeindex, the slot of .index it was written with, the batch both point at.
import { show } from './drawing.js';
import { listen } from './input.js';
import { opened, read } from './message.js';
import { address, answer, ask, pick, renewed, told } from './selection.js';
import { ahead, centred, covered, framed, within } from './window.js';

export default function ({ parentElement: root, data, setStateValue }) {
  const state = (root.host.__ruler ??= { key: null });
  state.release?.(); // Streamlit calls anew on each change, without cleaning up before
  state.$ = name => root.querySelector(`.${name}`);
  state.send = setStateValue;
  take(state, opened(data));
  state.$('ft').textContent = state.data.title;
  state.$('fs').textContent = state.data.hint;
  state.$('oflab').textContent = state.data.words.offset;
  state.$('dt').setAttribute('aria-label', state.data.words.keys);
  state.release = listen(state, root.host);
  show(state);
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
      wanted: null,
    });
  Object.assign(state, { data, base: BigInt(data.base), asking: false, cover: null });
  read(state);
  const shown = address();
  if (shown !== state.address) Object.assign(state, { waiting: shown, address: shown });
  if (state.waiting !== null && state.waiting === data.asked.offset) answer(state, other);
  else if (state.waiting !== null) ask(state, { offset: state.waiting });
  const wanted = state.wanted === null ? null : state.batch(state.wanted);
  if (wanted) {
    state.wanted = null;
    pick(state, { batch: wanted });
  }
  state.pin = renewed(state, state.pin) ?? told(state);
  state.window ??= framed(state) ?? centred(state, state.pin);
  if (state.framed && !covered(state, state.window)) ahead(state);
  else if (!covered(state, state.window)) state.window = within(state, state.window);
  state.framed = false;
}
