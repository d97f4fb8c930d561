// The stepper of a lookup: three figures, pseudocode and its values. If it is given the pages in
// memory (search.memory), it draws the pages of each search and sums up its waits for the disk.
import { hasModifier, html, renderMarkup, setContent } from '../dom.js';
import { buildStrip, coldReads, formatTime, memoryOf, showStrip } from '../page_strip.js';
import { buildValues, goToStep, showValues, startStepper, stop } from '../steps.js';
import { fillTemplate, groupDigits } from '../text.js';
import { drawIndex } from './index_figure.js';
import { drawLog } from './log_figure.js';
import { drawRecords } from './records_figure.js';

const MANY = 10, // more slots need the whole width
  SEARCH_VALUES = 8; // the values after them are of the log

export default function ({ parentElement: root, data, setTriggerValue }) {
  return startStepper(root, data, {
    build,
    draw,
    measured: drawnIn,
    ask: slot => setTriggerValue('slot', slot),
  });
}

function build(state) {
  const { data } = state;
  state.search = null;
  if (!state.$('cursor').matches(':focus')) state.slot = null;
  state.$('log-figure').hidden = !data.scans.length;
  const most = Math.max(0, ...data.searches.map(search => search.cells?.length ?? 0));
  state.$('two').classList.toggle('many', most > MANY); // must be set before the width is measured
  state.$('fx').hidden = state.$('two').hidden = !data.searches.length;
  state.$('waits').append(state.$('disks')); // next to the sum that it changes
  renderDots(state);
}

function drawnIn(state) {
  return state.$('fx').hidden ? state.$('say') : state.$('ix');
}

// Draws one dot per step, grouped by phase; a phase that comes again is a new group.
function renderDots(state) {
  const groups = [],
    { words } = state.data;
  state.data.steps.forEach((step, i) => {
    if (groups.at(-1)?.phase !== step.phase) groups.push({ phase: step.phase, own: [] });
    groups.at(-1).own.push([step, i]);
  });
  state.dots = [];
  state.groups = groups.map(({ phase, own }) => {
    const buttons = own.map(([step, i]) => {
      const dot = html('button', {
        'aria-label': fillTemplate(words.step_text, { n: i + 1, text: step.text }),
        class: step.over && step.phase === state.data.searches[step.search]?.kind ? 'done' : '',
      });
      dot.onclick = () => {
        stop(state);
        goToStep(state, i);
      };
      return (state.dots[i] = state.hover(dot, () => [
        fillTemplate(words.step, { n: i + 1 }),
        step.text,
      ]));
    });
    const label = html('span', 'lab', words[`phase_${phase}`]),
      box = html('div', 'dot-group', label, html('div', 'dots', buttons));
    return { box, from: own[0][1], to: own.at(-1)[1] };
  });
  state.$('way').replaceChildren(...state.groups.map(group => group.box));
  state.marked = -1;
}

function draw(state, step) {
  const { $, data } = state;
  mark(state);
  if (!data.searches.length) return;
  const search = data.searches[step.search];
  renderCode(state, step, search);
  showPages(state, step, search);
  [$('f1t').textContent, $('f2t').textContent, $('f3t').textContent] = step.titles;
  $('f1s').textContent = search.hint;
  if (hasChanged(state, 'index', step.search, step.probes, step.over, step.phase === search.kind)) {
    drawIndex(state, step, search);
    renderCursor(state, search);
  }
  showWhatIsNeeded(state, step);
  const atLog = step.phase === 'log' || step.phase === 'record' ? step.phase : '';
  if (
    data.scans.length &&
    hasChanged(state, 'log', step.scan, step.readings, step.ended, atLog, step.over && step.search)
  )
    drawLog(state, step, data.scans[step.scan]);
  if (hasChanged(state, 'records', atLog === 'record')) drawRecords(state, step);
}

// Draws the pages of the search, those in memory and those not, and the sum of its waits so far.
function showPages(state, step, search) {
  const { $, data, disk } = state,
    { memory } = search;
  $('pages').hidden = $('waits').hidden = !memory;
  if (!memory) return;
  if (hasChanged(state, 'pages', step.search)) {
    const hot = memoryOf(data.key, memory.name, memory.lane);
    state.pages = buildStrip(state, memory.lane, memory.cells, {
      words: data.race_words,
      hot,
      changed: () => {
        state.drawn.index = null;
        draw(state, data.steps[state.step]);
      },
    });
    state.pages.hot = hot;
    // the cells have the scale of the strip of slots below them if no page is left out
    const isWhole = !search.cells && memory.cells.length === search.pages;
    state.pages.strip.classList.toggle('whole', isWhole);
    $('pages').replaceChildren(state.pages.strip);
  }
  state.reads = coldReads(memory.lane.steps, state.pages.hot);
  showStrip(state.pages, step.probes);
  const n = state.reads.slice(0, step.probes).flat().length,
    read = formatTime(disk.read_us);
  $('sum').replaceChildren(
    ...renderMarkup(n ? data.words.waits : data.words.no_waits, {
      n: groupDigits(n),
      read,
      sum: formatTime(n * disk.read_us),
    }),
  );
}

