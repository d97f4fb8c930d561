// The parts shared by all steppers: bar, keys, Play, and the step in the address as ?step=, from 1.
// Python sends all steps at once, so a step needs no server. A stepper passes hooks, an object of
// functions: build(state) for new data, draw(state, step), and measured(state) for the element whose
// width is used. A stepper in a lesson has a name. Its step is written as ?step=NAME.7, and steps of
// other names are ignored. data.begin is the first step, from 0. The race has moments instead of
// steps: count(state), begin(state), show(state) and play(state), which returns how to stop it.
// data.shares_page means that a file has several steppers: keys then need the focus, and the
// address is not used.
import { addressParameter, writeParameters } from './address_parameters.js';
import {
  drawingWidth,
  hasDialog,
  hasModifier,
  html,
  icon,
  isField,
  setContent,
  tooltip,
} from './dom.js';
import { fillTemplate } from './text.js';

const REST_MS = 120;
// roles of elements that use arrow keys themselves
const OWN_ARROWS = /^(slider|listbox|option|radio|radiogroup|tab|combobox|menu|menuitem)$/;

export function startStepper(root, data, hooks) {
  const state = (root.host.__steps ??= { key: null });
  state.release?.(); // Streamlit calls this again on each change without cleaning up first
  Object.assign(state, {
    hooks,
    path: location.pathname,
    $: name => root.querySelector(`.${name}`),
    hover: tooltip(root),
  });
  const before = state.data;
  state.data = data;
  if (state.key !== data.key || before.name !== data.name || before.language !== data.language)
    update(state, before);
  return (state.release = addListeners(state, root));
}

const countSteps = state => state.hooks.count?.(state) ?? state.data.steps.length;

const firstStep = state => state.hooks.begin?.(state) ?? state.data.begin ?? 0;

const isInAddress = ({ data, hooks }) => !data.shares_page && !hooks.count;

// Returns the step in the address, from 0, or the first step if there is none for this stepper.
function stepOfAddress(state) {
  if (!isInAddress(state)) return firstStep(state);
  const text = addressParameter('step'),
    name = state.data.name ? `${state.data.name}.` : '';
  return text.startsWith(name) && /^\d+$/.test(text.slice(name.length))
    ? Number(text.slice(name.length)) - 1
    : firstStep(state);
}

// A new story starts at its first step; the same story in another language keeps its step.
function update(state, before) {
  const { data } = state,
    first = state.key === null,
    same = state.key === data.key && before?.name === data.name;
  stop(state);
  Object.assign(state, { key: data.key, drawn: {} });
  connectDisks(state);
  state.hooks.build(state);
  renderWords(state);
  measureWidth(state);
  goToStep(state, first ? stepOfAddress(state) : same ? state.step : firstStep(state), !first);
}

// Writes the labels of the bar in the reader's language.
function renderWords(state) {
  const { bar } = state.data;
  state.$('bar').hidden = state.data.is_question || countSteps(state) < 2;
  state.$('bar').setAttribute('aria-label', bar.steps);
  for (const name of ['first', 'prev', 'next', 'last'])
    setContent(state.$(name), { 'aria-label': bar[name], title: bar[`${name}_key`] }, []);
  state.$('play').title = bar.play_key;
  setContent(state.$('speed'), { 'aria-label': bar.speed, title: bar.speed_about }, []);
  [...state.$('speed').options].forEach((option, i) => {
    option.textContent = bar[['slow', 'usual', 'fast'][i]];
  });
}

function addListeners(state, root) {
  const { $ } = state,
    { host } = root,
    goOnClick = to => () => {
      stop(state);
      goToStep(state, to());
    };
  $('first').onclick = goOnClick(() => 0);
  $('prev').onclick = goOnClick(() => state.step - 1);
  $('next').onclick = goOnClick(() => state.step + 1);
  $('last').onclick = goOnClick(() => Infinity);
  $('play').onclick = () => play(state);
  $('speed').onchange = () => {
    if (state.timer) {
      stop(state);
      play(state);
    }
  };
  renderPlay(state);
  const sizes = new ResizeObserver(() => {
    const before = state.width;
    measureWidth(state);
    if (state.width !== before) {
      state.drawn = {};
      show(state);
    }
  });
  const keys = event => onKey(event, state),
    keepParameters = () => {
      keepAddress(state);
      keepDisk(state);
    },
    ground = state.data.shares_page ? host : document,
    keepFocus = returnKeys(root);
  sizes.observe(host);
  ground.addEventListener('keydown', keys);
  window.navigation?.addEventListener('currententrychange', keepParameters);
  return () => {
    keepFocus();
    sizes.disconnect();
    ground.removeEventListener('keydown', keys);
    window.navigation?.removeEventListener('currententrychange', keepParameters);
    if (!host.isConnected) stop(state);
  };
}

// After a pointer used a control, it gives up the focus, so that the keys are the stepper's again.
// With the keyboard the focus stays where it is.
function returnKeys(root) {
  const ways = {
    pointerdown: () => {
      root.host.__byPointer = true;
    },
    keydown: () => {
      root.host.__byPointer = false;
    },
    click: () => leave(/^BUTTON$/),
    change: () => leave(/^(SELECT|INPUT)$/),
    pointerup: () => leave(/^INPUT$/), // a slider that did not move
  };
  const leave = kind => {
    const { activeElement } = root;
    if (root.host.__byPointer && kind.test(activeElement?.tagName)) activeElement.blur();
  };
  for (const [name, act] of Object.entries(ways)) root.addEventListener(name, act);
  return () => {
    for (const [name, act] of Object.entries(ways)) root.removeEventListener(name, act);
  };
}

