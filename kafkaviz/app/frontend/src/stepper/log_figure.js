// The figure of the log: batches to scale, those whose header was read, and the one that was found.
import {
  color,
  endText,
  hatchedDrawing,
  middleText,
  svg,
  svgLine,
  svgRect,
  svgStroke,
  svgText,
} from '../dom.js';
import { countText, fillTemplate, formatBytes, groupDigits, scale } from '../text.js';

const BATCHES = 14; // batches drawn side by side; of a longer scan, those around the current read

export function drawLog(state, step, scan) {
  const { $, data } = state,
    { words } = data,
    w = state.width,
    y = 34,
    bh = 36,
    h = 112,
    g = hatchedDrawing(w, h, $('f2t').textContent);
  $('f2s').textContent = scan.hint;
  if (!scan.rows.length) return $('lg').replaceChildren(g);
  const reads = scan.reads.slice(0, step.readings),
    now = step.phase === 'log' ? reads.at(-1) : null,
    list = batchesAround(scan.rows, reads.at(-1)?.[0] ?? scan.start);
  const p0 = list[0][0],
    p1 = list.at(-1)[0] + list.at(-1)[1],
    x = scale(p0, p1, 0, w),
    read = new Map();
  for (const reading of reads)
    if (reading[0] >= p0 && reading[0] < p1) {
      if (!read.has(reading[0])) read.set(reading[0], []);
      read.get(reading[0]).push(...reading[1].map(size => [size, reading === now]));
    }
  const foundPosition = step.ended || step.phase === 'record' ? scan.found : null;
  for (const [pos, size, base, last, newest, count] of list) {
    const xa = x(pos),
      xb = x(pos + size),
      rd = read.get(pos),
      isCurrent = rd?.some(([, isLast]) => isLast),
      hit = foundPosition === pos,
      full = base === last ? groupDigits(base) : `${groupDigits(base)}–${groupDigits(last)}`;
    const box = svg(
      'g',
      {},
      svgRect(xa + 1, y, Math.max(1, xb - xa - 2), bh, {
        rx: 3,
        fill: color(hit ? 'hit-soft' : rd ? 'scan-soft' : 'log-soft'),
        stroke: hit ? color('hit') : isCurrent ? color('scan') : 'none',
        'stroke-width': 2,
      }),
    );
    const readBytes = rd ? Math.min(61, Math.max(...rd.map(([bytes]) => bytes))) : 0,
      wide = Math.max(5, x(pos + readBytes) - xa),
      head = rd ? Math.max(1, Math.min(xb - xa - 2, wide)) : 0,
      low = head > (xb - xa) * 0.3; // the label is below a wide read
    if (rd)
      box.append(
        svgRect(xa + 1, low ? y + bh - 6 : y, head, low ? 6 : bh, {
          rx: 2,
          fill: color('scan'),
          opacity: isCurrent ? 1 : 0.5,
        }),
      );
    const text = xb - xa > full.length * 7.4 + 14 ? full : groupDigits(base);
    if (xb - xa > text.length * 7.4 + 12)
      box.append(
        middleText((xa + xb) / 2 + (rd && !low ? 4 : 0), y + (low ? 14 : 16), text, {
          class: 'mono',
          style: `font-size:12px;fill:${color('ink')};font-weight:${hit ? 650 : 500}`,
        }),
        middleText((xa + xb) / 2 + (rd && !low ? 5 : 0), y + (low ? 26 : 30), formatBytes(size), {
          style: 'font-size:11px',
          class: 'axt',
        }),
      );
    g.append(
      state.hover(box, () => [
        fillTemplate(words.batch, { first: groupDigits(base), last: groupDigits(last) }),
        countText(words, 'batch_bytes', count, {
          first: groupDigits(pos),
          last: groupDigits(pos + size - 1),
          size: groupDigits(size),
        }),
        fillTemplate(words.newest, { at: newest }),
      ]),
    );
  }
  if (p0 > 0) g.append(svgText(0, y - 10, '…', 'axt'));
  [...read.keys()].forEach((q, i, all) => {
    const a = x(all[i - 1]),
      b = x(q);
    if (i && b > a)
      g.append(
        svgStroke(
          `M${a + 4} ${y - 4}C${a + 8} ${y - 20} ${b - 6} ${y - 20} ${b + 2} ${y - 5}`,
          'scan',
          1.6,
        ),
        svg('path', { d: `M${b - 4} ${y - 11}l6 6 1 -8z`, fill: color('scan') }),
      );
  });
  const X = x(scan.start),
    known =
      step.readings ||
      step.phase === 'record' ||
      (step.over && step.search === state.data.searches.length - 1) ||
      (step.over && state.data.by === 'offset');
  if (known && X >= 0 && X <= w)
    g.append(
      svgLine(X, 8, X, y + bh + 4, { stroke: color('offset'), 'stroke-width': 2 }),
      svgText(X > w - 170 ? X - 6 : X + 6, 13, scan.entry, {
        'text-anchor': X > w - 170 ? 'end' : 'start',
        style: `fill:${color('offset-text')};font-weight:600`,
      }),
    );
  let right = -99;
  for (const p of [...list.map(([position]) => position), p1]) {
    const at = x(p),
      text = groupDigits(p);
    g.append(svgLine(at, y + bh + 3, at, y + bh + 8, { stroke: color('ink-3') }));
    if (at - right > text.length * 7 + 14) {
      g.append(
        svgText(at, y + bh + 21, text, {
          'text-anchor': at < 10 ? 'start' : at > w - 34 ? 'end' : 'middle',
          class: 'axt',
        }),
      );
      right = at;
    }
  }
  g.append(endText(w, h - 4, words.byte_of_log, 'axt'));
  $('lg').replaceChildren(g);
}

// Returns all of a few batches, else those around the read, which then stays near the left.
function batchesAround(rows, position) {
  if (rows.length <= BATCHES) return rows;
  const at = rows.findLastIndex(row => row[0] <= position),
    from = Math.max(0, Math.min(rows.length - BATCHES, at - 3));
  return rows.slice(from, from + BATCHES);
}
