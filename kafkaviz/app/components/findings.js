// Health: the verdict on the next start, what it reads, and the findings: a list, and the chosen one with its bytes.
// Everything was sent; choosing happens here, and goes into the address as ?finding= and ?severity=.
const NAMES = { all: 'all', error: 'errors', warning: 'warnings', info: 'infos' }; // by severity, their words
const BAR = { gap: 2, top: 20, height: 24, tail: 7, letter: 6.4 };
const sev = (m, kind) => H('span', { class: `sev ${kind}`, role: 'img', 'aria-label': m.data.words[kind] });
const asked = name => new URLSearchParams(location.search).get(name);

export default function ({ parentElement: root, data }) {
  const m = root.host.__findings ??= {};
  m.release?.(); // Streamlit calls anew on each change, without cleaning up before
  m.$ = name => root.querySelector('.' + name);
  if (m.key !== data.key) Object.assign(m, { key: data.key, only: asked('severity') in NAMES ? asked('severity') : 'all', ...named(data, asked('finding') ?? '') });
  m.data = data;
  if (!listed(m).some(one => one.key === m.chosen)) Object.assign(m, { chosen: listed(m)[0]?.key, member: 0 });
  m.$('flt').setAttribute('aria-label', data.words.which); m.$('fl').setAttribute('aria-label', data.words.findings);
  const shown = () => { verdict(m); strip(m, root); };
  const watch = new ResizeObserver(shown);
  watch.observe(root.host);
  shown(); filters(m); list(m); detail(m);
  table(m, 'doing', data.steps); table(m, 'keeping', data.retention);
  m.$('fl').onkeydown = event => step(m, event);
  return m.release = () => watch.disconnect();
}

const within = (part, whole) => whole.toLowerCase().includes(part.toLowerCase().replace(/\.$/, ''));
const listed = m => m.data.items.filter(one => m.only === 'all' || one.severity === m.only);

// What an address names: an item, and behind a ~ which of its findings, if not the first.
function named(data, text) {
  const [, key, nth] = /^(.*)~([0-9]{1,9})$/.exec(text) ?? [], item = data.items.find(one => one.key === key);
  return item?.members[nth] && !data.items.some(one => one.key === text) ? { chosen: key, member: Number(nth) } : { chosen: text, member: 0 };
}

function write(m) {
  const url = new URL(location), finding = m.member ? `${m.chosen}~${m.member}` : m.chosen;
  for (const [name, value, none] of [['finding', finding, null], ['severity', m.only, 'all']])
    if (!value || value === none) url.searchParams.delete(name); else url.searchParams.set(name, value);
  history.replaceState(history.state, '', url);
}

function verdict(m) {
  const { kind, title, text } = m.data.verdict, box = m.$('verdict');
  box.className = `verdict ${kind}`;
  box.replaceChildren(sev(m, kind), H('h2', {}, title), ...(text ? [H('p', {}, ...spoken(text))] : []));
}

function strip(m, root) {
  const figure = m.$('steps'), s = m.data.strip;
  figure.replaceChildren();
  if (!s) return;
  const width = widthOf(m.$('verdict')), h = s.below || s.aside ? 66 : 48, svg = hatches(S('svg', { height: h, viewBox: `0 0 ${width} ${h}`, role: 'img', 'aria-label': `${s.title}. ${s.below}` }));
  svg.append(S('defs', {}, S('pattern', { id: 'hTorn', width: 6, height: 6, patternUnits: 'userSpaceOnUse' },
    S('rect', { width: 6, height: 6, fill: V('torn-soft') }), S('path', { d: 'M0 0l6 6M6 0L0 6', stroke: V('torn'), 'stroke-width': .9, opacity: .7 }))));
  svg.append(S('text', { x: 0, y: 12, class: 'axt' }, s.title));
  const gap = Math.min(BAR.gap, width / s.bars.length / 4), tip = tooltip(root), room = width - gap * (s.bars.length - 1);
  let x = 0;
  for (const bar of s.bars) { const w = room * bar.share; svg.append(tip(drawn(bar, x, w), () => [bar.name, bar.words])); x += w + gap; }
  if (s.below) svg.append(S('text', { x: 0, y: 60, class: 'bad' }, s.below));
  if (s.aside) svg.append(S('text', { x: width, y: 60, 'text-anchor': 'end', class: 'axt' }, s.aside));
  figure.append(svg);
}

