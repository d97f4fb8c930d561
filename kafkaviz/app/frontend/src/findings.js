// Two parts of Health: the verdict on the next start with the list of findings, with details and
// bytes of the selected one, and what the next start reads and does. All data was sent; the
// selection is kept in the address as ?finding= and ?severity=.
import { addressParameter, writeParameters } from './address_parameters.js';
import {
  color,
  drawingWidth,
  endText,
  hatchedDrawing,
  html,
  icon,
  middleText,
  svg,
  svgRect,
  svgText,
  tooltip,
  tornPattern,
} from './dom.js';
import { fillTemplate, groupDigits } from './text.js';

// message keys by severity
const NAMES = { all: 'all', error: 'errors', warning: 'warnings', info: 'infos' };
const BAR = { gap: 2, top: 20, height: 24, tail: 7, letter: 6.4 };
const sev = (state, kind) =>
  html('span', { class: `sev ${kind}`, role: 'img', 'aria-label': state.data.words[kind] });

export default function ({ parentElement: root, data }) {
  const state = (root.host.__findings ??= {});
  state.release?.(); // Streamlit calls this again on each change without cleaning up first
  state.$ = name => root.querySelector(`.${name}`);
  state.data = data;
  if (!data.items) return (state.release = renderStart(state, root));
  renderFindings(state);
}

const removeParts = (state, ...names) => names.forEach(name => state.$(name)?.remove());

function renderFindings(state) {
  const { data } = state;
  removeParts(state, 'steps', 'doing');
  if (state.key !== data.key)
    Object.assign(state, {
      key: data.key,
      only: addressParameter('severity') in NAMES ? addressParameter('severity') : 'all',
      ...selectionOfAddress(data, addressParameter('finding')),
    });
  if (!filteredItems(state).some(({ key }) => key === state.chosen))
    Object.assign(state, { chosen: filteredItems(state)[0]?.key, member: 0 });
  state.$('flt').setAttribute('aria-label', data.words.which);
  state.$('items').setAttribute('aria-label', data.words.findings);
  renderVerdict(state);
  renderFilters(state);
  renderList(state);
  renderDetail(state);
  state.$('items').onkeydown = event => stepFinding(state, event);
}

function renderStart(state, root) {
  removeParts(state, 'verdict', 'flt', 'columns');
  const watch = new ResizeObserver(() => renderStrip(state, root));
  watch.observe(root.host);
  renderStrip(state, root);
  renderSteps(state);
  return () => watch.disconnect();
}

const within = (part, text) => text.toLowerCase().includes(part.toLowerCase().replace(/\.$/, ''));
const filteredItems = state =>
  state.data.items.filter(item => state.only === 'all' || item.severity === state.only);

// Reads an item from the address, followed by ~ and the index of a finding in it unless it is the
// first.
function selectionOfAddress(data, text) {
  const [, key, nth] = /^(.*)~([0-9]{1,9})$/.exec(text) ?? [],
    item = data.items.find(other => other.key === key);
  return item?.members[nth] && !data.items.some(other => other.key === text)
    ? { chosen: key, member: Number(nth) }
    : { chosen: text, member: 0 };
}

function write(state) {
  const finding = state.member ? `${state.chosen}~${state.member}` : state.chosen;
  writeParameters({ finding: finding || null, severity: state.only === 'all' ? null : state.only });
}

function renderVerdict(state) {
  const { kind, title, text } = state.data.verdict,
    box = state.$('verdict');
  box.className = `verdict ${kind}`;
  box.replaceChildren(
    sev(state, kind),
    html('h2', {}, title),
    ...(text ? [html('p', {}, ...textNodes(text))] : []),
  );
}

function renderStrip(state, root) {
  const figure = state.$('steps'),
    s = state.data.strip;
  figure.replaceChildren();
  if (!s) return;
  const width = drawingWidth(root.host),
    h = s.below || s.aside ? 66 : 48,
    drawing = hatchedDrawing(width, h, `${s.title}. ${s.below}`);
  drawing.append(svg('defs', {}, tornPattern('hTorn')));
  drawing.append(svgText(0, 12, s.title, 'axt'));
  const gap = Math.min(BAR.gap, width / s.bars.length / 4),
    tip = tooltip(root),
    room = width - gap * (s.bars.length - 1);
  let x = 0;
  for (const bar of s.bars) {
    const w = room * bar.share;
    drawing.append(tip(drawBar(bar, x, w), () => [bar.name, bar.words]));
    x += w + gap;
  }
  if (s.below) drawing.append(svgText(0, 60, s.below, 'bad'));
  if (s.aside) drawing.append(endText(width, 60, s.aside, 'axt'));
  figure.append(drawing);
}

