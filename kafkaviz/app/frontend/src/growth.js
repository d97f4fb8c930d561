// A log that grows append by append: the .log to scale, the counter, and both indexes.
import {
  color,
  endText,
  hatchedDrawing,
  html,
  middleText,
  svg,
  svgLine,
  svgRect,
  svgText,
} from './dom.js';
import { buildValues, goToStep, showValues, startStepper, stop } from './steps.js';
import { fillTemplate, groupDigits, scale, textWidth } from './text.js';

const HEIGHT = 346,
  STRONG = 1.12; // ratio of the width of bold text

export default function ({ parentElement: root, data }) {
  return startStepper(root, data, { build, draw, measured: state => state.$('draw') });
}

function build(state) {
  const { data } = state;
  state.$('below').textContent = data.words.below;
  state.lines = data.code.map(text => html('div', 'l', indent(text)));
  state.$('code').replaceChildren(html('div', 'g', data.code_title), ...state.lines);
  buildValues(state, data.names);
}

// The indent must not break, and is half as deep as in the text.
const indent = text => text.replace(/^ +/, blanks => '\u00a0'.repeat(blanks.length / 2));

function draw(state, step) {
  const { $, data } = state;
  $('title').textContent = step.title;
  state.lines.forEach((line, n) => line.classList.toggle('on', step.lines.includes(n)));
  showValues(state, step);
  $('way').replaceChildren(renderWay(state));
  $('draw').replaceChildren(drawPicture(state, step, data.segments[step.of]));
}

// Draws all steps as a strip with one mark each; steps other than appends are named.
function renderWay(state) {
  const { data } = state,
    w = Math.max(200, state.$('way').clientWidth || 300),
    n = data.steps.length,
    x = scale(0, n, 0, w),
    g = svg('svg', {
      height: 34,
      viewBox: `0 0 ${w} 34`,
      role: 'img',
      'aria-label': fillTemplate(data.bar.step_of, { step: state.step + 1, count: n }),
    });
  let right = -99;
  data.steps.forEach((step, i) => {
    const isCurrent = i === state.step,
      other = step.what !== 'append',
      mark = Math.max(1.5, x(1) - 1.5),
      [y, height] = other ? [16, 12] : step.new[0] ? [18, 10] : [20, 6];
    g.append(
      svgRect(x(i), y, mark, height, { rx: 1, fill: color(markColour(step, i, state.step)) }),
    );
    if (other && data.steps[i - 1]?.phase !== step.phase && x(i) - right > 6) {
      const look = { class: isCurrent ? 'strong' : 'axt', style: 'font-size:11px' };
      g.append(svgText(x(i), 11, step.phase, look));
      right = x(i) + textWidth(step.phase);
    }
  });
  const at = x(state.step) + Math.max(1.5, x(1) - 1.5) / 2;
  g.append(svg('path', { d: `M${at - 4} 34h8l-4 -4z`, fill: color('probe') }));
  g.addEventListener('click', event => {
    const box = g.getBoundingClientRect();
    stop(state);
    goToStep(state, Math.floor(((event.clientX - box.left) / box.width) * n));
  });
  return g;
}

function markColour(step, i, current) {
  if (i === current) return 'probe';
  if (step.what !== 'append') return 'ink-3';
  if (step.new[0]) return 'offset';
  return i < current ? 'log' : 'line-2';
}

// ---- the picture: the .log, the counter, the two indexes

function drawPicture(state, step, segment) {
  const { data } = state,
    w = state.width,
    g = hatchedDrawing(w, HEIGHT, fillTemplate(data.words.picture, step));
  drawLog(state, g, w, step, segment);
  drawCounter(g, w, step, data);
  drawIndex(state, g, step, {
    y: 190,
    kind: 'offset',
    entries: segment.offsets.slice(0, step.offsets),
    isNew: step.new[0],
    slots: data.slots[0],
    fileBytes: step.index_bytes,
    name: '.index',
  });
  drawIndex(state, g, step, {
    y: 280,
    kind: 'time',
    entries: segment.times.slice(0, step.times),
    isNew: step.new[1],
    slots: data.slots[1],
    fileBytes: step.timeindex_bytes,
    name: '.timeindex',
  });
  return g;
}