function drawn(bar, x, w) {
  const bad = bar.fails || bar.cut_bytes > 0, y = BAR.top, height = BAR.height;
  const fill = bar.fails ? 'url(#hTorn)' : bad ? V('torn-soft') : V('log-soft');
  const g = S('g', {}, S('rect', { x, y, width: w, height, rx: 3, fill, stroke: bad ? V('torn') : 'none', 'stroke-width': 1.4 }));
  if (bar.cut_bytes && w > BAR.tail) g.append(S('rect', { x: x + w - BAR.tail, y, width: BAR.tail, height, fill: 'url(#hTorn)', stroke: V('torn') }));
  if (w > bar.name.length * BAR.letter + 10) g.append(S('text', { x: x + w / 2 - (bar.cut_bytes ? 3 : 0), y: 36, 'text-anchor': 'middle',
    style: `font-weight:${bad ? 650 : 400};fill:${V(bad ? 'torn-text' : 'ink-2')};paint-order:stroke;stroke:${bar.fails ? V('torn-soft') : 'none'};stroke-width:5px` }, bar.name));
  return g;
}

// A table: some rows, and all that were sent once somebody asks.
function table(m, place, t, all = false) {
  const box = m.$(place);
  if (!t) return box.replaceChildren();
  const rows = all ? t.rows : t.rows.slice(0, t.shown), left = t.rows.length - rows.length;
  const body = rows.map(row => H('tr', {}, ...row.cells.map((cell, i) => H('td', { class: t.code.includes(i) && row.is_one ? 'mono' : '', title: row.hover[i] || null },
    i || !row.kind ? null : sev(m, row.kind), t.code.includes(i) && row.link.tp ? H('a', { href: address(row.link) }, cell) : spoken(cell)))));
  const more = left ? H('button', { class: 'btn q', type: 'button' }, fill(m.data.words.show_more, { n: grp(left) })) : null;
  if (more) more.onclick = () => { table(m, place, t, true); m.$(place).querySelectorAll('tbody tr')[t.shown].querySelector('a')?.focus(); };
  box.replaceChildren(...[H('h3', { class: 'figt' }, t.title), ...t.notes.map(note => H('p', { class: 'figs' }, ...written(note))),
    H('div', { class: 'rows' }, H('table', { class: `of-${t.name}` }, H('thead', {}, H('tr', {}, ...t.columns.map(name => H('th', { scope: 'col' }, name)))), H('tbody', {}, ...body))),
    more, !left && t.more ? H('p', { class: 'figs' }, fill(m.data.words.more_in_report, { n: grp(t.more) })) : null].filter(Boolean));
}

function filters(m) {
  const counts = m.data.counts, count = kind => kind === 'all' ? Object.values(counts).reduce((sum, one) => sum + one, 0) : counts[kind] ?? 0;
  if (!m.data.items.length) return m.$('flt').replaceChildren(sev(m, 'ok'), H('span', {}, m.data.words.nothing));
  m.$('flt').replaceChildren(...Object.entries(NAMES).filter(([kind]) => count(kind)).map(([kind, name]) => {
    const button = H('button', { class: 'chip', type: 'button', 'aria-pressed': String(kind === m.only) }, kind === 'all' ? null : sev(m, kind), m.data.words[name], H('small', {}, grp(count(kind))));
    button.onclick = () => { m.only = kind; m.member = 0; if (!listed(m).some(one => one.key === m.chosen)) m.chosen = listed(m)[0]?.key; write(m); filters(m); list(m); detail(m); };
    return button;
  }));
}