function drawBar(bar, x, w) {
  const bad = bar.fails || bar.cut_bytes > 0,
    y = BAR.top,
    height = BAR.height,
    fill = bar.fails ? 'url(#hTorn)' : bad ? color('torn-soft') : color('log-soft'),
    outline = { stroke: bad ? color('torn') : 'none', 'stroke-width': 1.4 },
    torn = { fill: 'url(#hTorn)', stroke: color('torn') };
  const g = svg('g', {}, svgRect(x, y, w, height, { rx: 3, fill, ...outline }));
  if (bar.cut_bytes && w > BAR.tail) g.append(svgRect(x + w - BAR.tail, y, BAR.tail, height, torn));
  if (w > bar.name.length * BAR.letter + 10)
    g.append(
      middleText(x + w / 2 - (bar.cut_bytes ? 3 : 0), 36, bar.name, {
        style: `font-weight:${bad ? 650 : 400};fill:${color(bad ? 'torn-text' : 'ink-2')};paint-order:stroke;stroke:${bar.fails ? color('torn-soft') : 'none'};stroke-width:5px`,
      }),
    );
  return g;
}

// Draws the table of the start's steps with its first rows, and all sent rows on request.
function renderSteps(state, all = false) {
  const box = state.$('doing'),
    t = state.data.steps,
    { words } = state.data;
  if (!t) return box.replaceChildren();
  const rows = all ? t.rows : t.rows.slice(0, t.shown),
    left = t.rows.length - rows.length,
    heads = t.columns.map(name => html('th', { scope: 'col' }, name)),
    head = html('thead', {}, html('tr', {}, ...heads)),
    body = rows.map(row => html('tr', {}, ...row.cells.map((_, i) => stepCell(state, row, i)))),
    table = html('table', {}, head, html('tbody', {}, ...body));
  box.replaceChildren(html('h3', 'figt', t.title), html('div', 'rows', table));
  if (left) {
    const text = fillTemplate(words.show_more, { n: groupDigits(left) }),
      more = html('button', { class: 'btn q', type: 'button' }, text);
    more.onclick = () => {
      renderSteps(state, true);
      box.querySelectorAll('tbody tr')[t.shown].querySelector('a')?.focus();
    };
    box.append(more);
  } else if (t.more) {
    const text = fillTemplate(words.more_in_report, { n: groupDigits(t.more) });
    box.append(html('p', 'figs', text));
  }
}

function stepCell(state, row, i) {
  const isCode = state.data.steps.code.includes(i),
    text = row.cells[i],
    at = { class: isCode && row.is_one ? 'mono' : '', title: row.hover[i] || null },
    mark = i || !row.kind ? null : sev(state, row.kind);
  if (isCode && row.link.tp)
    return html('td', at, mark, html('a', { href: linkAddress(row.link) }, text));
  return html('td', at, mark, textNodes(text));
}

function renderFilters(state) {
  const counts = state.data.counts,
    count = kind =>
      kind === 'all' ? Object.values(counts).reduce((sum, n) => sum + n, 0) : (counts[kind] ?? 0);
  if (!state.data.items.length)
    return state
      .$('flt')
      .replaceChildren(sev(state, 'ok'), html('span', {}, state.data.words.nothing));
  state.$('flt').replaceChildren(
    ...Object.entries(NAMES)
      .filter(([kind]) => count(kind))
      .map(([kind, name]) => {
        const button = html(
          'button',
          { class: 'chip', type: 'button', 'aria-pressed': String(kind === state.only) },
          kind === 'all' ? null : sev(state, kind),
          state.data.words[name],
          html('small', {}, groupDigits(count(kind))),
        );
        button.onclick = () => {
          state.only = kind;
          state.member = 0;
          if (!filteredItems(state).some(({ key }) => key === state.chosen))
            state.chosen = filteredItems(state)[0]?.key;
          write(state);
          renderFilters(state);
          renderList(state);
          renderDetail(state);
        };
        return button;
      }),
  );
}

function renderList(state) {
  state.$('items').replaceChildren(
    ...filteredItems(state).map(item => {
      const row = html(
        'div',
        {
          class: 'item',
          role: 'option',
          'aria-selected': String(item.key === state.chosen),
          id: `f-${state.data.items.indexOf(item)}`,
        },
        sev(state, item.severity),
        html('span', 't', item.title),
        html('span', { class: 'w', title: item.where }, item.where),
      );
      row.onclick = () => choose(state, item.key);
      return row;
    }),
  );
  const at = state.data.items.findIndex(({ key }) => key === state.chosen);
  if (at >= 0) state.$('items').setAttribute('aria-activedescendant', `f-${at}`);
}

