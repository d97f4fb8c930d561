// The stepper of a lookup: three figures, the pseudocode and its values. Other components on the page hear of each step by the event kv-step.
const BATCHES = 14; // drawn side by side; of a longer scan those around the read

export default function ({ parentElement: root, data, setTriggerValue }) {
  return stepping(root, data, { build, draw, wide: drawnIn, moved, ask: slot => setTriggerValue('slot', slot) });
}

function build(m) {
  const { data } = m;
  m.search = null;
  if (!m.$('cursor').matches(':focus')) m.slot = null;
  m.$('fl').hidden = !data.scans.length;
  m.$('fx').hidden = m.$('two').hidden = !data.searches.length;
  dots(m);
}

function drawnIn(m) { return m.$('fx').hidden ? m.$('say') : m.$('ix'); }

function moved(m, { search, probes, over }) {
  m.told = { key: m.key, search, probes, over };
  document.__kvStep = m.told; // for who comes later
  document.dispatchEvent(new CustomEvent('kv-step', { detail: m.told }));
}

// A dot a step, in groups: one a phase, and again where a phase comes again.
function dots(m) {
  const groups = [], { words } = m.data;
  m.data.steps.forEach((step, i) => { if (groups.at(-1)?.phase !== step.phase) groups.push({ phase: step.phase, own: [] }); groups.at(-1).own.push([step, i]); });
  m.dots = [];
  m.groups = groups.map(({ phase, own }) => {
    const buttons = own.map(([step, i]) => {
      const dot = H('button', { 'aria-label': fill(words.step_text, { n: i + 1, text: step.text }), class: step.over && step.phase === m.data.searches[step.search]?.kind ? 'dn' : '' });
      dot.onclick = () => { stop(m); go(m, i); };
      return m.dots[i] = m.hover(dot, () => [fill(words.step, { n: i + 1 }), step.text]);
    });
    const box = H('div', { class: 'dg' }, H('span', { class: 'lab' }, words[`phase_${phase}`]), H('div', { class: 'dd' }, buttons));
    return { box, from: own[0][1], to: own.at(-1)[1] };
  });
  m.$('way').replaceChildren(...m.groups.map(group => group.box));
  m.marked = -1;
}

function draw(m, step) {
  const { $, data } = m;
  mark(m);
  if (!data.searches.length) return;
  const search = data.searches[step.search], view = seen(step, search);
  code(m, step, search);
  [$('f1t').textContent, $('f2t').textContent, $('f3t').textContent] = step.titles;
  $('f1s').textContent = search.hint;
  if (anew(m, 'index', step.search, step.probes, step.over, step.phase === search.kind)) { $('ix').replaceChildren((search.cells ? drawSmall : drawBig)(m, m.width, search, view)); cursor(m, search); }
  const atLog = step.phase === 'log' || step.phase === 'record' ? step.phase : '';
  if (data.scans.length && anew(m, 'log', step.scan, step.readings, step.ended, atLog, step.over && step.search)) drawLog(m, step, data.scans[step.scan]);
  if (anew(m, 'records', atLog === 'record')) drawRecords(m, step);
}

// Whether a figure shows something else than before: what stays as it is costs no layout and no paint.
function anew(m, figure, ...shown) {
  const was = m.drawn[figure], now = shown.join();
  m.drawn[figure] = now;
  return was !== now;
}

// The dots of the steps: only those between the step before and this one change.
function mark(m) {
  const was = m.marked ?? -1, changed = was < 0 ? m.dots.keys() : Array.from({ length: Math.abs(was - m.step) + 1 }, (_, i) => Math.min(was, m.step) + i);
  for (const i of changed) {
    const dot = m.dots[i];
    dot?.classList.toggle('on', i === m.step);
    dot?.classList.toggle('past', i < m.step);
    dot?.setAttribute('aria-current', i === m.step ? 'step' : 'false');
  }
  m.groups.forEach(group => group.box.classList.toggle('on', group.from <= m.step && m.step <= group.to));
  m.marked = m.step;
}

// What of a search is known at a step: its probes so far, the last of them, the pages they touched.
function seen(step, search) {
  const probes = search.rows.slice(0, step.probes), last = probes.at(-1), pages = new Set(probes.flatMap(p => p.pages));
  const found = step.over && search.slot >= 0 ? search.slot : null;
  const left = found !== null ? [found, found] : last ? last.after : [0, search.entries - 1];
  return { probes, last, pages, found, left, over: step.over, now: !step.over && step.phase === search.kind ? last : null };
}

