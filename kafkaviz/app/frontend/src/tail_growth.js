// The lookup at the tail of an index that grows page by page, plain binary search above the
// warm-section-first search. All sizes were sent, so the slider needs no server. Only this component writes the page count to the
// address, as ?pages=.
import { addressParameter, writeParameters } from './address_parameters.js';
import {
  color,
  endText,
  hatchedDrawing,
  html,
  middleText,
  pageFill,
  pageLegend,
  setContent,
  svg,
  svgCircle,
  svgRect,
  svgText,
  tooltip,
  warmText,
} from './dom.js';
import { countText, fillTemplate, groupDigits, textWidth } from './text.js';

const REST_MS = 120,
  // numbers of pages that a row has space for; the smallest sufficient one is used
  ROOM = [16, 28, 40],
  BEFORE = { y: 4, h: 14 },
  NOW = { y: 58, h: 38 },
  HEIGHT = 126,
  DISC = 8.5,
  UNWRITTEN = { fill: 'none', stroke: color('ink-3'), 'stroke-dasharray': '2 3' };

export default function ({ parentElement: root, data }) {
  const state = (root.host.__tailGrowth ??= {});
  state.release?.();
  Object.assign(state, {
    data,
    path: location.pathname,
    $: name => root.querySelector(`.${name}`),
    range: root.querySelector('input'),
    hover: tooltip(root),
  });
  build(state);
  const resized = () => {
      const before = state.width;
      measure(state);
      if (state.width !== before) show(state);
    },
    sizes = new ResizeObserver(resized),
    stays = () => {
      if (addressPages(state) !== state.pages) scheduleWrite(state);
    };
  sizes.observe(root.host);
  window.navigation?.addEventListener('currententrychange', stays);
  measure(state);
  state.pages ??= document.__kvPages ?? addressPages(state) ?? data.first;
  show(state);
  return (state.release = () => {
    sizes.disconnect();
    window.navigation?.removeEventListener('currententrychange', stays);
  });
}

// Returns the page count in the address, or undefined unless it is one of the sizes.
function addressPages(state) {
  const text = addressParameter('pages');
  return /^\d{1,3}$/.test(text) && state.data.sizes[Number(text) - 1] ? Number(text) : undefined;
}

function build(state) {
  const { $, data, range } = state;
  $('below').textContent = data.caption;
  $('legend').replaceChildren(pageLegend(data.legend));
  $('lab').textContent = data.words.slider;
  setContent(range, { min: 1, max: data.sizes.length }, []);
  range.oninput = () => go(state, Number(range.value));
  for (const [name, step] of [
    ['less', -1],
    ['more', 1],
  ]) {
    setContent($(name), { 'aria-label': data.words[name], title: data.words[name] }, []);
    $(name).onclick = () => go(state, state.pages + step);
  }
  state.rows = data.names.map(({ title, since }) => {
    const waits = html('div', 'n'),
      costs = html('div', 'ty mut'),
      box = html('div', 'pl');
    const name = html(
      'div',
      {},
      html('div', 't', title),
      html('div', 'ty fnt', since),
      waits,
      costs,
    );
    return { waits, costs, box, row: html('div', 'lane', name, box) };
  });
  $('lanes').replaceChildren(...state.rows.map(({ row }) => row));
}

function measure(state) {
  state.width = Math.max(200, state.rows[0].box.clientWidth);
}

function go(state, pages) {
  state.pages = document.__kvPages = Math.max(1, Math.min(state.data.sizes.length, pages));
  show(state);
  scheduleWrite(state);
}

// Writes the address after a pause, because that takes the browser longer than drawing a size.
function scheduleWrite(state) {
  clearTimeout(state.writing);
  state.writing = setTimeout(() => {
    if (state.range.isConnected && location.pathname === state.path)
      writeParameters({ pages: state.pages });
  }, REST_MS);
}

function show(state) {
  const { $, data, range, pages } = state,
    size = data.sizes[pages - 1];
  range.value = String(pages);
  range.setAttribute('aria-valuetext', size.size);
  $('size').textContent = size.size;
  $('title').textContent = size.title;
  $('note').textContent = `${size.lookups} ${data.note}`;
  $('less').disabled = pages === 1;
  $('more').disabled = pages === data.sizes.length;
  state.rows.forEach(({ waits, costs, box }, n) => {
    const lane = size.lanes[n];
    waits.textContent = lane.waits_text;
    waits.classList.toggle('none', !lane.waits.length);
    costs.textContent = lane.costs;
    box.replaceChildren(drawPicture(state, size, lane, n));
  });
}

// ---- a search: the index one page shorter, below it the index, and lines between their probes

function drawPicture(state, size, lane, n) {
  const { data, width: w } = state,
    room = ROOM.find(count => count >= size.pages),
    left = Math.max(...[1, size.pages].map(count => textWidth(strip(data, count)))) + 10,
    cell = (w - left) / room,
    x = page => left + page * cell,
    g = hatchedDrawing(w, HEIGHT, `${data.names[n].title}: ${size.alt}`);
  if (size.pages > 1) {
    g.append(svgText(0, BEFORE.y + 11, strip(data, size.pages - 1), 'axt'));
    drawBefore(lane, size.pages - 1, g, x, cell);
  }
  g.append(svgText(0, NOW.y + 24, strip(data, size.pages), 'strong'));
  drawMoves(lane, g, x, cell);
  drawPages(state, size, lane, g, { x, cell, room });
  drawSection(state, size, lane, g, x);
  return g;
}

const strip = (data, pages) => countText(data.words, 'strip', pages);
const centre = (page, x, cell) => x(page) + cell / 2;