function drawLog(state, g, w, step, segment) {
  const y = 22,
    h = 40,
    logBytes = Math.max(1, ...segment.batches.map(([position, size]) => position + size)),
    end = Math.min(Math.max(state.data.segment_bytes, logBytes), logBytes * 1.25),
    x = scale(0, end, 0, w);
  const marked = new Set(segment.offsets.slice(0, step.offsets).map(([, , position]) => position));
  g.append(
    svgText(0, 12, '.log', 'axt'),
    endText(w, 12, fillTemplate(state.data.words.starts_at, { offset: segment.base }), 'axt'),
  );
  g.append(svgRect(0, y, w, h, { fill: color('panel'), stroke: color('line'), rx: 2 }));
  const batches = segment.batches.slice(0, step.batches);
  batches.forEach(([position, size], i) => {
    const a = x(position),
      wide = Math.max(1, x(position + size) - a - 1),
      now = i === batches.length - 1 && step.what === 'append',
      entry = marked.has(position);
    const box = svg(
      'g',
      {},
      svgRect(a, y, wide, h, {
        fill: color(now ? 'log' : 'log-soft'),
        stroke: now ? color('probe') : 'none',
        'stroke-width': 1.6,
        rx: 1.5,
      }),
    );
    if (entry)
      box.append(
        svgRect(a, y + h + 3, Math.max(4, Math.min(wide, 8)), 7, { fill: color('offset') }),
      );
    g.append(
      state.hover(box, () => [
        fillTemplate(state.data.words.batch, { offset: segment.last_offsets[i] }),
        fillTemplate(state.data.words.batch_bytes, {
          range: `${groupDigits(position)}–${groupDigits(position + size - 1)}`,
          size: groupDigits(size),
        }),
        state.data.words[entry ? 'has_entry' : 'has_none'],
      ]),
    );
  });
  if (step.what === 'roll' || step.what === 'fail') {
    const [position, size] = batches.at(-1) ?? [0, 0],
      at = Math.min(x(position + size), w - 4);
    g.append(svgRect(at, y - 3, 4, h + 6, { fill: color('probe') }));
  }
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    const anchor = part === 0 ? 'start' : part === 1 ? 'end' : 'middle',
      look = { 'text-anchor': anchor, class: 'axt' };
    g.append(svgText(part * w, y + h + 24, groupDigits(Math.round(end * part)), look));
  }
}

function drawCounter(g, w, step, data) {
  const y = 118,
    h = 22,
    R = 8,
    x = scale(0, data.most_since * 1.12, 0, w - R),
    above = step.since > data.interval,
    line = x(data.interval);
  g.append(svgText(0, y - 8, data.words.counter_found, 'axt'));
  g.append(svgRect(0, y, w - R, h, { fill: color('panel'), stroke: color('line'), rx: 2 }));
  if (step.since)
    g.append(svgRect(0, y, x(step.since), h, { fill: color(above ? 'offset' : 'log'), rx: 2 }));
  const inside = x(step.since) > 56;
  g.append(
    svgText(x(step.since) + (inside ? -7 : 7), y + 15, `${groupDigits(step.since)} B`, {
      'text-anchor': inside ? 'end' : 'start',
      style: `font-weight:650;font-size:12.5px;fill:${color(!inside ? 'ink' : above ? 'bg' : 'on-log')}`,
    }),
  );
  g.append(svgLine(line, y - 4, line, y + h + 5, { stroke: color('ink'), 'stroke-width': 1.5 }));
  // The limit's name is on the side of its line that has space, and the sum on the other. If the
  // sum does not fit there, it goes below.
  const limit = `index.interval.bytes ${groupDigits(data.interval)}`,
    left = line + 5 + textWidth(limit) * STRONG > w,
    isChecked = step.what === 'append' || step.what === 'fail',
    sum = isChecked
      ? fillTemplate(data.words.counter_then, {
          since: above ? 0 : groupDigits(step.since),
          adds: groupDigits(step.adds),
        })
      : '',
    room = left ? w - R - line : line,
    below = y + h + (textWidth(sum) + 10 > room ? 32 : 17);
  g.append(
    svgText(line + (left ? -5 : 5), y + h + 17, limit, {
      'text-anchor': left ? 'end' : 'start',
      class: 'strong',
    }),
    svgText(left ? w - R : 0, below, sum, { 'text-anchor': left ? 'end' : 'start', class: 'axt' }),
  );
}