function choose(state, key) {
  Object.assign(state, { chosen: key, member: 0 });
  write(state);
  renderList(state);
  renderDetail(state);
  state.$('items').querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
}

function stepFinding(state, event) {
  const rows = filteredItems(state),
    at = rows.findIndex(({ key }) => key === state.chosen);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  if (rows[to]) choose(state, rows[to].key);
}

function renderDetail(state) {
  const item = state.data.items.find(({ key }) => key === state.chosen),
    box = state.$('det');
  if (!item || !filteredItems(state).includes(item)) return box.replaceChildren();
  const member = item.members[state.member],
    w = state.data.words;
  const block = (name, ...lines) => {
    const texts = lines.filter(Boolean).map(line => html('p', {}, ...paragraphNodes(line)));
    return texts.length ? html('div', 'blk', html('div', 'lab', name), ...texts) : null;
  };
  const code = html('span', 'code', item.code),
    title = html('h3', {}, item.title),
    head = html('div', 'finding-head', sev(state, item.severity), title, code),
    evidence = within(member.found, member.message) ? '' : member.found,
    dump = member.dump ? renderDump(member.dump, item.severity) : null,
    hasBytes = member.dump || member.link.tab;
  const parts = [
    html('div', 'h', head, html('div', 'where', member.where)),
    renderMembers(state, item),
    block(w.there, member.message, evidence, member.expected),
    hasBytes ? html('div', 'blk', dump, link(state, member)) : null,
    block(w.kafka, member.consequence),
    block(w.next, member.next_step),
    block(w.reference, member.reference),
  ];
  box.replaceChildren(...parts.filter(Boolean));
}

// Text between backticks is a command or a name.
const paragraphNodes = line =>
  line.split('`').flatMap((part, i) => (i % 2 ? html('code', {}, part) : textNodes(part)));

// Text that exists only in English, such as Kafka's own words, is marked as English on other pages.
const ENGLISH = /([A-Za-z.][\x20-\x7e\u2013\u2026\u202f\u201c\u201d]{23,})/;
const textNodes = text =>
  document.documentElement.lang.startsWith('en')
    ? [text]
    : text.split(ENGLISH).map((part, i) => (i % 2 ? html('span', { lang: 'en' }, part) : part));

// Links to the same bytes or transactions on the Segment page; Back returns to this finding.
const link = (state, { link }) =>
  link.tab
    ? html(
        'a',
        { class: 'onward', href: linkAddress(link) },
        state.data.words[`show_${link.tab.toLowerCase()}`],
        icon('arrow_forward'),
      )
    : null;

function linkAddress(link) {
  // one parameter per log directory of the broker
  const directories = new URLSearchParams(location.search).getAll('dir');
  const parameters = [...directories.map(directory => ['dir', directory]), ...Object.entries(link)];
  return `segment?${new URLSearchParams(parameters)}`;
}

function renderMembers(state, item) {
  if (item.members.length < 2) return null;
  const box = html(
    'div',
    { class: 'mem', role: 'group', 'aria-label': state.data.words.where },
    ...item.members.map((member, i) => {
      const button = html(
        'button',
        { type: 'button', 'aria-current': String(i === state.member), title: member.message },
        member.where,
      );
      button.onclick = () => {
        state.member = i;
        write(state);
        const top = state.$('mem').scrollTop;
        renderDetail(state);
        state.$('mem').scrollTop = top;
        state.$('mem').querySelector('[aria-current="true"]').focus();
      };
      return button;
    }),
  );
  const left = item.count - item.members.length;
  if (left > 0) {
    const text = fillTemplate(state.data.words.more_in_json, { n: groupDigits(left) });
    box.append(html('div', { class: 'lab', style: 'padding:3px 18px' }, text));
  }
  return box;
}

const HIT = { error: 'bad', warning: 'warn', info: 'plain' };

function renderDump(d, severity) {
  const values = d.digits.match(/../g) ?? [],
    rows = [],
    [from, to] = d.bad;
  const cell = (digits, at) =>
    html('span', `b ${at >= from && at < to ? HIT[severity] : d.kind}`, digits);
  for (let i = 0; i < values.length; i += 16) {
    const first = d.start + i,
      cells = values.slice(i, i + 16).map((digits, k) => cell(digits, first + k));
    rows.push(html('div', 'r', html('span', 'a', groupDigits(first)), ...cells));
  }
  return html('div', 'hex-dump', ...rows);
}