function code(m, step, search) {
  const { $, data } = m, scan = data.scan_code, id = `${step.search}`;
  if (m.search !== id || !m.lines) {
    m.search = id;
    const line = (text, n) => H('div', { class: 'l' }, H('i', {}, String(n + 1)), H('span', {}, text)), title = text => H('div', { class: 'g' }, text);
    m.lines = { search: search.code.map(line), scan: scan.code.map((text, n) => line(text, search.code.length + n)) };
    $('code').replaceChildren(title(search.code_title), ...m.lines.search, ...(scan.code.length ? [title(scan.title)] : []), ...m.lines.scan);
    values(m, data.values);
  }
  for (const [part, lines] of Object.entries(m.lines)) lines.forEach((line, n) => line.classList.toggle('on', step.line?.[0] === part && step.line[1] === n));
  putValues(m, step);
}

// ---- the index

const canvas = (w, h, label) => hatches(S('svg', { height: h, viewBox: `0 0 ${w} ${h}`, role: 'img', 'aria-label': label }));
const tick = (x, y, r) => [S('circle', { cx: x, cy: y, r, fill: V('hit'), stroke: V('raised'), 'stroke-width': 2 }), S('path', { d: `M${x - 3.6} ${y}l2.6 3 4.6-5.6`, fill: 'none', stroke: V('bg'), 'stroke-width': 1.8 })];
const disc = (x, y, n, fill) => S('g', {}, S('circle', { cx: x, cy: y, r: 9, fill }), S('text', { x, y: y + 4, 'text-anchor': 'middle', style: `fill:${V('bg')};font-size:11.5px;font-weight:650` }, String(n)));
const colour = search => search.kind === 'time' ? 'time' : 'offset';

function clickable(m, search, box, slotAt) {
  if (!m.data.picks || search.kind !== m.data.by) return box;
  box.classList.add('pick');
  box.addEventListener('click', event => m.own.ask({ key: m.key, slot: slotAt(event) }));
  return box;
}