function list(m) {
  m.$('fl').replaceChildren(...listed(m).map(one => {
    const row = H('div', { class: 'fi', role: 'option', 'aria-selected': String(one.key === m.chosen), id: `f-${m.data.items.indexOf(one)}` },
      sev(m, one.severity), H('span', { class: 't' }, one.title), H('span', { class: 'w', title: one.where }, one.where));
    row.onclick = () => choose(m, one.key);
    return row;
  }));
  const at = m.data.items.findIndex(one => one.key === m.chosen);
  if (at >= 0) m.$('fl').setAttribute('aria-activedescendant', `f-${at}`);
}

function choose(m, key) {
  Object.assign(m, { chosen: key, member: 0 });
  write(m); list(m); detail(m);
  m.$('fl').querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
}

function step(m, event) {
  const rows = listed(m), at = rows.findIndex(one => one.key === m.chosen);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  if (rows[to]) choose(m, rows[to].key);
}

function detail(m) {
  const item = m.data.items.find(one => one.key === m.chosen), box = m.$('det');
  if (!item || !listed(m).includes(item)) return box.replaceChildren();
  const one = item.members[m.member], w = m.data.words;
  const block = (name, ...lines) => lines.some(Boolean) ? H('div', { class: 'blk' }, H('div', { class: 'lab' }, name), ...lines.filter(Boolean).map(line => H('p', {}, ...written(line)))) : null;
  box.replaceChildren(...[
    H('div', { class: 'h' }, H('div', { class: 'hd' }, sev(m, item.severity), H('h3', {}, item.title), H('span', { class: 'code' }, item.code)), H('div', { class: 'where' }, one.where)),
    members(m, item),
    block(w.there, one.message, !within(one.found, one.message) && one.found, one.expected),
    one.dump || one.link.file ? H('div', { class: 'blk' }, one.dump ? dump(one.dump, item.severity) : null, link(m, one)) : null,
    block(w.kafka, one.consequence), block(w.next, one.next_step), block(w.reference, one.reference),
  ].filter(Boolean));
}

// What stands between backticks is a command or a name.
const written = line => line.split('`').flatMap((part, i) => i % 2 ? H('code', {}, part) : spoken(part));

// What no language but English has (Kafka's words, a sentence with values) is marked as English on a page of another one.
const ENGLISH = /([A-Za-z.][\x20-\x7e\u2013\u2026\u202f\u201c\u201d]{23,})/;
const spoken = text => document.documentElement.lang.startsWith('en') ? [text] : text.split(ENGLISH).map((part, i) => i % 2 ? H('span', { lang: 'en' }, part) : part);

// To the same bytes on the Segment page, in the same directory; the browser's Back comes back to this finding.
const link = (m, { link }) => link.file ? H('a', { class: 'go', href: address(link) }, m.data.words.show_bytes, icon('arrow_forward')) : null;

function address(link) {
  const directory = asked('dir');
  return `segment?${new URLSearchParams({ ...(directory === null ? {} : { dir: directory }), ...link })}`;
}

function members(m, item) {
  if (item.members.length < 2) return null;
  const box = H('div', { class: 'mem', role: 'group', 'aria-label': m.data.words.where }, ...item.members.map((one, i) => {
    const button = H('button', { type: 'button', 'aria-current': String(i === m.member), title: one.message }, one.where);
    button.onclick = () => { m.member = i; write(m); const top = m.$('mem').scrollTop; detail(m); m.$('mem').scrollTop = top; m.$('mem').querySelector('[aria-current="true"]').focus(); };
    return button;
  }));
  if (item.count > item.members.length) box.append(H('div', { class: 'lab', style: 'padding:3px 18px' }, fill(m.data.words.more_in_json, { n: grp(item.count - item.members.length) })));
  return box;
}

const HIT = { error: 'bad', warning: 'warn', info: 'un' };

function dump(d, severity) {
  const values = d.digits.match(/../g) ?? [], rows = [], [from, to] = d.bad;
  for (let i = 0; i < values.length; i += 16) rows.push(H('div', { class: 'r' }, H('span', { class: 'a' }, grp(d.start + i)),
    ...values.slice(i, i + 16).map((digits, k) => { const at = d.start + i + k, hit = at >= from && at < to; return H('span', { class: `b ${hit ? HIT[severity] : d.kind}` }, digits); })));
  return H('div', { class: 'hx' }, ...rows);
}
