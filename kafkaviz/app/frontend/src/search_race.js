// Races both searches of a lookup on one clock, with one strip of pages per search. A probe marks
// its page, and a cold page makes its search wait while the other continues. All times were sent
// for each kind of disk. Probes in memory are shown in slow motion, because one takes about a
// ten-thousandth of a read; the digits of the clock show this. If there are two races, one entry
// apart, a button switches between them.
import { html, icon, pageLegend, setContent, tooltip } from './dom.js';
import { countText, fillTemplate, groupDigits } from './text.js';

const REST_MS = 120,
  // up to this number of cells, each shows its page number; otherwise only pages that are read
  MAX_NAMED = 16,
  PROBE_MS = 170, // duration of a probe on screen
  WAITING_MS = 6000, // total wait of the slower search on screen, within the two limits of a read
  [SHORTEST_MS, LONGEST_MS] = [450, 1700], // duration of a read on screen
  STEP_MS = 900; // duration of a step for readers who prefer reduced motion

export default function ({ parentElement: root, data }) {
  const state = (root.host.__searchRace ??= {});
  state.release?.(); // Streamlit calls this again on each change without cleaning up first
  const same = state.data?.key === data.key;
  Object.assign(state, {
    data,
    path: location.pathname,
    $: name => root.querySelector(`.${name}`),
    hover: tooltip(root),
    calm: matchMedia('(prefers-reduced-motion: reduce)'),
  });
  if (!same) {
    stop(state);
    state.raceNumber = 0;
  }
  build(state);
  choose(state, state.storage?.name ?? addressStorage(state) ?? data.first, same);
  const keys = event => onKey(event, state),
    stays = () => keepAddress(state),
    ends = () => jump(state, Infinity); // a printed page shows the result
  root.addEventListener('keydown', keys);
  addEventListener('beforeprint', ends);
  window.navigation?.addEventListener('currententrychange', stays);
  return (state.release = () => {
    root.removeEventListener('keydown', keys);
    removeEventListener('beforeprint', ends);
    window.navigation?.removeEventListener('currententrychange', stays);
    if (!root.host.isConnected) stop(state);
  });
}

// ---- static parts

function build(state) {
  const { $, data } = state,
    { words } = data,
    race = (state.race = data.races[state.raceNumber]);
  $('cap').textContent = race.caption;
  $('ctl').hidden = Boolean(data.is_question); // a lesson asks for a prediction first
  $('other').hidden = !race.other || data.is_question;
  $('other').textContent = race.other;
  $('other').onclick = () => showOther(state);
  for (const name of ['restart', 'back', 'forward'])
    setContent($(name), { 'aria-label': words[name], title: words[name] }, []);
  $('start').onclick = () => play(state);
  $('restart').onclick = () => jump(state, 0);
  $('back').onclick = () => jump(state, state.at - 1);
  $('forward').onclick = () => jump(state, state.at + 1);
  $('clock').oninput = () => jump(state, Number($('clock').value));
  $('clock').setAttribute('aria-label', words.clock);
  $('disks').firstElementChild.textContent = words.disk;
  $('disk').replaceChildren(
    ...race.storages.map(({ name, label }) => html('option', { value: name }, label)),
  );
  $('disk').onchange = () => {
    stop(state);
    choose(state, $('disk').value);
    keepAddress(state);
  };
  $('key').replaceChildren(
    pageLegend(data.legend),
    html('span', {}, html('b', {}, '1'), words.order),
  );
  state.lanes = race.lanes.map((lane, n) => buildLane(state, lane, n));
  $('lanes').replaceChildren(...state.lanes.map(({ row }) => row));
  $('start').classList.toggle('pri', !race.is_even);
}

// Shows the race of the neighbouring entry, as if its target had been opened.
function showOther(state) {
  const { data, storage } = state;
  stop(state);
  state.raceNumber = (state.raceNumber + 1) % data.races.length;
  build(state);
  choose(state, storage.name);
}

function buildLane(state, lane, n) {
  const { words } = state.data,
    isNamed = state.race.cells.length <= MAX_NAMED,
    first = new Map(), // per cell, the numbers of its first and last probe
    cells = state.race.cells.map((cell, place) => {
      const shade = html(
          'span',
          { class: `c kv-${lane.hot[place] ? 'hot' : 'cold'}` },
          html('u'),
          html('b'),
        ),
        box = html('div', { class: 'page' }, html('span', { class: 'p' }), shade);
      if (lane.warm_from !== null)
        box.append(html('div', { class: 'warm' }, ...buildSectionPart(lane, place)));
      return { box, shade, cell };
    });
  lane.steps.forEach((step, i) => {
    for (const place of step.cells) first.set(place, [first.get(place)?.[0] ?? i + 1, i + 1]);
  });
  cells.forEach(({ box, shade, cell }, place) => {
    const probes = first.get(place);
    if (probes) {
      box.firstChild.textContent = isNamed ? groupDigits(cell.page) : cell.page;
      shade.lastChild.textContent = probes[0];
    } else if (isNamed) box.firstChild.textContent = groupDigits(cell.page);
    state.hover(box, () => hoverTexts(words, cell.page, lane.hot[place], probes));
  });
  const strip = html('div', {
    class: isNamed ? 'strip' : 'strip many',
    role: 'img',
    'aria-label': lane.alt,
  });
  for (const { box, cell } of cells) {
    if (cell.skipped)
      strip.append(
        html('span', { class: 'skipped', title: countText(words, 'skipped', cell.skipped) }, '⋯'),
      );
    strip.append(box);
  }
  const bar = html('i'),
    label = html('span'),
    time = html('div', { class: 'n' }),
    cold = html('div', { class: 'ty mut' });
  const row = html(
    'div',
    { class: 'lane' },
    html(
      'div',
      {},
      html('div', { class: 't' }, lane.title),
      html('div', { class: 'ty fnt' }, lane.since),
      html('div', { class: 'ty fnt' }, lane.first),
    ),
    html(
      'div',
      { class: 'way' },
      strip,
      html('div', { class: 'state' }, label, html('div', { class: 'wait' }, bar)),
    ),
    html('div', { class: 'result' }, time, cold),
  );
  return { lane, n, cells, first, row, bar, label, time, cold };
}