// Fits everything on one screen: hides the log before it is read, and the pseudocode that is not
// running.
function showWhatIsNeeded(state, step) {
  const { $, data } = state,
    part = step.phase === 'log' || step.phase === 'record' ? 'scan' : 'search';
  $('log-figure').hidden = part === 'search' || !data.scans.length;
  for (const [name, lines] of Object.entries(state.lines))
    for (const line of lines) line.hidden = name !== part;
  for (const [name, title] of Object.entries(state.titles)) title.hidden = name !== part;
  for (const cell of state.cells.slice(SEARCH_VALUES)) cell.hidden = part === 'search';
}

// Returns whether a figure has changed; unchanged ones need no layout and paint.
function hasChanged(state, figure, ...parts) {
  const was = state.drawn[figure],
    now = parts.join();
  state.drawn[figure] = now;
  return was !== now;
}

// Updates the dots between the previous and the current step only.
function mark(state) {
  const was = state.marked ?? -1,
    changed =
      was < 0
        ? state.dots.keys()
        : Array.from(
            { length: Math.abs(was - state.step) + 1 },
            (_, i) => Math.min(was, state.step) + i,
          );
  for (const i of changed) {
    const dot = state.dots[i];
    dot?.classList.toggle('on', i === state.step);
    dot?.classList.toggle('past', i < state.step);
    dot?.setAttribute('aria-current', i === state.step ? 'step' : 'false');
  }
  state.groups.forEach(group =>
    group.box.classList.toggle('on', group.from <= state.step && state.step <= group.to),
  );
  state.marked = state.step;
}

function renderCode(state, step, search) {
  const { $, data } = state,
    scan = data.scan_code,
    id = `${step.search}`;
  if (state.search !== id || !state.lines) {
    state.search = id;
    const line = (text, n) =>
        html('div', 'l', html('i', {}, String(n + 1)), html('span', {}, text)),
      title = text => html('div', 'g', text);
    state.lines = {
      search: search.code.map(line),
      scan: scan.code.map((text, n) => line(text, search.code.length + n)),
    };
    state.titles = { search: title(search.code_title), scan: title(scan.title) };
    $('code').replaceChildren(
      state.titles.search,
      ...state.lines.search,
      ...(scan.code.length ? [state.titles.scan] : []),
      ...state.lines.scan,
    );
    buildValues(state, data.values);
  }
  for (const [part, lines] of Object.entries(state.lines))
    lines.forEach((line, n) =>
      line.classList.toggle('on', step.line?.[0] === part && step.line[1] === n),
    );
  showValues(state, step);
}

// A click on a slot looks up its key. With the keyboard, arrows, Page Up and Down, Home and End
// move a cursor over the slots, and Enter looks up.
function renderCursor(state, search) {
  const { words, by, picks } = state.data,
    box = state.$('cursor'),
    last = search.entries - 1;
  box.hidden = !picks || search.kind !== by || last < 0;
  if (box.hidden) return;
  const move = to => {
    state.slot = Math.max(0, Math.min(last, to));
    const [left, top, width, height] = state.place(state.slot),
      sentence =
        search.cells?.[state.slot][2] ??
        fillTemplate(words.pick_slot, { slot: groupDigits(state.slot), last: groupDigits(last) });
    box.style.cssText = `left:${left}px;top:${top}px;width:${width}px;height:${height}px`;
    box.classList.toggle('right', left > state.width / 2);
    setContent(
      box,
      {
        'aria-label': words.pick,
        'aria-valuemin': 0,
        'aria-valuemax': last,
        'aria-valuenow': state.slot,
        'aria-valuetext': fillTemplate(words.pick_at, { entry: sentence }),
      },
      [],
    );
  };
  move(state.slot ?? Math.max(0, search.slot));
  box.onkeydown = event => {
    const page = Math.ceil(search.page_slots),
      to = {
        ArrowRight: state.slot + 1,
        ArrowUp: state.slot + 1,
        ArrowLeft: state.slot - 1,
        ArrowDown: state.slot - 1,
        PageUp: state.slot + page,
        PageDown: state.slot - page,
        Home: 0,
        End: last,
      }[event.key];
    if (hasModifier(event) || (to === undefined && event.key !== 'Enter')) return;
    event.preventDefault();
    if (to === undefined) state.hooks.ask({ key: state.key, slot: state.slot });
    else move(to);
  };
}