function drawIndex(state, g, step, { y, kind, entries, isNew, slots, fileBytes, name }) {
  const w = state.width,
    phrase = (key, values) => fillTemplate(state.data.words[key], values),
    top = y + 10,
    h = 48,
    most = Math.max(1, Math.floor((w - (entries.length > 2 ? 110 : 30)) / 84)),
    visible = entries.slice(-most),
    hidden = entries.length - visible.length,
    cw = 84,
    title = phrase(entries.length === 1 ? 'one_entry' : 'entries', {
      name,
      n: groupDigits(entries.length),
    }),
    size = {
      bytes: groupDigits(fileBytes),
      n: groupDigits(kind === 'time' ? Math.max(0, slots - 1) : slots),
    },
    left = w - textWidth(title) * STRONG - 10,
    fits = key => textWidth(phrase(key, size)) < left;
  g.append(
    svgText(0, y, title, { style: `font-weight:600;fill:${color(`${kind}-text`)}` }),
    endText(w, y, phrase(fits(`${kind}_room`) ? `${kind}_room` : 'file_bytes', size), 'axt'),
  );
  let x = 0;
  if (hidden) {
    g.append(
      svgRect(x, top, 56, h, { rx: 3, fill: color(`${kind}-soft`) }),
      middleText(x + 28, top + 29, phrase('more', { n: groupDigits(hidden) }), 'axt'),
    );
    x += 59;
  }
  visible.forEach(([key, value], i) => {
    const outline = isNew && i === visible.length - 1 ? color('probe') : 'none',
      look = { rx: 3, fill: color(`${kind}-soft`), stroke: outline, 'stroke-width': 2 },
      keyLook = { class: 'mono', style: `font-size:12px;font-weight:600;fill:${color('ink')}` },
      valueLook = { class: 'mono', style: `font-size:11px;fill:${color('ink-3')}` },
      middle = x + (cw - 3) / 2;
    const box = svg(
      'g',
      {},
      svgRect(x, top, cw - 3, h, look),
      middleText(middle, top + 20, kind === 'time' ? key.slice(3) : key, keyLook),
      middleText(middle, top + 37, value, valueLook),
    );
    g.append(
      state.hover(box, () => [
        phrase('slot', { n: groupDigits(hidden + i) }),
        phrase(`${kind}_entry`, { key, value }),
      ]),
    );
    x += cw;
  });
  const free = fileBytes - entries.length * (kind === 'time' ? 12 : 8),
    refused = step.what === 'append' && kind === 'time' && step.new[0] && !isNew;
  if (free <= 0) return g.append(svgText(x + 8, top + 29, phrase('cut'), 'axt'));
  const dashed = { stroke: color('unwritten'), 'stroke-dasharray': '3 3' },
    look = { rx: 3, fill: color('unwritten-soft'), ...dashed };
  let text = w - x > 150 ? phrase('not_written', { bytes: groupDigits(free) }) : '',
    style = `fill:${color('ink-2')}`;
  if (refused) {
    text = phrase('refused_time');
    style = `fill:${color('time-text')};font-weight:600`;
  }
  g.append(
    svgRect(x, top + 0.5, Math.max(10, w - x - 1), h - 1, look),
    svgText(x + 8, top + 29, text, { style }),
  );
}
