// The pages of an index that a search reads, as cells: hot or cold when the search begins, with the
// number of the first probe that reads each, and the warm section below them. A click on a page
// makes it hot or cold, for the race and the steps of the same lookup.
import { html } from './dom.js';
import { countText, fillTemplate, groupDigits } from './text.js';

// up to this number of cells, each shows its page number; otherwise only pages that are read
const MAX_NAMED = 16;

/**
 * @typedef {object} Lane
 * @property {boolean[]} hot whether the page of each cell is in memory at the start
 * @property {{slot: number, cells: number[]}[]} steps the probes, and the cells that each reads
 * @property {number | null} warm_from the start of the warm section, in cells
 * @property {string} alt
 */

// Returns for each cell whether it is hot, which a reader can change. Race and steps share it.
export function memoryOf(key, name, lane) {
  if (document.__kvMemory?.key !== key) document.__kvMemory = { key, lanes: {} };
  return (document.__kvMemory.lanes[name] ??= [...lane.hot]);
}

// Returns for each probe the cells that it waits for: the first probe of a cold page does.
export function coldReads(steps, hot) {
  const memory = new Set(hot.flatMap((isHot, place) => (isHot ? [place] : [])));
  return steps.map(({ cells }) => {
    const cold = cells.filter(place => !memory.has(place));
    for (const place of cells) memory.add(place);
    return cold;
  });
}

// Builds the strip; `changed` is called after a click made a page hot or cold.
export function buildStrip({ hover }, lane, cells, { words, hot, changed }) {
  const isNamed = cells.length <= MAX_NAMED,
    readers = new Map(); // per cell, the numbers of its first and last probe
  lane.steps.forEach((step, i) => {
    for (const place of step.cells) readers.set(place, [readers.get(place)?.[0] ?? i + 1, i + 1]);
  });
  const pages = cells.map(({ page }, place) => {
    const probes = readers.get(place),
      shade = html('span', 'c', html('u'), html('b', {}, probes ? `${probes[0]}` : '')),
      // only the pages that are read can be reached by Tab, as no other changes the result
      button = html('button', { type: 'button', tabindex: probes ? 0 : -1 }, shade),
      box = html(
        'div',
        'page',
        html('span', 'p', probes || isNamed ? groupDigits(page) : ''),
        button,
        html('div', 'warm', ...sectionPart(lane.warm_from, place)),
      ),
      dress = () => {
        shade.className = `c kv-${hot[place] ? 'hot' : 'cold'}`;
        button.setAttribute('aria-label', hoverTexts(words, page, hot[place], probes).join('. '));
      };
    dress();
    button.onclick = () => {
      hot[place] = !hot[place];
      dress();
      changed();
    };
    hover(button, () => [...hoverTexts(words, page, hot[place], probes), words.click_page]);
    return { box, shade, first: probes?.[0] ?? Infinity };
  });
  const strip = html('div', {
    class: isNamed ? 'strip' : 'strip many',
    role: 'group',
    'aria-label': lane.alt,
  });
  pages.forEach(({ box }, place) => {
    const { skipped } = cells[place];
    if (skipped)
      strip.append(
        html('span', { class: 'skipped', title: countText(words, 'skipped', skipped) }, '⋯'),
      );
    strip.append(box);
  });
  return { strip, pages };
}

// Shows the state after `done` probes, while a search waits for `awaited`, `loaded` of it read.
export function showStrip({ pages }, done, awaited = [], loaded = 0) {
  pages.forEach(({ box, shade, first }, place) => {
    const isNow = awaited.includes(place);
    box.classList.toggle('read', first <= done);
    box.classList.toggle('awaited', isNow);
    shade.style.setProperty('--loaded', isNow ? loaded.toFixed(3) : '0');
  });
}

// Returns the warm section below a cell: the whole width, a part of the first page, or nothing.
function sectionPart(warmFrom, place) {
  if (warmFrom === null || place + 1 <= warmFrom) return [];
  const part = (Math.max(0, warmFrom - place) * 100).toFixed(1); // one slot alone is 5 px wide
  return [html('i', { class: 'kv-warm', style: `margin-left:min(${part}%, 100% - 5px)` })];
}

function hoverTexts(words, page, hot, probes) {
  const name = groupDigits(page),
    texts = [fillTemplate(hot ? words.hover_hot : words.hover_cold, { page: name })];
  if (!probes) return texts;
  const [first, last] = probes;
  texts.push(
    fillTemplate(first === last ? words.hover_probe : words.hover_probes, { first, last }),
  );
  return hot ? texts : [...texts, words.hover_waits];
}

// Formats a time in its most readable unit: 0.27 µs, 200 µs, 12.0 ms.
export function formatTime(us) {
  const [length, unit] = us >= 999_500 ? [1e6, 's'] : us >= 999.5 ? [1000, 'ms'] : [1, 'µs'],
    value = us / length;
  return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${unit}`;
}
