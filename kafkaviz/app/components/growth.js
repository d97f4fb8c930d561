// A log that grows, append by append: the .log to scale, the counter, and both indexes.
const HEIGHT = 426;

export default function ({ parentElement: root, data }) {
  return stepping(root, data, { build, draw, wide: m => m.$('draw') });
}

function build(m) {
  const { data } = m;
  m.$('below').textContent = data.words.below;
  m.lines = data.code.map(text => H('div', { class: 'l' }, text));
  m.$('code').replaceChildren(H('div', { class: 'g' }, data.code_title), ...m.lines);
  values(m, data.names);
}

function draw(m, step) {
  const { $, data } = m;
  $('title').textContent = step.title;
  m.lines.forEach((line, n) => line.classList.toggle('on', step.lines.includes(n)));
  putValues(m, step);
  $('way').replaceChildren(way(m));
  $('draw').replaceChildren(picture(m, step, data.segments[step.of]));
}

// The whole way as a strip: a mark a step, those that are more than an append named.
function way(m) {
  const { data } = m, w = Math.max(200, m.$('way').clientWidth || 300), n = data.steps.length, x = scale(0, n, 0, w), g = S('svg', { height: 34, viewBox: `0 0 ${w} 34`, role: 'img', 'aria-label': fill(data.bar.step_of, { step: m.step + 1, count: n }) });
  let right = -99;
  data.steps.forEach((step, i) => {
    const here = i === m.step, entry = step.new[0] && step.what === 'append', other = step.what !== 'append', mark = Math.max(1.5, x(1) - 1.5);
    g.append(S('rect', { x: x(i), y: other ? 16 : entry ? 18 : 20, width: mark, height: other ? 12 : entry ? 10 : 6, rx: 1, fill: V(here ? 'probe' : other ? 'ink-3' : entry ? 'offset' : i < m.step ? 'log' : 'line-2') }));
    if (other && data.steps[i - 1]?.phase !== step.phase && x(i) - right > 6) { g.append(S('text', { x: x(i), y: 11, class: here ? 'strong' : 'axt', style: 'font-size:11px' }, step.phase)); right = x(i) + wide(step.phase); }
  });
  const at = x(m.step) + Math.max(1.5, x(1) - 1.5) / 2;
  g.append(S('path', { d: `M${at - 4} 34h8l-4 -4z`, fill: V('probe') }));
  g.addEventListener('click', event => { const box = g.getBoundingClientRect(); stop(m); go(m, Math.floor((event.clientX - box.left) / box.width * n)); });
  return g;
}

// ---- the picture: the .log, the counter, the two indexes

function picture(m, step, segment) {
  const { data } = m, w = m.width, g = hatches(S('svg', { height: HEIGHT, viewBox: `0 0 ${w} ${HEIGHT}`, role: 'img', 'aria-label': fill(data.words.picture, step) }));
  log(m, g, w, step, segment);
  counter(g, w, step, data);
  index(m, g, w, 236, 'offset', step, segment.offsets.slice(0, step.offsets), step.new[0], data.slots[0], step.index_bytes, '.index');
  index(m, g, w, 336, 'time', step, segment.times.slice(0, step.times), step.new[1], data.slots[1], step.timeindex_bytes, '.timeindex');
  return g;
}

function log(m, g, w, step, segment) {
  const y = 22, h = 40, whole = segment.batches.reduce((sum, one) => Math.max(sum, one[0] + one[1]), 1), end = Math.min(Math.max(m.data.segment_bytes, whole), whole * 1.25), x = scale(0, end, 0, w);
  const marked = new Set(segment.offsets.slice(0, step.offsets).map(one => one[2]));
  g.append(S('text', { x: 0, y: 12, class: 'axt' }, '.log'), S('text', { x: w, y: 12, 'text-anchor': 'end', class: 'axt' }, fill(m.data.words.starts_at, { offset: segment.base })));
  g.append(S('rect', { x: 0, y, width: w, height: h, fill: V('panel'), stroke: V('line'), rx: 2 }));
  const shown = segment.batches.slice(0, step.batches);
  shown.forEach(([position, size], i) => {
    const a = x(position), wide = Math.max(1, x(position + size) - a - 1), now = i === shown.length - 1 && step.what === 'append', entry = marked.has(position);
    const box = S('g', {}, S('rect', { x: a, y, width: wide, height: h, fill: V(now ? 'log' : 'log-soft'), stroke: now ? V('probe') : 'none', 'stroke-width': 1.6, rx: 1.5 }));
    if (entry) box.append(S('rect', { x: a, y: y + h + 3, width: Math.max(4, Math.min(wide, 8)), height: 7, fill: V('offset') }));
    g.append(m.hover(box, () => [fill(m.data.words.batch, { offset: segment.last_offsets[i] }), fill(m.data.words.batch_bytes, { range: `${grp(position)}–${grp(position + size - 1)}`, size: grp(size) }), m.data.words[entry ? 'has_entry' : 'has_none']]));
  });
  if (step.what === 'roll' || step.what === 'fail') g.append(S('rect', { x: Math.min(x(shown.length ? shown.at(-1)[0] + shown.at(-1)[1] : 0), w - 4), y: y - 3, width: 4, height: h + 6, fill: V('probe') }));
  for (const part of [0, .25, .5, .75, 1]) g.append(S('text', { x: part * w, y: y + h + 24, 'text-anchor': part === 0 ? 'start' : part === 1 ? 'end' : 'middle', class: 'axt' }, grp(Math.round(end * part))));
}