// Measured once and on resize, because reading a width while drawing forces a layout of the page.
function measureWidth(state) {
  state.width = drawingWidth(state.hooks.measured(state));
}

// Sliders, lists and groups of choices keep their arrow keys, and Space presses a focused button.
function onKey(event, state) {
  const path = event.composedPath(),
    role = node => node.getAttribute?.('role') ?? '';
  const isSpaceOnClock = event.key === ' ' && path[0].matches?.('.clock'), // which does not use Space
    busy = !isSpaceOnClock && path.some(n => isField(n) || OWN_ARROWS.test(role(n)));
  if (busy || hasModifier(event) || hasDialog()) return;
  if (event.key === ' ' && path.some(n => /^(BUTTON|A|SUMMARY)$/.test(n.tagName ?? ''))) return;
  const act = {
    ArrowRight: () => goToStep(state, state.step + 1),
    ArrowLeft: () => goToStep(state, state.step - 1),
    Home: () => goToStep(state, 0),
    End: () => goToStep(state, Infinity),
    ' ': () => play(state),
  }[event.key];
  if (!act) return;
  if (event.key !== ' ') stop(state);
  act();
  event.preventDefault();
}

export function goToStep(state, to, keep = true) {
  state.step = Math.max(0, Math.min(countSteps(state) - 1, to));
  show(state);
  renderPlay(state);
  if (keep) scheduleWrite(state);
}

export const isLast = state => state.step >= countSteps(state) - 1;

function scheduleWrite(state) {
  if (!isInAddress(state)) return;
  clearTimeout(state.writing);
  state.writing = setTimeout(() => writeAddress(state), REST_MS);
}

// Python writes the address as it knows it, with the initial step; then the step is written again.
function keepAddress(state) {
  if (isInAddress(state) && stepOfAddress(state) !== state.step) scheduleWrite(state);
}

function show(state) {
  const { $, data } = state;
  $('first').disabled = $('prev').disabled = state.step === 0;
  $('next').disabled = $('last').disabled = isLast(state);
  if (state.hooks.show) return state.hooks.show(state);
  const step = data.steps[state.step];
  $('say').textContent = step.text;
  $('count').textContent = fillTemplate(data.bar.step_of, {
    step: state.step + 1,
    count: countSteps(state),
  });
  state.hooks.draw(state, step);
}

// Writes the address after a pause, because that takes the browser longer than drawing a step.
function writeAddress(state) {
  if (!state.$('say').isConnected || location.pathname !== state.path) return;
  writeParameters({ step: `${state.data.name ? `${state.data.name}.` : ''}${state.step + 1}` });
}

export function stop(state) {
  state.timer?.();
  state.timer = null;
  renderPlay(state);
}
function renderPlay(state) {
  const sign = icon(state.timer ? 'pause' : 'play_arrow'),
    word = state.data.bar[state.timer ? 'pause' : 'play'];
  state.$('play').replaceChildren(sign, word);
}

function play(state) {
  if (state.timer) return stop(state);
  if (isLast(state)) goToStep(state, 0);
  const playOn = state.hooks.play ?? playSteps;
  state.timer = playOn(state, Number(state.$('speed').value));
  renderPlay(state);
}

// Goes on by one step each time, up to the last one; returns how to stop it.
export function playSteps(state, everyMs) {
  const timer = setInterval(() => {
    goToStep(state, state.step + 1);
    if (isLast(state)) stop(state);
  }, everyMs);
  return () => clearInterval(timer);
}

// ---- the disk that cold pages are on, kept in the address as ?storage=; the default is left out

function connectDisks(state) {
  const { $, data } = state,
    { disks } = data;
  $('disks').hidden = !disks;
  if (!disks) return;
  const known = name => disks.find(disk => disk.name === name);
  state.disk = known(state.disk?.name ?? addressParameter('storage')) ?? known(data.first_disk);
  $('disks').firstElementChild.textContent = data.disk_label;
  $('disk').setAttribute('aria-label', data.disk_label); // narrow windows hide the label
  $('disk').replaceChildren(
    ...disks.map(({ name, label }) => html('option', { value: name }, label)),
  );
  $('disk').value = state.disk.name;
  $('disk').onchange = () => {
    stop(state);
    state.disk = known($('disk').value);
    state.drawn = {};
    keepDisk(state);
    if (state.hooks.changed) state.hooks.changed(state);
    else show(state);
  };
}

function keepDisk(state) {
  const { data, disk } = state;
  if (!disk || (addressParameter('storage') || data.first_disk) === disk.name) return;
  clearTimeout(state.writingDisk);
  state.writingDisk = setTimeout(() => {
    if (!state.$('disk').isConnected || location.pathname !== state.path) return;
    writeParameters({ storage: disk.name === data.first_disk ? null : disk.name });
  }, REST_MS);
}

// Builds a named cell for each value; showValues fills the cells.
export function buildValues(state, names) {
  state.cells = names.map(text => html('div', {}, html('div', 'lab', text), html('div', 'v')));
  state.$('vals').replaceChildren(...state.cells);
}
export function showValues(state, step) {
  step.values.forEach(([text, changed], n) => {
    state.cells[n].lastChild.textContent = text;
    state.cells[n].classList.toggle('changed', changed);
  });
}
