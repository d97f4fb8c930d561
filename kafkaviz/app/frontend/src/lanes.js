// Plain beside warm on the same target: both searches, probe by probe in step with the stepper, and what they cost so far.
import { color, hatchedDrawing, html, svg } from './dom.js';
import { countText, fillTemplate, scale } from './text.js';

export default function ({ parentElement: root, data }) {
  const state = (root.host.__lanes ??= {});
  state.release?.();
  Object.assign(state, { data, $: name => root.querySelector(`.${name}`) });
  state.$('ct').textContent = data.title;
  state.$('note').textContent = data.words.note;
  const follow = event => show(state, event.detail),
    sizes = new ResizeObserver(() => {
      measure(state);
      show(state, state.at);
    });
  build(state);
  document.addEventListener('kv-step', follow);
  sizes.observe(root.host);
  show(state, document.__kvStep);
  return (state.release = () => {
    document.removeEventListener('kv-step', follow);
    sizes.disconnect();
  });
}

function build(state) {
  const number = text =>
    html(
      'div',
      { class: 'n' },
      html('b', {}, html('span', {}), html('small', {})),
      html('span', { class: 'ty fnt' }, text),
    );
  const { words } = state.data;
  state.rows = state.data.lanes.map(lane => {
    const box = html('div', { class: 'pl' }),
      probes = number(countText(words, 'probes', lane.slots.length)),
      pages = number(countText(words, 'pages', lane.pages.at(-1) ?? 0));
    return {
      lane,
      box,
      probes,
      pages,
      row: html(
        'div',
        { class: 'lane' },
        html(
          'div',
          {},
          html('div', { class: 't' }, lane.title),
          html('div', { class: 'ty fnt' }, lane.since),
        ),
        box,
        probes,
        pages,
      ),
    };
  });
  state.$('lanes').replaceChildren(...state.rows.map(({ row }) => row));
  measure(state);
}

function measure(state) {
  state.width = Math.max(120, state.rows[0].box.clientWidth);
}

// All probes before the stepper came to this search are none, behind it all.
function show(state, at) {
  state.at = at;
  const { data } = state,
    known = at?.key === data.key ? at : { search: Infinity, over: true };
  const probeCount =
    known.search < data.search
      ? 0
      : known.search > data.search || known.over
        ? Infinity
        : known.probes;
  for (const { lane, box, probes, pages } of state.rows) {
    const n = Math.min(probeCount, lane.slots.length);
    if (box.dataset.drawn === `${n} ${state.width}`) continue;
    box.dataset.drawn = `${n} ${state.width}`;
    const say = (cell, count, all) => {
      cell.firstChild.firstChild.textContent = count;
      cell.firstChild.lastChild.textContent =
        count < all ? ` ${fillTemplate(data.words.of_all, { n: all })}` : '';
    };
    say(probes, n, lane.slots.length);
    say(pages, n ? lane.pages[n - 1] : 0, lane.pages.at(-1) ?? 0);
    box.replaceChildren(path(data, lane, probeCount, state.width));
  }
}

function path(data, lane, probeCount, w) {
  const slots = lane.slots.slice(0, probeCount),
    x = scale(0, Math.max(1, data.entries), 4, w - 4),
    col = data.kind === 'time' ? 'time' : 'offset';
  const g = hatchedDrawing(
    w,
    36,
    fillTemplate(data.words.drawn, {
      title: lane.title,
      made: slots.length,
      n: lane.slots.length,
    }),
  );
  g.append(
    svg('rect', { x: 4, y: 22, width: w - 8, height: 8, fill: color(`${col}-soft`), rx: 2 }),
  );
  if (lane.warm_from !== null) {
    const a = x(lane.warm_from);
    g.append(
      svg('rect', {
        x: Math.min(a, w - 8),
        y: 22,
        width: Math.max(4, w - 4 - a),
        height: 8,
        fill: w - 4 - a < 9 ? color('warm') : 'url(#hWarm)',
      }),
    );
  }
  slots.forEach((slot, i) => {
    if (!i) return;
    const a = x(slots[i - 1] + 0.5),
      b = x(slot + 0.5),
      up = Math.min(16, 3 + Math.abs(b - a) / 9);
    g.append(
      svg('path', {
        d: `M${a} 22Q${(a + b) / 2} ${22 - up * 2} ${b} 22`,
        fill: 'none',
        stroke: color('ink-3'),
        'stroke-width': 1,
        opacity: 0.75,
      }),
    );
  });
  slots.forEach((slot, i) =>
    g.append(
      svg('circle', {
        cx: x(slot + 0.5),
        cy: 26,
        r: i === slots.length - 1 ? 4.6 : 3.2,
        fill: color('probe'),
        stroke: color('bg'),
        'stroke-width': 1,
      }),
    ),
  );
  return g;
}
