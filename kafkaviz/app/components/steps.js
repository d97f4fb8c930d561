// What every stepper shares: its bar, its keys, Play, and the step in the address as ?step=, counted from 1. Python sends all steps at
// once: a step here costs one drawing and no server. A stepper's own part is an object of functions: build(m) when other data came,
// draw(m, step), wide(m) the element whose width it draws for, and, if it likes, moved(m, step). A stepper of a lesson has a name: its
// step stands there as ?step=NAME.7, and what another one left in the address is nothing to it. data.begin: where it begins, from 0.
const REST_MS = 120;

function stepping(root, data, own) {
  const m = root.host.__steps ??= { key: null };
  m.release?.(); // Streamlit calls anew on each change, without cleaning up before
  Object.assign(m, { own, path: location.pathname, $: name => root.querySelector('.' + name), hover: tooltip(root) });
  const before = m.data;
  m.data = data;
  if (m.key !== data.key || before.name !== data.name || before.language !== data.language) take(m, before);
  return m.release = listen(m, root.host);
}

const begin = m => m.data.begin ?? 0;

// The step that the address has for this stepper, from 0; where it has none, or another's, the one that it begins at.
function stated(m) {
  const text = new URLSearchParams(location.search).get('step') ?? '', name = m.data.name ? `${m.data.name}.` : '';
  return text.startsWith(name) && /^\d+$/.test(text.slice(name.length)) ? Number(text.slice(name.length)) - 1 : begin(m);
}

// Another story begins at its first step, the same one in another language stays where it is.
function take(m, before) {
  const { data } = m, first = m.key === null, same = m.key === data.key && before?.name === data.name;
  stop(m);
  Object.assign(m, { key: data.key, drawn: {} });
  speak(m);
  m.own.build(m);
  measure(m);
  go(m, first ? stated(m) : same ? m.step : begin(m), !first);
}

// The bar in the reader's language.
function speak(m) {
  const { bar } = m.data;
  m.$('bar').setAttribute('aria-label', bar.steps);
  for (const one of ['first', 'prev', 'next', 'last']) put(m.$(one), { 'aria-label': bar[one], title: bar[`${one}_key`] }, []);
  m.$('play').title = bar.play_key;
  put(m.$('speed'), { 'aria-label': bar.speed, title: bar.speed_about }, []);
  [...m.$('speed').options].forEach((option, i) => { option.textContent = bar[['slow', 'usual', 'fast'][i]]; });
}

function listen(m, host) {
  const { $ } = m, jump = to => () => { stop(m); go(m, to()); };
  $('first').onclick = jump(() => 0); $('prev').onclick = jump(() => m.step - 1);
  $('next').onclick = jump(() => m.step + 1); $('last').onclick = jump(() => Infinity);
  $('play').onclick = () => play(m);
  $('speed').onchange = () => { if (m.timer) { stop(m); play(m); } };
  label(m);
  const sizes = new ResizeObserver(() => { const before = m.width; measure(m); if (m.width !== before) { m.drawn = {}; show(m); } });
  const keys = event => onKey(event, m), stays = () => stay(m);
  sizes.observe(host);
  document.addEventListener('keydown', keys);
  window.navigation?.addEventListener('currententrychange', stays);
  return () => { sizes.disconnect(); document.removeEventListener('keydown', keys); window.navigation?.removeEventListener('currententrychange', stays); if (!host.isConnected) stop(m); };
}

// Once, and again when the page is resized: to ask for a width in the middle of drawing lays out the page anew.
function measure(m) { m.width = widthOf(m.own.wide(m)); }

// Arrows of a slider, a list or a group of choices stay theirs; Space on a button presses that.
function onKey(event, m) {
  const path = event.composedPath(), role = node => node.getAttribute?.('role') ?? '';
  const busy = path.some(n => /^(INPUT|SELECT|TEXTAREA)$/.test(n.tagName ?? '') || n.isContentEditable || /^(slider|listbox|option|radio|radiogroup|tab|combobox|menu|menuitem)$/.test(role(n)));
  if (busy || event.metaKey || event.ctrlKey || event.altKey || document.querySelector('[role=dialog]')) return;
  if (event.key === ' ' && path.some(n => /^(BUTTON|A|SUMMARY)$/.test(n.tagName ?? ''))) return;
  const act = { ArrowRight: () => go(m, m.step + 1), ArrowLeft: () => go(m, m.step - 1), Home: () => go(m, 0), End: () => go(m, Infinity), ' ': () => play(m) }[event.key];
  if (!act) return;
  if (event.key !== ' ') stop(m);
  act();
  event.preventDefault();
}

function go(m, to, keep = true) {
  m.step = Math.max(0, Math.min(m.data.steps.length - 1, to));
  show(m);
  m.own.moved?.(m, m.data.steps[m.step]);
  if (!keep) return;
  rest(m);
}

function rest(m) { clearTimeout(m.writing); m.writing = setTimeout(() => write(m), REST_MS); }

// Python writes the address as it knows it, with the step that the page was opened at: then the step goes in again.
function stay(m) {
  if (stated(m) !== m.step) rest(m);
}

function show(m) {
  const { $, data } = m, step = data.steps[m.step], count = data.steps.length;
  $('say').textContent = step.text;
  $('count').textContent = fill(data.bar.step_of, { step: m.step + 1, count });
  $('first').disabled = $('prev').disabled = m.step === 0;
  $('next').disabled = $('last').disabled = m.step === count - 1;
  m.own.draw(m, step);
}

// The address, once the steps rest: to write it takes the browser longer than to draw a step.
function write(m) {
  const url = new URL(location);
  if (!m.$('say').isConnected || url.pathname !== m.path) return;
  url.searchParams.set('step', `${m.data.name ? `${m.data.name}.` : ''}${m.step + 1}`);
  history.replaceState(history.state, '', url);
}

function stop(m) { clearInterval(m.timer); m.timer = null; label(m); }
function label(m) { m.$('play').replaceChildren(icon(m.timer ? 'pause' : 'play_arrow'), m.data.bar[m.timer ? 'pause' : 'play']); }

function play(m) {
  if (m.timer) return stop(m);
  const last = () => m.step >= m.data.steps.length - 1;
  if (last()) go(m, 0);
  m.timer = setInterval(() => { go(m, m.step + 1); if (last()) stop(m); }, Number(m.$('speed').value));
  label(m);
}

// The cells of the values, each under its name; and what a step puts in them.
function values(m, names) {
  m.cells = names.map(text => H('div', {}, H('div', { class: 'lab' }, text), H('div', { class: 'v' })));
  m.$('vals').replaceChildren(...m.cells);
}
function putValues(m, step) { step.values.forEach(([text, changed], n) => { m.cells[n].lastChild.textContent = text; m.cells[n].classList.toggle('ch', changed); }); }