function drawBefore(lane, pages, g, x, cell) {
  for (let page = 0; page < pages; page++) {
    const isRead = lane.pages_before.includes(page);
    g.append(
      svgRect(x(page) + 1, BEFORE.y, cell - 2, BEFORE.h, {
        rx: 2,
        ...pageFill[lane.hot_before.includes(page) ? 'hot' : 'cold'],
        ...(isRead ? { stroke: color('ink-3'), 'stroke-width': 1.2 } : {}),
      }),
    );
    if (isRead && cell > 15) g.append(middleText(centre(page, x, cell), BEFORE.y + 11, page));
  }
  if (lane.warm_from_before !== null)
    g.append(section(x, lane.warm_from_before, pages, BEFORE.y + BEFORE.h + 1, 3));
}

// Draws an arrow for each probe that both searches make, dimmed if the probe stays on its page.
function drawMoves(lane, g, x, cell) {
  const from = BEFORE.y + BEFORE.h + 6,
    to = NOW.y - 17;
  for (const [before, now] of lane.moves) {
    const a = centre(before, x, cell),
      b = centre(now, x, cell),
      waits = lane.waits.some(wait => wait.page === now) && before !== now,
      look = {
        fill: 'none',
        stroke: color(waits ? 'ink' : 'ink-3'),
        'stroke-width': waits ? 2 : 1,
        opacity: before === now ? 0.45 : 1,
      };
    g.append(
      svg('path', {
        ...look,
        d: `M${a} ${from}C${a} ${(from + to) / 2} ${b} ${(from + to) / 2} ${b} ${to - 4}`,
      }),
      svg('path', {
        d: `M${b - 3.5} ${to - 5}h7l-3.5 5z`,
        fill: look.stroke,
        opacity: look.opacity,
      }),
    );
  }
}

function drawPages(state, size, lane, g, { x, cell, room }) {
  const { words, legend, entries_a_page: slots } = state.data;
  for (let page = 0; page < room; page++) {
    const isThere = page < size.pages,
      probes = lane.slots.flatMap((slot, i) => (Math.floor(slot / slots) === page ? [i + 1] : [])),
      wait = lane.waits.find(other => other.page === page),
      heat = lane.hot.includes(page) ? 'hot' : 'cold',
      middle = centre(page, x, cell),
      // on a narrow screen the number of the next page covers this one
      hasNumber = probes.length
        ? cell > textWidth(String(page)) || !lane.pages.includes(page + 1)
        : isThere && cell > 24;
    const box = svg(
      'g',
      {},
      svgRect(x(page) + 1.5, NOW.y, cell - 3, NOW.h, {
        rx: 3,
        ...(isThere ? pageFill[heat] : UNWRITTEN),
        ...(probes.length ? { stroke: color('ink'), 'stroke-width': 2 } : {}),
      }),
    );
    if (hasNumber)
      box.append(middleText(middle, NOW.y - 5, page, probes.length ? 'strong' : 'axt'));
    if (probes.length) box.append(...drawDisc(middle, NOW.y + NOW.h / 2, probes[0], cell));
    if (wait) box.append(...waitTexts(words, wait, middle, cell));
    g.append(
      state.hover(box, () =>
        isThere
          ? [
              fillTemplate(words.hover_page, {
                page,
                first: groupDigits(page * slots),
                last: groupDigits((page + 1) * slots - 1),
              }),
              legend[heat],
              ...probeTexts(words, lane, probes),
              ...(wait ? [fillTemplate(words.hover_wait, wait)] : []),
            ]
          : [words.not_there],
      ),
    );
  }
}

function drawDisc(x, y, probe, cell) {
  const r = Math.min(DISC, cell / 2 - 2);
  if (r < 6) return [svgCircle(x, y, Math.max(3, r), { fill: color('probe') })];
  const style = `font-size:11px;font-weight:650;fill:${color('bg')}`;
  return [svgCircle(x, y, r, { fill: color('probe') }), middleText(x, y + 4, probe, { style })];
}

function waitTexts(words, wait, x, cell) {
  const y = NOW.y + NOW.h;
  // two pages that are waited for are three apart or more
  const isWide = 3 * cell > textWidth(fillTemplate(words.waits_at, wait)) + 12,
    [first, second] = isWide ? [words.waits_at, words.idle] : [words.waits, words.at];
  const texts = [
    middleText(x, y + 14, fillTemplate(first, wait), 'strong'),
    middleText(x, y + 28, fillTemplate(second, wait), 'axt'),
  ];
  return cell > 24 ? texts : texts.slice(0, 1);
}

function probeTexts(words, lane, probes) {
  if (!probes.length) return [];
  const [first] = probes;
  return probes.length === 1
    ? [fillTemplate(words.hover_probe, { probe: first, slot: groupDigits(lane.slots[first - 1]) })]
    : [fillTemplate(words.hover_probes, { first, last: probes.at(-1) })];
}

// Draws the warm section up to the end of `pages`; its first page is seen even for a single slot.
function section(x, warmFrom, pages, y, height) {
  const from = Math.min(x(warmFrom), x(Math.floor(warmFrom) + 1) - 5);
  return svgRect(from, y, x(pages) - from, height, pageFill.warm);
}

function drawSection(state, size, lane, g, x) {
  if (lane.warm_from === null) return;
  const y = NOW.y + NOW.h + 3;
  g.append(
    section(x, lane.warm_from, size.pages, y, 9),
    endText(x(size.pages) - 1, y + 23, state.data.words.section, warmText),
  );
}