// Returns the warm section below a cell: the whole width, a part of the first page, or nothing.
function buildSectionPart(lane, place) {
  if (place + 1 <= lane.warm_from) return [];
  const part = Math.max(0, lane.warm_from - place);
  return [html('i', { class: 'kv-warm', style: `margin-left:${(part * 100).toFixed(1)}%` })];
}

function hoverTexts(words, page, hot, probes) {
  const name = groupDigits(page),
    texts = [fillTemplate(hot ? words.hover_hot : words.hover_cold, { page: name })];
  if (!probes) return texts;
  const [first, last] = probes;
  texts.push(
    fillTemplate(first === last ? words.hover_probe : words.hover_probes, { first, last }),
  );
  return hot ? texts : [...texts, words.hover_waits];
}

// ---- the clock

// Returns the moments at which something changes (µs), and when each is shown (ms from the start).
export function schedule(lanes, readUs) {
  const all = lanes.flatMap(times => times.flat()),
    moments = [...new Set([0, ...all])].sort((a, b) => a - b),
    reads = Math.max(
      1,
      ...lanes.map(times => times.reduce((sum, [begin, ready]) => sum + ready - begin, 0) / readUs),
    ),
    readMs = Math.max(SHORTEST_MS, Math.min(LONGEST_MS, WAITING_MS / reads)),
    screenMs = [0];
  for (let i = 1; i < moments.length; i++) {
    const took = moments[i] - moments[i - 1];
    screenMs.push(screenMs[i - 1] + (took > readUs / 4 ? (readMs * took) / readUs : PROBE_MS));
  }
  return { moments, screenMs };
}

// Returns the state of a search at a moment: probes done, and the share of the current read.
export function standing(times, now) {
  const done = times.filter(([, , end]) => end <= now).length,
    [begin, ready] = times[done] ?? [Infinity, Infinity];
  const waits = begin <= now && now < ready;
  return { done, waits, loaded: waits ? (now - begin) / (ready - begin) : 0 };
}

function choose(state, name, same = false) {
  const { $, race } = state;
  state.storage = race.storages.find(storage => storage.name === name) ?? race.storages[0];
  state.readUs = state.storage.read_us;
  Object.assign(
    state,
    schedule(
      state.storage.results.map(result => result.times),
      state.readUs,
    ),
  );
  $('disk').value = state.storage.name;
  $('note').textContent = state.storage.note;
  setContent($('clock'), { max: state.moments.length - 1 }, []);
  if (same && state.timer) return renderPlay(state);
  if (!same) state.at = race.is_even || state.hasRun ? Infinity : 0;
  goTo(state, state.at);
}

function goTo(state, at) {
  state.at = Math.max(0, Math.min(state.moments.length - 1, at));
  show(state, state.moments[state.at]);
  renderPlay(state);
}

// Goes to a moment chosen by the visitor. After one race was seen to its end, later ones start
// there.
function lead(state, at) {
  goTo(state, at);
  state.hasRun ||= isOver(state);
}

function isOver(state) {
  return state.at >= state.moments.length - 1;
}

function jump(state, at) {
  const { $ } = state,
    { activeElement } = /** @type {ShadowRoot} */ ($('clock').getRootNode());
  stop(state);
  lead(state, at);
  // keeps the keyboard focus in the race
  if (activeElement?.matches(':disabled')) $('clock').focus();
}

function play(state) {
  if (state.timer) return stop(state);
  if (isOver(state)) goTo(state, 0);
  if (state.calm.matches) {
    const next = () => {
      lead(state, state.at + 1);
      if (isOver(state)) stop(state);
    };
    const timer = setInterval(next, STEP_MS);
    state.timer = () => clearInterval(timer);
    return renderPlay(state);
  }
  const from = performance.now() - state.screenMs[state.at];
  const frame = now => {
    const elapsed = now - from,
      last = state.moments.length - 1;
    while (state.at < last && state.screenMs[state.at + 1] <= elapsed) state.at++;
    if (state.at >= last) {
      stop(state);
      return lead(state, last);
    }
    const part =
      Math.max(0, elapsed - state.screenMs[state.at]) /
      (state.screenMs[state.at + 1] - state.screenMs[state.at]);
    show(
      state,
      state.moments[state.at] + part * (state.moments[state.at + 1] - state.moments[state.at]),
    );
    request = requestAnimationFrame(frame);
  };
  let request = requestAnimationFrame(frame);
  state.timer = () => cancelAnimationFrame(request);
  renderPlay(state);
}

