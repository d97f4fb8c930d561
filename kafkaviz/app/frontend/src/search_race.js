// Races both searches of a lookup on one clock, with one strip of pages per search. A probe marks
// its page, and a cold page makes its search wait while the other continues. Probes in memory are
// shown in slow motion, because one takes about a ten-thousandth of a read; the digits of the clock
// show this. If there are two races, one entry apart, a button switches between them.
import { html, pageLegend, setContent } from './dom.js';
import { buildStrip, coldReads, formatTime, memoryOf, showStrip } from './page_strip.js';
import { goToStep, isLast, playSteps, startStepper, stop } from './steps.js';
import { countText, fillTemplate, groupDigits } from './text.js';

const PROBE_MS = 170, // duration of a probe on screen
  WAITING_MS = 6000, // total wait of the slower search on screen, within the two limits of a read
  [SHORTEST_MS, LONGEST_MS] = [450, 1700], // duration of a read on screen
  STEP_MS = 900; // duration of a step for readers who prefer reduced motion

export default function ({ parentElement: root, data }) {
  const state = (root.host.__steps ??= { key: null });
  if (state.key !== data.key) state.raceNumber = 0;
  const release = startStepper(root, data, {
    build,
    measured: () => root.host,
    count: () => state.moments.length,
    begin: () => (state.race.is_even || state.hasRun ? Infinity : 0),
    show: () => showMoment(state, state.moments[state.step]),
    play,
    changed: replan,
  });
  const showEnd = () => goToStep(state, Infinity); // a printed page shows the result
  addEventListener('beforeprint', showEnd);
  return () => {
    removeEventListener('beforeprint', showEnd);
    release();
  };
}

// ---- static parts

function build(state) {
  const { $, data } = state,
    { words } = data,
    race = (state.race = data.races[state.raceNumber]);
  $('speed').hidden = true;
  $('other').hidden = !race.other || data.is_question;
  $('other').textContent = race.other;
  $('other').onclick = () => showOther(state);
  state.clock ??= html('input', { type: 'range', class: 'clock', min: 0, step: 1 });
  setContent(state.clock, { 'aria-label': words.clock }, []);
  state.clock.oninput = () => {
    stop(state);
    goToMoment(state, Number(state.clock.value));
  };
  $('way').replaceChildren(state.clock);
  $('key').replaceChildren(...(data.legend ? [pageLegend(data.legend)] : []));
  state.lanes = race.lanes.map((lane, n) => buildLane(state, lane, n));
  $('lanes').replaceChildren(...state.lanes.map(({ row }) => row));
  computeTimes(state);
}

// Shows the race of the neighbouring entry, as if its target had been opened.
function showOther(state) {
  stop(state);
  state.raceNumber = (state.raceNumber + 1) % state.data.races.length;
  build(state);
  goToStep(state, state.race.is_even || state.hasRun ? Infinity : 0);
}

function buildLane(state, lane, n) {
  const { words } = state.data,
    hot = memoryOf(state.data.key, `${state.raceNumber}.${n}`, lane),
    strip = buildStrip(state, lane, state.race.cells, { words, hot, changed: () => replan(state) });
  const bar = html('i'),
    label = html('span'),
    time = html('div', 'n'),
    cold = html('div', 'ty mut');
  const row = html(
    'div',
    'lane',
    html(
      'div',
      {},
      html('div', 't', lane.title),
      html('div', 'ty fnt', lane.since),
      html('div', 'ty fnt', lane.first),
    ),
    html('div', 'lane-pages', strip.strip, html('div', 'state', label, html('div', 'wait', bar))),
    html('div', 'result', time, cold),
  );
  return { lane, n, hot, strip, row, bar, label, time, cold };
}

// ---- the clock

// Returns when each probe begins, has its pages and ends (µs), if it waits for these cold pages.
export function probeTimes(cold, { search_us, probe_us }, readUs) {
  let now = search_us;
  return cold.map(pages => {
    const begin = now,
      ready = begin + pages.length * readUs;
    now = ready + probe_us;
    return [begin, ready, now];
  });
}