function counter(g, w, step, data) {
  const y = 142, h = 22, R = 8, x = scale(0, data.most_since * 1.12, 0, w - R), above = step.since > data.interval, line = x(data.interval);
  g.append(S('text', { x: 0, y: y - 8, class: 'axt' }, data.words.counter_found));
  g.append(S('rect', { x: 0, y, width: w - R, height: h, fill: V('panel'), stroke: V('line'), rx: 2 }));
  if (step.since) g.append(S('rect', { x: 0, y, width: x(step.since), height: h, fill: V(above ? 'offset' : 'log'), rx: 2 }));
  const inside = x(step.since) > 90;
  g.append(S('text', { x: x(step.since) + (inside ? -7 : 7), y: y + 15, 'text-anchor': inside ? 'end' : 'start', style: `font-weight:650;font-size:12.5px;fill:${V(inside ? 'bg' : 'ink')}` }, `${grp(step.since)} B`));
  g.append(S('line', { x1: line, x2: line, y1: y - 4, y2: y + h + 5, stroke: V('ink'), 'stroke-width': 1.5 }));
  const left = line > w * .62;
  g.append(S('text', { x: line + (left ? -5 : 5), y: y + h + 17, 'text-anchor': left ? 'end' : 'start', class: 'strong' }, `index.interval.bytes ${grp(data.interval)}`));
  const judged = step.what === 'append' || step.what === 'fail';
  g.append(S('text', { x: left ? 0 : w - R, y: y + h + 17, 'text-anchor': left ? 'start' : 'end', class: 'axt' }, judged ? fill(data.words.counter_then, { since: above ? 0 : grp(step.since), adds: grp(step.adds) }) : ''));
}

function index(m, g, w, y, kind, step, entries, isNew, slots, fileBytes, name) {
  const said = (key, values) => fill(m.data.words[key], values), top = y + 10, h = 48, most = Math.max(4, Math.floor((w - 150) / 86)), shown = entries.slice(-most), hidden = entries.length - shown.length, cw = 84;
  g.append(S('text', { x: 0, y, style: `font-weight:600;fill:${V(kind + '-text')}` }, said(entries.length === 1 ? 'one_entry' : 'entries', { name, n: grp(entries.length) })),
    S('text', { x: w, y, 'text-anchor': 'end', class: 'axt' }, said(`${kind}_room`, { bytes: grp(fileBytes), n: grp(kind === 'time' ? Math.max(0, slots - 1) : slots) })));
  let x = 0;
  if (hidden) { g.append(S('rect', { x, y: top, width: 56, height: h, rx: 3, fill: V(`${kind}-soft`) }), S('text', { x: x + 28, y: top + 29, 'text-anchor': 'middle', class: 'axt' }, said('more', { n: grp(hidden) }))); x += 59; }
  shown.forEach(([key, value], i) => {
    const last = i === shown.length - 1, fresh = isNew && last;
    const box = S('g', {}, S('rect', { x, y: top, width: cw - 3, height: h, rx: 3, fill: V(`${kind}-soft`), stroke: fresh ? V('probe') : 'none', 'stroke-width': 2 }),
      S('text', { x: x + (cw - 3) / 2, y: top + 20, 'text-anchor': 'middle', class: 'mono', style: `font-size:12px;font-weight:600;fill:${V('ink')}` }, kind === 'time' ? key.slice(3) : key),
      S('text', { x: x + (cw - 3) / 2, y: top + 37, 'text-anchor': 'middle', class: 'mono', style: `font-size:11px;fill:${V('ink-3')}` }, value));
    g.append(m.hover(box, () => [said('slot', { n: grp(hidden + i) }), said(`${kind}_entry`, { key, value })]));
    x += cw;
  });
  const free = fileBytes - entries.length * (kind === 'time' ? 12 : 8), refused = step.what === 'append' && kind === 'time' && step.new[0] && !isNew;
  if (free > 0) g.append(S('rect', { x, y: top + .5, width: Math.max(10, w - x - 1), height: h - 1, rx: 3, fill: V('unwritten-soft'), stroke: V('unwritten'), 'stroke-dasharray': '3 3' }),
    S('text', { x: x + 8, y: top + 29, style: `fill:${V(refused ? 'time-text' : 'ink-3')}${refused ? ';font-weight:600' : ''}` }, refused ? said('refused_time') : w - x > 150 ? said('not_written', { bytes: grp(free) }) : ''));
  else g.append(S('text', { x: x + 8, y: top + 29, class: 'axt' }, said('cut')));
}
