// Plain beside warm on the same target: both searches, probe by probe in step with the stepper, and what they cost so far.
export default function ({ parentElement: root, data }) {
  const m = root.host.__lanes ??= {};
  m.release?.();
  Object.assign(m, { data, $: name => root.querySelector('.' + name) });
  m.$('ct').textContent = data.title;
  m.$('note').textContent = data.words.note;
  const follow = event => show(m, event.detail), sizes = new ResizeObserver(() => { measure(m); show(m, m.at); });
  build(m);
  document.addEventListener('kv-step', follow);
  sizes.observe(root.host);
  show(m, document.__kvStep);
  return m.release = () => { document.removeEventListener('kv-step', follow); sizes.disconnect(); };
}

function build(m) {
  const number = one => H('div', { class: 'n' }, H('b', {}, H('span', {}), H('small', {})), H('span', { class: 'ty fnt' }, one));
  const { words } = m.data;
  m.rows = m.data.lanes.map(lane => {
    const box = H('div', { class: 'pl' }), probes = number(counted(words, 'probes', lane.slots.length)), pages = number(counted(words, 'pages', lane.pages.at(-1) ?? 0));
    return { lane, box, probes, pages, row: H('div', { class: 'lane' }, H('div', {}, H('div', { class: 't' }, lane.title), H('div', { class: 'ty fnt' }, lane.since)), box, probes, pages) };
  });
  m.$('lanes').replaceChildren(...m.rows.map(one => one.row));
  measure(m);
}

function measure(m) { m.width = Math.max(120, m.rows[0].box.clientWidth); }

// All probes before the stepper came to this search are none, behind it all.
function show(m, at) {
  m.at = at;
  const { data } = m, known = at?.key === data.key ? at : { search: Infinity, over: true };
  const made = known.search < data.search ? 0 : known.search > data.search || known.over ? Infinity : known.probes;
  for (const { lane, box, probes, pages } of m.rows) {
    const n = Math.min(made, lane.slots.length);
    if (box.dataset.shown === `${n} ${m.width}`) continue;
    box.dataset.shown = `${n} ${m.width}`;
    const say = (cell, count, all) => { cell.firstChild.firstChild.textContent = count; cell.firstChild.lastChild.textContent = count < all ? ` ${fill(data.words.of_all, { n: all })}` : ''; };
    say(probes, n, lane.slots.length);
    say(pages, n ? lane.pages[n - 1] : 0, lane.pages.at(-1) ?? 0);
    box.replaceChildren(path(data, lane, made, m.width));
  }
}

function path(data, lane, made, w) {
  const slots = lane.slots.slice(0, made), x = scale(0, Math.max(1, data.entries), 4, w - 4), col = data.kind === 'time' ? 'time' : 'offset';
  const g = hatches(S('svg', { height: 36, viewBox: `0 0 ${w} 36`, role: 'img', 'aria-label': fill(data.words.drawn, { title: lane.title, made: slots.length, n: lane.slots.length }) }));
  g.append(S('rect', { x: 4, y: 22, width: w - 8, height: 8, fill: V(`${col}-soft`), rx: 2 }));
  if (lane.warm_from !== null) { const a = x(lane.warm_from); g.append(S('rect', { x: Math.min(a, w - 8), y: 22, width: Math.max(4, w - 4 - a), height: 8, fill: w - 4 - a < 9 ? V('warm') : 'url(#hWarm)' })); }
  slots.forEach((slot, i) => {
    if (!i) return;
    const a = x(slots[i - 1] + .5), b = x(slot + .5), up = Math.min(16, 3 + Math.abs(b - a) / 9);
    g.append(S('path', { d: `M${a} 22Q${(a + b) / 2} ${22 - up * 2} ${b} 22`, fill: 'none', stroke: V('ink-3'), 'stroke-width': 1, opacity: .75 }));
  });
  slots.forEach((slot, i) => g.append(S('circle', { cx: x(slot + .5), cy: 26, r: i === slots.length - 1 ? 4.6 : 3.2, fill: V('probe'), stroke: V('bg'), 'stroke-width': 1 })));
  return g;
}