// The same by keyboard: a cursor on one slot, which arrows, Page keys, Home and End move and Enter looks up.
function cursor(m, search) {
  const { words, by, picks } = m.data, box = m.$('cursor'), last = search.entries - 1;
  box.hidden = !picks || search.kind !== by || last < 0;
  if (box.hidden) return;
  const move = to => {
    m.slot = Math.max(0, Math.min(last, to));
    const [left, top, width, height] = m.place(m.slot), told = search.cells?.[m.slot][2] ?? fill(words.pick_slot, { slot: grp(m.slot), last: grp(last) });
    Object.assign(box.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    box.classList.toggle('right', left > m.width / 2);
    put(box, { 'aria-label': words.pick, 'aria-valuemin': 0, 'aria-valuemax': last, 'aria-valuenow': m.slot, 'aria-valuetext': fill(words.pick_at, { told }) }, []);
  };
  move(m.slot ?? Math.max(0, search.slot));
  box.onkeydown = event => {
    const page = Math.ceil(search.page_slots), to = { ArrowRight: m.slot + 1, ArrowUp: m.slot + 1, ArrowLeft: m.slot - 1, ArrowDown: m.slot - 1, PageUp: m.slot + page, PageDown: m.slot - page, Home: 0, End: last }[event.key];
    if (event.metaKey || event.ctrlKey || event.altKey || (to === undefined && event.key !== 'Enter')) return;
    event.preventDefault();
    if (to === undefined) m.own.ask({ key: m.key, slot: m.slot }); else move(to);
  };
}

function drawSmall(m, w, search, view) {
  const { words } = m.data, { probes, now, found, pages } = view, N = search.entries, F = search.warm_from, col = colour(search);
  const time = search.kind === 'time', L = 44, R = time ? 124 : 104, cw = N ? Math.min(150, (w - L - R) / N) : 0, x = s => L + s * cw, tiny = cw < (time ? 42 : 25), H0 = tiny ? 30 : 52, top = 30, rowH = 24, y0 = top + H0 + 34;
  const g = canvas(w, y0 + Math.max(search.rows.length, 1) * rowH + 6, m.$('f1t').textContent), page = s => Math.floor(s / search.page_slots);
  m.place = s => [x(s) + 1, top, Math.max(3, cw - 2), H0];
  for (let s = 1, a = 0; s <= N; s++) if (s === N || page(s) !== page(a)) {
    const p = page(a), on = pages.has(p), word = x(s) - x(a) > 96 && on ? fill(words.page_touched, { n: p }) : x(s) - x(a) > 44 ? fill(words.page, { n: p }) : String(p);
    g.append(S('path', { d: `M${x(a) + 2} ${top - 4}v-5h${x(s) - x(a) - 4}v5`, fill: 'none', stroke: V(on ? 'ink' : 'line-2'), 'stroke-width': on ? 1.8 : 1 }),
      S('text', { x: (x(a) + x(s)) / 2, y: top - 14, 'text-anchor': 'middle', class: on ? 'strong' : 'axt' }, word));
    a = s;
  }
  if (F !== null) {
    g.append(S('rect', { x: x(F), y: top + H0 + 5, width: x(N) - x(F), height: 9, fill: 'url(#hWarm)' }),
      S('text', { x: x(N), y: top + H0 + 26, 'text-anchor': 'end', style: `fill:${V('warm-text')};font-weight:600` }, F === 0 ? words.warm_all : words.warm));
    if (F > 0) g.append(S('rect', { x: x(0), y: top + H0 + 5, width: x(F) - x(0) - 2, height: 9, fill: V('cold-soft') }), S('text', { x: x(0), y: top + H0 + 26, style: `fill:${V('cold-text')}` }, words.cold));
  }
  if (tiny) g.append(S('text', { x: 0, y: top + 19, class: 'axt' }, words.slots), S('text', { x: x(N) + 10, y: top + 19, class: 'axt' }, N ? fill(words.slots_to, { last: N - 1 }) : ''));
  else [words.slot, words.key, time ? words.offset : search.cells[0]?.[1] ? words.byte : ''].forEach((t, i) => g.append(S('text', { x: 0, y: top + [15, 32, 46][i], class: 'axt' }, t)));
  const probed = new Set(probes.map(p => p.slot)), [lo, hi] = view.left ?? [N, -1];
  search.cells.forEach(([key, value, told], s) => {
    const out = probes.length && (s < lo || s > hi), hit = found === s, here = now?.slot === s, mid = x(s) + cw / 2;
    const cell = S('g', { opacity: out && !probed.has(s) ? .42 : 1 }, S('rect', { x: x(s) + 1, y: top, width: Math.max(1, cw - 2), height: H0, rx: 3, fill: V(hit ? 'hit-soft' : out ? 'panel' : `${col}-soft`), stroke: hit ? V('hit') : here ? V('probe') : 'none', 'stroke-width': hit || here ? 2.4 : 0 }));
    if (!tiny) cell.append(S('text', { x: mid, y: top + 15, 'text-anchor': 'middle', class: 'axt', style: 'font-size:11px' }, s + (hit ? ' ✓' : '')),
      S('text', { x: mid, y: top + 32, 'text-anchor': 'middle', class: 'mono', style: `font-size:${cw < 44 ? 11 : 13}px;font-weight:600;fill:${V('ink')}` }, time ? key.slice(cw < 60 ? 9 : 6) : cw < 44 ? key.replace(/\s/g, '') : key),
      S('text', { x: mid, y: top + 46, 'text-anchor': 'middle', class: 'mono', style: `font-size:${cw < 44 ? 9.5 : 11}px;fill:${V('ink-3')}` }, cw < 44 ? value.replace(/\s/g, '') : value));
    else if (hit) cell.append(S('path', { d: `M${mid - 4} ${top + 15}l3 3.4 5.4-7`, fill: 'none', stroke: V('hit'), 'stroke-width': 2 }));
    else if (probed.has(s)) cell.append(S('circle', { cx: mid, cy: top + 15, r: 2.6, fill: V('ink') }));
    g.append(clickable(m, search, m.hover(cell, () => [told]), () => s));
  });
  probes.forEach((p, i) => {
    const y = y0 + i * rowH + rowH / 2, here = p === now, [a, b] = p.before;
    const cut = (l, r) => { if (r >= l) g.append(S('rect', { x: x(l) + 1, y: y - 6, width: (r - l + 1) * cw - 2, height: 12, rx: 3, fill: 'url(#hOut)', stroke: V('line') })); };
    if (!p.after) cut(a, b); else { cut(a, p.after[0] - 1); cut(p.after[1] + 1, b);
      if (p.after[1] >= p.after[0]) g.append(S('rect', { x: x(p.after[0]) + 1, y: y - 6, width: Math.max(1, (p.after[1] - p.after[0] + 1) * cw - 2), height: 12, rx: 3, fill: V(col), opacity: here ? .62 : .3 })); }
    const short = text => time ? text.slice(6) : text;
    g.append(S('text', { x: 0, y: y + 4, class: here ? 'strong' : 'axt' }, words.probe), disc(x(p.slot) + cw / 2, y, i + 1, V(here ? 'probe' : 'ink-2')),
      S('text', { x: w, y: y + 4, 'text-anchor': 'end', class: (here ? 'strong ' : '') + 'mono', style: 'font-size:12px' }, `${short(p.key)} ${p.compare} ${short(search.target)}`));
  });
  return g;
}

function drawBig(m, w, search, view) {
  const { words } = m.data, { probes, now, found, pages } = view, N = search.entries, F = search.warm_from, per = search.page_slots, NP = search.pages, all = search.rows.length, col = colour(search);
  const tight = all > 14, rowH = tight ? 19 : 23, bar = tight ? 9 : 11, sy = 40, sh = 26, y0 = sy + sh + 54, px = scale(0, NP, 0, w);
  const g = canvas(w, y0 + Math.max(1, all) * rowH + 8, m.$('f1t').textContent), slotX = slot => px(slot / per);
  m.place = s => [Math.min(slotX(s), w - 6), sy, Math.max(6, slotX(s + 1) - slotX(s)), sh];
  const strip = S('g', {}, S('rect', { x: 0, y: sy, width: w, height: sh, fill: V(`${col}-soft`), rx: 3 }));
  g.append(S('text', { x: 0, y: 12, class: 'axt' }, search.strip), strip);
  if (NP <= w / 5) for (let i = 1; i < NP; i++) strip.append(S('line', { x1: px(i), x2: px(i), y1: sy, y2: sy + sh, stroke: V('bg') }));
  if (F !== null) {
    const ww = Math.max(4, w - slotX(F)), part = (N - F) * 100 / N;
    strip.append(S('rect', { x: w - ww, y: sy, width: ww, height: sh, fill: ww < 9 ? V('warm') : 'url(#hWarm)' }));
    g.append(S('text', { x: w, y: sy + sh + 15, 'text-anchor': 'end', style: `fill:${V('warm-text')};font-weight:600` }, F === 0 ? words.warm_all : fill(words.warm_share, { share: part.toFixed(part < 1 ? 2 : 0) })));
  }
  clickable(m, search, m.data.picks ? m.hover(strip, () => [words.click]) : strip, event => {
    const box = strip.getBoundingClientRect();
    return Math.max(0, Math.min(N - 1, Math.floor((event.clientX - box.left) / box.width * NP * per)));
  });
  if (probes.length && view.left) { const xa = slotX(view.left[0]), xb = slotX(view.left[1] + 1); g.append(S('rect', { x: Math.min(xa, w - 3), y: sy, width: Math.max(3, xb - xa), height: sh, fill: V(col), opacity: .34, 'pointer-events': 'none' })); }
  for (const k of pages) g.append(S('line', { x1: px(k + .5), x2: px(k + .5), y1: sy - 4, y2: sy + sh + 4, stroke: V('probe'), 'stroke-width': now?.pages.includes(k) ? 2.6 : 1.4 }));
  const named = [...pages].slice(0, 13).map(grp).join(', ') + (pages.size > 13 ? ' …' : '');
  g.append(S('text', { x: 0, y: sy + sh + 15 }, pages.size ? counted(words, 'pages_touched', pages.size, { pages: named }) : words.no_page));
  if (NP <= 14) for (let i = 0; i < NP; i++) g.append(S('text', { x: px(i) + 5, y: sy - 6, class: 'axt', style: 'font-size:11px' }, fill(words.page, { n: i })));
  if (found !== null) g.append(...tick(slotX(found + .5), sy + sh / 2, 8));
  const fw = w - 220;
  g.append(S('text', { x: 0, y: y0 - 16, class: 'axt' }, words.magnifies));
  probes.forEach((p, i) => {
    const y = y0 + i * rowH, [a, b] = p.before, here = p === now, x = scale(a, b + 1, 0, fw), [lo, hi] = p.after ?? [b + 1, b], xa = x(lo), xb = x(hi + 1);
    if (lo > a) g.append(S('rect', { x: 0, y, width: Math.max(0, xa), height: bar, rx: 2, fill: 'url(#hOut)', stroke: V('line') }));
    if (hi < b && p.after) g.append(S('rect', { x: xb, y, width: Math.max(0, fw - xb), height: bar, rx: 2, fill: 'url(#hOut)', stroke: V('line') }));
    if (p.after) {
      g.append(S('rect', { x: xa, y, width: Math.max(2, xb - xa), height: bar, rx: 2, fill: V(col), opacity: here ? .75 : .42 }));
      if (i < probes.length - 1 || !view.over) g.append(S('path', { d: `M${xa} ${y + bar}L0 ${y + rowH}H${fw}L${Math.max(xb, xa + 2)} ${y + bar}Z`, fill: V(col), opacity: .13 }));
    }
    if (i === 0 && F > 0) { const xf = Math.min(x(F), fw - 4); g.append(S('rect', { x: xf, y, width: fw - xf, height: bar, fill: fw - xf < 9 ? V('warm') : 'url(#hWarm)' })); }
    g.append(S('circle', { cx: x(p.slot + .5), cy: y + bar / 2, r: here ? 6.5 : 4.5, fill: V(here ? 'probe' : 'ink-2'), stroke: V('raised'), 'stroke-width': 1.5 }),
      S('text', { x: fw + 14, y: y + bar / 2 + 4, class: here ? 'strong' : '' }, String(i + 1)),
      S('text', { x: fw + 34, y: y + bar / 2 + 4, class: (here ? 'strong ' : '') + 'mono', style: 'font-size:11.5px' }, `${search.kind === 'time' ? p.key.slice(3) : p.key} ${p.compare}`),
      S('text', { x: w, y: y + bar / 2 + 4, 'text-anchor': 'end', class: here ? '' : 'axt', style: 'font-size:11.5px' }, p.after ? fill(words.left, { n: grp(hi - lo + 1) }) : words.none_left));
  });
  if (!probes.length) g.append(S('rect', { x: 0, y: y0, width: fw, height: bar, rx: 2, fill: V(`${col}-soft`) }), S('text', { x: fw + 14, y: y0 + bar / 2 + 4, class: 'axt' }, fill(words.n_slots, { n: grp(N) })));
  return g;
}

// ---- the log and the records

function drawLog(m, step, scan) {
  const { $, data: { words } } = m, w = m.width, y = 34, bh = 36, h = 112, g = canvas(w, h, $('f2t').textContent);
  $('f2s').textContent = scan.hint;
  if (!scan.rows.length) return $('lg').replaceChildren(g);
  const reads = scan.reads.slice(0, step.readings), now = step.phase === 'log' ? reads.at(-1) : null, list = window14(scan.rows, reads.at(-1)?.[0] ?? scan.start);
  const p0 = list[0][0], p1 = list.at(-1)[0] + list.at(-1)[1], x = scale(p0, p1, 0, w), read = new Map();
  for (const one of reads) if (one[0] >= p0 && one[0] < p1) { if (!read.has(one[0])) read.set(one[0], []); read.get(one[0]).push(...one[1].map(size => [size, one === now])); }
  const found = step.ended || step.phase === 'record' ? scan.found : null;
  for (const [pos, size, base, last, newest, count] of list) {
    const xa = x(pos), xb = x(pos + size), rd = read.get(pos), here = rd?.some(one => one[1]), hit = found === pos, full = base === last ? grp(base) : `${grp(base)}–${grp(last)}`;
    const box = S('g', {}, S('rect', { x: xa + 1, y, width: Math.max(1, xb - xa - 2), height: bh, rx: 3, fill: V(hit ? 'hit-soft' : rd ? 'scan-soft' : 'log-soft'), stroke: hit ? V('hit') : here ? V('scan') : 'none', 'stroke-width': 2 }));
    const head = rd ? Math.max(1, Math.min(xb - xa - 2, Math.max(5, x(pos + Math.min(61, Math.max(...rd.map(one => one[0])))) - xa))) : 0, low = head > (xb - xa) * .3; // a wide read lies below the words
    if (rd) box.append(S('rect', { x: xa + 1, y: low ? y + bh - 6 : y, width: head, height: low ? 6 : bh, rx: 2, fill: V('scan'), opacity: here ? 1 : .5 }));
    const text = xb - xa > full.length * 7.4 + 14 ? full : grp(base);
    if (xb - xa > text.length * 7.4 + 12) box.append(S('text', { x: (xa + xb) / 2 + (rd && !low ? 4 : 0), y: y + (low ? 14 : 16), 'text-anchor': 'middle', class: 'mono', style: `font-size:12px;fill:${V('ink')};font-weight:${hit ? 650 : 500}` }, text),
      S('text', { x: (xa + xb) / 2 + (rd && !low ? 5 : 0), y: y + (low ? 26 : 30), 'text-anchor': 'middle', style: 'font-size:11px', class: 'axt' }, bytes(size)));
    g.append(m.hover(box, () => [fill(words.batch, { first: grp(base), last: grp(last) }), counted(words, 'batch_bytes', count, { first: grp(pos), last: grp(pos + size - 1), size: grp(size) }), fill(words.newest, { at: newest })]));
  }
  if (p0 > 0) g.append(S('text', { x: 0, y: y - 10, class: 'axt' }, '…'));
  [...read.keys()].forEach((q, i, all) => { const a = x(all[i - 1]), b = x(q); if (i && b > a) g.append(S('path', { d: `M${a + 4} ${y - 4}C${a + 8} ${y - 20} ${b - 6} ${y - 20} ${b + 2} ${y - 5}`, fill: 'none', stroke: V('scan'), 'stroke-width': 1.6 }), S('path', { d: `M${b - 4} ${y - 11}l6 6 1 -8z`, fill: V('scan') })); });
  const X = x(scan.start), known = step.readings || step.phase === 'record' || (step.over && step.search === m.data.searches.length - 1) || (step.over && m.data.by === 'offset');
  if (known && X >= 0 && X <= w) g.append(S('line', { x1: X, x2: X, y1: 8, y2: y + bh + 4, stroke: V('offset'), 'stroke-width': 2 }), S('text', { x: X > w - 170 ? X - 6 : X + 6, y: 13, 'text-anchor': X > w - 170 ? 'end' : 'start', style: `fill:${V('offset-text')};font-weight:600` }, scan.entry));
  let right = -99;
  for (const p of [...list.map(one => one[0]), p1]) {
    const at = x(p), text = grp(p);
    g.append(S('line', { x1: at, x2: at, y1: y + bh + 3, y2: y + bh + 8, stroke: V('line-2') }));
    if (at - right > text.length * 7 + 14) { g.append(S('text', { x: at, y: y + bh + 21, 'text-anchor': at < 10 ? 'start' : at > w - 34 ? 'end' : 'middle', class: 'axt' }, text)); right = at; }
  }
  g.append(S('text', { x: w, y: h - 4, 'text-anchor': 'end', class: 'axt' }, words.byte_of_log));
  $('lg').replaceChildren(g);
}

// Few batches are all drawn; of many those around the read, which then stays near the left.
function window14(rows, position) {
  if (rows.length <= BATCHES) return rows;
  const at = rows.findLastIndex(row => row[0] <= position), from = Math.max(0, Math.min(rows.length - BATCHES, at - 3));
  return rows.slice(from, from + BATCHES);
}

function drawRecords(m, step) {
  const { $, data } = m, on = step.phase === 'record', hit = data.records.findIndex(one => one[0] === data.hit);
  $('fr').hidden = !data.records.length;
  if (!data.records.length) return;
  const boxes = data.records.map(([offset, text, label, when], i) => m.hover(H('div', { class: on && i === hit ? 'hit' : on && i < hit ? 'skip' : '' }, H('b', {}, text), label), () => [fill(data.words.offset_n, { offset: text }), when]));
  $('rc').replaceChildren(H('div', { class: on ? 'rec' : 'rec off' }, boxes), ...(data.records_hint ? [H('div', { class: 'ty fnt more' }, data.records_hint)] : []));
}