function stop(state) {
  state.timer?.();
  state.timer = null;
  if (state.moments) renderPlay(state);
}

function renderPlay(state) {
  const { words } = state.data;
  state
    .$('start')
    .replaceChildren(
      icon(state.timer ? 'pause' : isOver(state) ? 'replay' : 'play_arrow'),
      state.timer ? words.pause : isOver(state) ? words.again : words.play,
    );
}

// ---- a moment

function show(state, now) {
  const { $, data, race, storage } = state,
    { words } = data,
    over = now >= state.moments.at(-1),
    title = over ? storage.title : race.question;
  if ($('title').textContent !== title) $('title').textContent = title;
  $('clock').value = String(state.at);
  $('now').textContent = formatTime(now);
  $('restart').disabled = $('back').disabled = state.at === 0;
  $('forward').disabled = over;
  const states = state.lanes.map(lane => {
    const { times, text } = storage.results[lane.n];
    return showLane(lane, words, times, now, text);
  });
  const [first, second] = race.lanes.map(lane => lane.title);
  const sentence = fillTemplate(words.clock_at, {
    time: formatTime(now),
    first,
    first_state: states[0],
    second,
    second_state: states[1],
  });
  if (!state.timer) $('clock').setAttribute('aria-valuetext', sentence);
  const finish = storage.results.map(({ times }) => times.at(-1)?.[2] ?? 0);
  state.lanes.forEach(({ row, n }) =>
    row.classList.toggle('fast', now >= finish[n] && finish[n] < finish[1 - n] / 2),
  );
}

function showLane({ lane, cells, first, row, bar, label, time, cold }, words, times, now, text) {
  const { done, waits, loaded } = standing(times, now),
    over = done === times.length,
    step = lane.steps[done],
    waited = lane.steps.slice(0, done + (waits ? 1 : 0)).reduce((n, s) => n + s.cold.length, 0);
  cells.forEach(({ box, shade }, place) => {
    const [probe] = first.get(place) ?? [Infinity],
      isNow = waits && step.cold.includes(place);
    box.classList.toggle('read', probe <= done);
    box.classList.toggle('awaited', isNow);
    shade.style.setProperty('--loaded', isNow ? loaded.toFixed(3) : '0');
  });
  row.classList.toggle('waits', waits);
  bar.style.width = `${(loaded * 100).toFixed(1)}%`;
  const state = over
    ? lane.end
    : waits
      ? fillTemplate(words.waits, {
          page: groupDigits(cells[step.cold[0]].cell.page),
        })
      : done
        ? fillTemplate(words.at_probe, { n: done, slot: groupDigits(lane.steps[done - 1].slot) })
        : words.at_start;
  if (label.textContent !== state) label.textContent = state;
  time.textContent = over ? text : now ? formatTime(now) : '?';
  cold.textContent = waited ? countText(words, 'n_cold', waited) : over ? words.no_cold : '\u00a0';
  return state;
}

// Formats a time like figures.lookup.search_race.time_text.
export function formatTime(us) {
  const [length, unit] = us >= 999_500 ? [1e6, 's'] : us >= 999.5 ? [1000, 'ms'] : [1, 'µs'],
    value = us / length;
  return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${unit}`;
}

// ---- keys and the address

// While the race has the focus, arrow keys move it and not the stepper. The clock and the list of
// disks handle their own.
function onKey(event, state) {
  const { target } = event,
    isField = /^(INPUT|SELECT)$/.test(target.tagName);
  if (event.metaKey || event.ctrlKey || event.altKey) return;
  if (event.key === ' ' && target === state.$('clock')) {
    event.preventDefault();
    return play(state);
  }
  const to = {
    ArrowRight: state.at + 1,
    ArrowLeft: state.at - 1,
    Home: 0,
    End: Infinity,
  }[event.key];
  if (to === undefined) return;
  event.stopPropagation();
  if (isField) return;
  event.preventDefault();
  jump(state, to);
}

// Returns the disk in the address if this race has it.
function addressStorage({ race }) {
  const name = new URLSearchParams(location.search).get('storage');
  return race.storages.find(storage => storage.name === name)?.name;
}

// Writes the disk into the address after a pause; the default one is left out.
function keepAddress(state) {
  const { data, storage } = state;
  if ((addressStorage(state) ?? data.first) === storage.name) return;
  clearTimeout(state.writing);
  state.writing = setTimeout(() => {
    const url = new URL(location.href);
    if (!state.$('disk').isConnected || url.pathname !== state.path) return;
    if (storage.name === data.first) url.searchParams.delete('storage');
    else url.searchParams.set('storage', storage.name);
    history.replaceState(history.state, '', url);
  }, REST_MS);
}
