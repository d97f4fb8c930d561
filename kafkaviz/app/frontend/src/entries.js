// Entries of an offset index above their batches, to scale. Once revealed, it also shows where the
// search starts and which batches it passes.
import { color, drawingWidth, middleText, svg, svgRect, svgStroke, svgText } from './dom.js';
import { groupDigits, scale } from './text.js';

const HIGH = 312,
  GAP = 8,
  TOP = 26,
  CELL = 52,
  LOG = 176;

export default function ({ parentElement: root, data }) {
  const $ = name => root.querySelector(`.${name}`),
    state = (root.host.__entries ??= {});
  state.release?.(); // Streamlit calls this again on each change without cleaning up first
  $('ft').textContent = data.title;
  $('fs').textContent = data.below;
  const show = () => {
    const w = drawingWidth($('pic'));
    if (w !== state.width) {
      state.width = w;
      $('pic').replaceChildren(drawPicture(data, w));
    }
  };
  state.width = 0;
  show();
  const sizes = new ResizeObserver(show);
  sizes.observe(root.host);
  return (state.release = () => sizes.disconnect());
}

function drawPicture(d, w) {
  const end = Math.max(...d.batches.map(([p, size]) => p + size)),
    x = scale(0, end, 0, w);
  const drawing = svg('svg', {
    height: HIGH,
    viewBox: `0 0 ${w} ${HIGH}`,
    role: 'img',
    'aria-label': d.title,
  });
  drawSlots(drawing, d, w, x);
  d.batches.forEach(batch => drawLog(drawing, d, batch, x));
  d.revealed ? drawHops(drawing, d, x) : drawWaiting(drawing, d, x);
  return drawing;
}

function drawSlots(drawing, d, w, x) {
  const wide = (w - GAP * (d.slots.length - 1)) / d.slots.length,
    few = wide < 86 ? ' few' : '';
  d.slots.forEach(([key, position], i) => {
    const left = i * (wide + GAP),
      mid = left + wide / 2,
      out = d.revealed && key > d.target,
      hit = d.revealed && i === d.slot;
    drawing.append(
      svgStroke(
        `M${mid} ${TOP + CELL}C${mid} 130 ${x(position) + 1} 110 ${x(position) + 1} ${LOG - 4}`,
        d.revealed && !hit ? 'ink-3' : 'offset',
        hit ? 2.6 : out ? 0.8 : 1.2,
      ),
    );
    drawing.append(
      svgRect(left, TOP, wide, CELL, {
        rx: 4,
        fill: hit ? color('hit-soft') : color('offset-soft'),
        stroke: hit ? color('hit') : 'none',
        'stroke-width': 2.4,
        opacity: out ? 0.5 : 1,
      }),
    );
    if (wide > 40) drawing.append(svgText(left, 19, `${d.slot_word} ${i}`, 'axt'));
    let text = groupDigits(key);
    if (wide > 76 && out) text += ` > ${groupDigits(d.target)}`;
    else if (wide > 76 && hit) text += ` ≤ ${groupDigits(d.target)} ✓`;
    const look = { class: `mono k${few}`, opacity: out ? 0.7 : 1 };
    drawing.append(middleText(mid, 50, text, look));
    if (wide > 40) drawing.append(middleText(mid, 69, `→ ${groupDigits(position)}`, 'mono'));
  });
}

function drawLog(drawing, d, [position, size, first, last], x) {
  const left = x(position),
    wide = x(position + size) - left,
    holds = first <= d.target && d.target <= last,
    read = d.revealed && d.passed.includes(position);
  const fill = d.revealed && holds ? 'hit-soft' : read ? 'scan-soft' : 'log-soft';
  drawing.append(
    svgRect(left + 1, LOG, Math.max(1, wide - 2), CELL, {
      rx: 3,
      fill: color(fill),
      stroke: holds ? color(d.revealed ? 'hit' : 'ink') : 'none',
      'stroke-width': 2,
    }),
  );
  if (read || (d.revealed && position === d.batch))
    drawing.append(svgRect(left + 1, LOG, 6, CELL, { rx: 2, fill: color('scan') }));
  const range = `${first}–${last}`,
    text = first !== last && wide > range.length * 7.6 + (read ? 8 : 2) ? range : String(first);
  if (wide > 26) drawing.append(middleText(left + wide / 2 + (read ? 3 : 0), 207, text, 'mono b'));
  if (wide > 34) drawing.append(svgText(left + 2, 246, groupDigits(position), 'axt'));
}

function drawHops(drawing, d, x) {
  const stops = [...d.passed, d.batch];
  for (let i = 0; i + 1 < stops.length; i++) {
    const a = x(stops[i]) + 5,
      b = x(stops[i + 1]) + 2;
    drawing.append(
      svgStroke(`M${a} 258Q${(a + b) / 2} 280 ${b} 259`, 'scan', 2),
      svg('path', { d: `M${b - 5} 264l6-8 3 9z`, fill: color('scan') }),
    );
  }
  const late = x(d.from) > x(d.batches.at(-1)[0]) * 0.7;
  drawing.append(
    svgText(late ? x(d.batch) + 8 : x(d.from) + 4, 296, d.read, {
      'text-anchor': late ? 'end' : 'start',
      class: 'w r',
    }),
  );
}

function drawWaiting(drawing, d, x) {
  const [position, size] = d.batches.find(
    ([, , first, last]) => first <= d.target && d.target <= last,
  ) ?? [0, 0];
  const at = x(position + size / 2),
    end = at > x(d.batches.at(-1)[0]) ? 'end' : 'middle';
  drawing.append(
    svgText(end === 'end' ? x(position + size) : Math.max(70, at), 276, d.here, {
      'text-anchor': end,
      class: 'w',
    }),
  );
}