// Returns the moments at which something changes (µs), and when each is shown (ms from the start).
export function momentsOf(lanes, readUs) {
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
export function stateAt(times, now) {
  const done = times.filter(([, , end]) => end <= now).length,
    [begin, ready] = times[done] ?? [Infinity, Infinity];
  const waits = begin <= now && now < ready;
  return { done, waits, loaded: waits ? (now - begin) / (ready - begin) : 0 };
}

// Computes all times of both searches, for the chosen disk and the pages that are hot.
function computeTimes(state) {
  const { $, data, disk } = state;
  for (const lane of state.lanes) {
    lane.reads = coldReads(lane.lane.steps, lane.hot);
    lane.times = probeTimes(lane.reads, data, disk.read_us);
    lane.waits = lane.reads.flat();
    lane.finish = lane.times.at(-1)?.[2] ?? 0;
  }
  const times = state.lanes.map(lane => lane.times);
  Object.assign(state, momentsOf(times, disk.read_us));
  setContent(state.clock, { max: state.moments.length - 1 }, []);
  const values = { read: formatTime(disk.read_us) };
  $('cap').textContent = fillTemplate(state.race.caption, values);
  $('note').textContent = fillTemplate(data.note, values);
}

// After another disk, or another page in memory: a race that was over is seen at its end again.
function replan(state) {
  const wasOver = isLast(state);
  stop(state);
  computeTimes(state);
  goToStep(state, wasOver || state.hasRun ? Infinity : 0);
}

// Goes to a moment. After one race was seen to its end, later ones start there.
function goToMoment(state, at) {
  goToStep(state, at);
  state.hasRun ||= isLast(state);
}

function play(state) {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return playSteps(state, STEP_MS);
  const { moments, screenMs } = state,
    last = moments.length - 1,
    from = performance.now() - screenMs[state.step];
  const frame = now => {
    const elapsed = now - from;
    let at = state.step;
    while (at < last && screenMs[at + 1] <= elapsed) at++;
    if (at !== state.step) goToMoment(state, at);
    if (at >= last) return stop(state);
    const part = Math.max(0, elapsed - screenMs[at]) / (screenMs[at + 1] - screenMs[at]);
    showMoment(state, moments[at] + part * (moments[at + 1] - moments[at]));
    request = requestAnimationFrame(frame);
  };
  let request = requestAnimationFrame(frame);
  return () => cancelAnimationFrame(request);
}

// ---- a moment

function showMoment(state, now) {
  const { $, data, race } = state,
    { words } = data,
    over = isLast(state),
    text = over ? resultText(state) : race.question;
  state.hasRun ||= over;
  if ($('say').textContent !== text) $('say').textContent = text;
  state.clock.value = String(state.step);
  $('count').textContent = formatTime(now);
  const states = state.lanes.map(lane => showLane(state, lane, now)),
    [first, second] = race.lanes.map(lane => lane.title);
  if (!state.timer)
    state.clock.setAttribute(
      'aria-valuetext',
      fillTemplate(words.clock_at, {
        time: formatTime(now),
        first,
        first_state: states[0],
        second,
        second_state: states[1],
      }),
    );
  state.lanes.forEach(({ row, n, finish }) =>
    row.classList.toggle('fast', now >= finish && finish < state.lanes[1 - n].finish / 2),
  );
}

// Returns the result of the race in words.
function resultText({ data: { words }, race, lanes: [plain, warm] }) {
  const outcome = plain.waits.length
      ? warm.waits.length
        ? 'both_wait'
        : 'plain_waits'
      : warm.waits.length
        ? 'warm_waits'
        : 'none_waits',
    values = {
      plain: formatTime(plain.finish),
      warm: formatTime(warm.finish),
      plain_cold: countText(words, 'n_cold', plain.waits.length),
      warm_cold: countText(words, 'n_cold', warm.waits.length),
    },
    extra = warm.lane.steps.length - plain.lane.steps.length,
    result = fillTemplate(words[outcome], values);
  if (race.at) return fillTemplate(race.at, { result });
  if (!race.is_in_front || extra <= 0) return result;
  const moreWaits = warm.waits.length - plain.waits.length;
  if (moreWaits <= 0) return countText(words, 'price', extra, { result });
  return countText(words, 'price_waits', extra, {
    result,
    cold: countText(words, 'n_cold', moreWaits),
    time: formatTime(warm.finish - plain.finish),
  });
}

function showLane(state, { lane, strip, row, bar, label, time, cold, times, reads, finish }, now) {
  const { words } = state.data,
    { done, waits, loaded } = stateAt(times, now),
    over = done === times.length,
    waited = reads.slice(0, done + (waits ? 1 : 0)).flat().length,
    pageOf = place => groupDigits(state.race.cells[place].page);
  showStrip(strip, done, waits ? reads[done] : [], loaded);
  row.classList.toggle('waits', waits);
  bar.style.width = `${(loaded * 100).toFixed(1)}%`;
  const text = over
    ? lane.end
    : waits
      ? fillTemplate(words.waits, { page: pageOf(reads[done][0]) })
      : done
        ? fillTemplate(words.at_probe, { n: done, slot: groupDigits(lane.steps[done - 1].slot) })
        : words.at_start;
  if (label.textContent !== text) label.textContent = text;
  time.textContent = over ? formatTime(finish) : now ? formatTime(now) : '?';
  cold.textContent = waited ? countText(words, 'n_cold', waited) : over ? words.no_cold : '\u00a0';
  return text;
}
