// The stepper of a lookup: three figures, the pseudocode and its values. Other components on the page hear of each step by the event kv-step.
import { addHatches, color, html, setContent, svg } from '../dom.js';
import { buildValues, goToStep, showValues, startStepper, stop } from '../steps.js';
import { countText, fillTemplate, formatBytes, groupDigits, scale } from '../text.js';

const BATCHES = 14; // drawn side by side; of a longer scan those around the read

export default function ({ parentElement: root, data, setTriggerValue }) {
  return startStepper(root, data, {
    build,
    draw,
    wide: drawnIn,
    moved,
    ask: slot => setTriggerValue('slot', slot),
  });
}

function build(state) {
  const { data } = state;
  state.search = null;
  if (!state.$('cursor').matches(':focus')) state.slot = null;
  state.$('fl').hidden = !data.scans.length;
  state.$('fx').hidden = state.$('two').hidden = !data.searches.length;
  dots(state);
}

function drawnIn(state) {
  return state.$('fx').hidden ? state.$('say') : state.$('ix');
}

function moved(state, { search, probes, over }) {
  const position = { key: state.key, search, probes, over };
  document.__kvStep = position; // for who comes later
  document.dispatchEvent(new CustomEvent('kv-step', { detail: position }));
}

// A dot a step, in groups: one a phase, and again where a phase comes again.
function dots(state) {
  const groups = [],
    { words } = state.data;
  state.data.steps.forEach((step, i) => {
    if (groups.at(-1)?.phase !== step.phase) groups.push({ phase: step.phase, own: [] });
    groups.at(-1).own.push([step, i]);
  });
  state.dots = [];
  state.groups = groups.map(({ phase, own }) => {
    const buttons = own.map(([step, i]) => {
      const dot = html('button', {
        'aria-label': fillTemplate(words.step_text, { n: i + 1, text: step.text }),
        class: step.over && step.phase === state.data.searches[step.search]?.kind ? 'dn' : '',
      });
      dot.onclick = () => {
        stop(state);
        goToStep(state, i);
      };
      return (state.dots[i] = state.hover(dot, () => [
        fillTemplate(words.step, { n: i + 1 }),
        step.text,
      ]));
    });
    const box = html(
      'div',
      { class: 'dg' },
      html('span', { class: 'lab' }, words[`phase_${phase}`]),
      html('div', { class: 'dd' }, buttons),
    );
    return { box, from: own[0][1], to: own.at(-1)[1] };
  });
  state.$('way').replaceChildren(...state.groups.map(group => group.box));
  state.marked = -1;
}

function draw(state, step) {
  const { $, data } = state;
  mark(state);
  if (!data.searches.length) return;
  const search = data.searches[step.search],
    view = searchProgress(step, search);
  code(state, step, search);
  [$('f1t').textContent, $('f2t').textContent, $('f3t').textContent] = step.titles;
  $('f1s').textContent = search.hint;
  if (hasChanged(state, 'index', step.search, step.probes, step.over, step.phase === search.kind)) {
    $('ix').replaceChildren((search.cells ? drawSmall : drawBig)(state, state.width, search, view));
    cursor(state, search);
  }
  const atLog = step.phase === 'log' || step.phase === 'record' ? step.phase : '';
  if (
    data.scans.length &&
    hasChanged(state, 'log', step.scan, step.readings, step.ended, atLog, step.over && step.search)
  )
    drawLog(state, step, data.scans[step.scan]);
  if (hasChanged(state, 'records', atLog === 'record')) drawRecords(state, step);
}

// Whether a figure shows something else than before: what stays as it is costs no layout and no paint.
function hasChanged(state, figure, ...parts) {
  const was = state.drawn[figure],
    now = parts.join();
  state.drawn[figure] = now;
  return was !== now;
}

// The dots of the steps: only those between the step before and this one change.
function mark(state) {
  const was = state.marked ?? -1,
    changed =
      was < 0
        ? state.dots.keys()
        : Array.from(
            { length: Math.abs(was - state.step) + 1 },
            (_, i) => Math.min(was, state.step) + i,
          );
  for (const i of changed) {
    const dot = state.dots[i];
    dot?.classList.toggle('on', i === state.step);
    dot?.classList.toggle('past', i < state.step);
    dot?.setAttribute('aria-current', i === state.step ? 'step' : 'false');
  }
  state.groups.forEach(group =>
    group.box.classList.toggle('on', group.from <= state.step && state.step <= group.to),
  );
  state.marked = state.step;
}

// What of a search is known at a step: its probes so far, the last of them, the pages they touched.
function searchProgress(step, search) {
  const probes = search.rows.slice(0, step.probes),
    last = probes.at(-1),
    pages = new Set(probes.flatMap(p => p.pages));
  const foundSlot = step.over && search.slot >= 0 ? search.slot : null;
  const left =
    foundSlot !== null ? [foundSlot, foundSlot] : last ? last.after : [0, search.entries - 1];
  return {
    probes,
    last,
    pages,
    foundSlot,
    left,
    over: step.over,
    now: !step.over && step.phase === search.kind ? last : null,
  };
}

function code(state, step, search) {
  const { $, data } = state,
    scan = data.scan_code,
    id = `${step.search}`;
  if (state.search !== id || !state.lines) {
    state.search = id;
    const line = (text, n) =>
        html('div', { class: 'l' }, html('i', {}, String(n + 1)), html('span', {}, text)),
      title = text => html('div', { class: 'g' }, text);
    state.lines = {
      search: search.code.map(line),
      scan: scan.code.map((text, n) => line(text, search.code.length + n)),
    };
    $('code').replaceChildren(
      title(search.code_title),
      ...state.lines.search,
      ...(scan.code.length ? [title(scan.title)] : []),
      ...state.lines.scan,
    );
    buildValues(state, data.values);
  }
  for (const [part, lines] of Object.entries(state.lines))
    lines.forEach((line, n) =>
      line.classList.toggle('on', step.line?.[0] === part && step.line[1] === n),
    );
  showValues(state, step);
}

// ---- the index

const canvas = (w, h, label) =>
  addHatches(svg('svg', { height: h, viewBox: `0 0 ${w} ${h}`, role: 'img', 'aria-label': label }));
const tick = (x, y, r) => [
  svg('circle', {
    cx: x,
    cy: y,
    r,
    fill: color('hit'),
    stroke: color('raised'),
    'stroke-width': 2,
  }),
  svg('path', {
    d: `M${x - 3.6} ${y}l2.6 3 4.6-5.6`,
    fill: 'none',
    stroke: color('bg'),
    'stroke-width': 1.8,
  }),
];
const disc = (x, y, n, fill) =>
  svg(
    'g',
    {},
    svg('circle', { cx: x, cy: y, r: 9, fill }),
    svg(
      'text',
      {
        x,
        y: y + 4,
        'text-anchor': 'middle',
        style: `fill:${color('bg')};font-size:11.5px;font-weight:650`,
      },
      String(n),
    ),
  );
const colour = search => (search.kind === 'time' ? 'time' : 'offset');

function clickable(state, search, box, slotAt) {
  if (!state.data.picks || search.kind !== state.data.by) return box;
  box.classList.add('pick');
  box.addEventListener('click', event => state.own.ask({ key: state.key, slot: slotAt(event) }));
  return box;
}

// The same by keyboard: a cursor on one slot, which arrows, Page keys, Home and End move and Enter looks up.
function cursor(state, search) {
  const { words, by, picks } = state.data,
    box = state.$('cursor'),
    last = search.entries - 1;
  box.hidden = !picks || search.kind !== by || last < 0;
  if (box.hidden) return;
  const move = to => {
    state.slot = Math.max(0, Math.min(last, to));
    const [left, top, width, height] = state.place(state.slot),
      sentence =
        search.cells?.[state.slot][2] ??
        fillTemplate(words.pick_slot, { slot: groupDigits(state.slot), last: groupDigits(last) });
    Object.assign(box.style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${width}px`,
      height: `${height}px`,
    });
    box.classList.toggle('right', left > state.width / 2);
    setContent(
      box,
      {
        'aria-label': words.pick,
        'aria-valuemin': 0,
        'aria-valuemax': last,
        'aria-valuenow': state.slot,
        'aria-valuetext': fillTemplate(words.pick_at, { told: sentence }),
      },
      [],
    );
  };
  move(state.slot ?? Math.max(0, search.slot));
  box.onkeydown = event => {
    const page = Math.ceil(search.page_slots),
      to = {
        ArrowRight: state.slot + 1,
        ArrowUp: state.slot + 1,
        ArrowLeft: state.slot - 1,
        ArrowDown: state.slot - 1,
        PageUp: state.slot + page,
        PageDown: state.slot - page,
        Home: 0,
        End: last,
      }[event.key];
    if (
      event.metaKey ||
      event.ctrlKey ||
      event.altKey ||
      (to === undefined && event.key !== 'Enter')
    )
      return;
    event.preventDefault();
    if (to === undefined) state.own.ask({ key: state.key, slot: state.slot });
    else move(to);
  };
}

function drawSmall(state, w, search, view) {
  const { words } = state.data,
    { probes, now, foundSlot, pages } = view,
    N = search.entries,
    F = search.warm_from,
    col = colour(search);
  const time = search.kind === 'time',
    L = 44,
    R = time ? 124 : 104,
    cw = N ? Math.min(150, (w - L - R) / N) : 0,
    x = s => L + s * cw,
    tiny = cw < (time ? 42 : 25),
    H0 = tiny ? 30 : 52,
    top = 30,
    rowH = 24,
    y0 = top + H0 + 34;
  const g = canvas(w, y0 + Math.max(search.rows.length, 1) * rowH + 6, state.$('f1t').textContent),
    page = s => Math.floor(s / search.page_slots);
  state.place = s => [x(s) + 1, top, Math.max(3, cw - 2), H0];
  for (let s = 1, a = 0; s <= N; s++)
    if (s === N || page(s) !== page(a)) {
      const p = page(a),
        on = pages.has(p),
        word =
          x(s) - x(a) > 96 && on
            ? fillTemplate(words.page_touched, { n: p })
            : x(s) - x(a) > 44
              ? fillTemplate(words.page, { n: p })
              : String(p);
      g.append(
        svg('path', {
          d: `M${x(a) + 2} ${top - 4}v-5h${x(s) - x(a) - 4}v5`,
          fill: 'none',
          stroke: color(on ? 'ink' : 'line-2'),
          'stroke-width': on ? 1.8 : 1,
        }),
        svg(
          'text',
          {
            x: (x(a) + x(s)) / 2,
            y: top - 14,
            'text-anchor': 'middle',
            class: on ? 'strong' : 'axt',
          },
          word,
        ),
      );
      a = s;
    }
  if (F !== null) {
    g.append(
      svg('rect', { x: x(F), y: top + H0 + 5, width: x(N) - x(F), height: 9, fill: 'url(#hWarm)' }),
      svg(
        'text',
        {
          x: x(N),
          y: top + H0 + 26,
          'text-anchor': 'end',
          style: `fill:${color('warm-text')};font-weight:600`,
        },
        F === 0 ? words.warm_all : words.warm,
      ),
    );
    if (F > 0)
      g.append(
        svg('rect', {
          x: x(0),
          y: top + H0 + 5,
          width: x(F) - x(0) - 2,
          height: 9,
          fill: color('cold-soft'),
        }),
        svg('text', { x: x(0), y: top + H0 + 26, style: `fill:${color('cold-text')}` }, words.cold),
      );
  }
  if (tiny)
    g.append(
      svg('text', { x: 0, y: top + 19, class: 'axt' }, words.slots),
      svg(
        'text',
        { x: x(N) + 10, y: top + 19, class: 'axt' },
        N ? fillTemplate(words.slots_to, { last: N - 1 }) : '',
      ),
    );
  else
    [words.slot, words.key, time ? words.offset : search.cells[0]?.[1] ? words.byte : ''].forEach(
      (t, i) => g.append(svg('text', { x: 0, y: top + [15, 32, 46][i], class: 'axt' }, t)),
    );
  const probed = new Set(probes.map(p => p.slot)),
    [lo, hi] = view.left ?? [N, -1];
  search.cells.forEach(([key, value, sentence], s) => {
    const out = probes.length && (s < lo || s > hi),
      hit = foundSlot === s,
      isCurrent = now?.slot === s,
      mid = x(s) + cw / 2;
    const cell = svg(
      'g',
      { opacity: out && !probed.has(s) ? 0.42 : 1 },
      svg('rect', {
        x: x(s) + 1,
        y: top,
        width: Math.max(1, cw - 2),
        height: H0,
        rx: 3,
        fill: color(hit ? 'hit-soft' : out ? 'panel' : `${col}-soft`),
        stroke: hit ? color('hit') : isCurrent ? color('probe') : 'none',
        'stroke-width': hit || isCurrent ? 2.4 : 0,
      }),
    );
    if (!tiny)
      cell.append(
        svg(
          'text',
          { x: mid, y: top + 15, 'text-anchor': 'middle', class: 'axt', style: 'font-size:11px' },
          s + (hit ? ' ✓' : ''),
        ),
        svg(
          'text',
          {
            x: mid,
            y: top + 32,
            'text-anchor': 'middle',
            class: 'mono',
            style: `font-size:${cw < 44 ? 11 : 13}px;font-weight:600;fill:${color('ink')}`,
          },
          time ? key.slice(cw < 60 ? 9 : 6) : cw < 44 ? key.replace(/\s/g, '') : key,
        ),
        svg(
          'text',
          {
            x: mid,
            y: top + 46,
            'text-anchor': 'middle',
            class: 'mono',
            style: `font-size:${cw < 44 ? 9.5 : 11}px;fill:${color('ink-3')}`,
          },
          cw < 44 ? value.replace(/\s/g, '') : value,
        ),
      );
    else if (hit)
      cell.append(
        svg('path', {
          d: `M${mid - 4} ${top + 15}l3 3.4 5.4-7`,
          fill: 'none',
          stroke: color('hit'),
          'stroke-width': 2,
        }),
      );
    else if (probed.has(s))
      cell.append(svg('circle', { cx: mid, cy: top + 15, r: 2.6, fill: color('ink') }));
    g.append(
      clickable(
        state,
        search,
        state.hover(cell, () => [sentence]),
        () => s,
      ),
    );
  });
  probes.forEach((p, i) => {
    const y = y0 + i * rowH + rowH / 2,
      isCurrent = p === now,
      [a, b] = p.before;
    const cut = (l, r) => {
      if (r >= l)
        g.append(
          svg('rect', {
            x: x(l) + 1,
            y: y - 6,
            width: (r - l + 1) * cw - 2,
            height: 12,
            rx: 3,
            fill: 'url(#hOut)',
            stroke: color('line'),
          }),
        );
    };
    if (!p.after) cut(a, b);
    else {
      cut(a, p.after[0] - 1);
      cut(p.after[1] + 1, b);
      if (p.after[1] >= p.after[0])
        g.append(
          svg('rect', {
            x: x(p.after[0]) + 1,
            y: y - 6,
            width: Math.max(1, (p.after[1] - p.after[0] + 1) * cw - 2),
            height: 12,
            rx: 3,
            fill: color(col),
            opacity: isCurrent ? 0.62 : 0.3,
          }),
        );
    }
    const short = text => (time ? text.slice(6) : text);
    g.append(
      svg('text', { x: 0, y: y + 4, class: isCurrent ? 'strong' : 'axt' }, words.probe),
      disc(x(p.slot) + cw / 2, y, i + 1, color(isCurrent ? 'probe' : 'ink-2')),
      svg(
        'text',
        {
          x: w,
          y: y + 4,
          'text-anchor': 'end',
          class: `${isCurrent ? 'strong ' : ''}mono`,
          style: 'font-size:12px',
        },
        `${short(p.key)} ${p.compare} ${short(search.target)}`,
      ),
    );
  });
  return g;
}

function drawBig(state, w, search, view) {
  const { words } = state.data,
    { probes, now, foundSlot, pages } = view,
    N = search.entries,
    F = search.warm_from,
    per = search.page_slots,
    NP = search.pages,
    all = search.rows.length,
    col = colour(search);
  const tight = all > 14,
    rowH = tight ? 19 : 23,
    bar = tight ? 9 : 11,
    sy = 40,
    sh = 26,
    y0 = sy + sh + 54,
    px = scale(0, NP, 0, w);
  const g = canvas(w, y0 + Math.max(1, all) * rowH + 8, state.$('f1t').textContent),
    slotX = slot => px(slot / per);
  state.place = s => [Math.min(slotX(s), w - 6), sy, Math.max(6, slotX(s + 1) - slotX(s)), sh];
  const strip = svg(
    'g',
    {},
    svg('rect', { x: 0, y: sy, width: w, height: sh, fill: color(`${col}-soft`), rx: 3 }),
  );
  g.append(svg('text', { x: 0, y: 12, class: 'axt' }, search.strip), strip);
  if (NP <= w / 5)
    for (let i = 1; i < NP; i++)
      strip.append(svg('line', { x1: px(i), x2: px(i), y1: sy, y2: sy + sh, stroke: color('bg') }));
  if (F !== null) {
    const ww = Math.max(4, w - slotX(F)),
      part = ((N - F) * 100) / N;
    strip.append(
      svg('rect', {
        x: w - ww,
        y: sy,
        width: ww,
        height: sh,
        fill: ww < 9 ? color('warm') : 'url(#hWarm)',
      }),
    );
    g.append(
      svg(
        'text',
        {
          x: w,
          y: sy + sh + 15,
          'text-anchor': 'end',
          style: `fill:${color('warm-text')};font-weight:600`,
        },
        F === 0
          ? words.warm_all
          : fillTemplate(words.warm_share, { share: part.toFixed(part < 1 ? 2 : 0) }),
      ),
    );
  }
  clickable(
    state,
    search,
    state.data.picks ? state.hover(strip, () => [words.click]) : strip,
    event => {
      const box = strip.getBoundingClientRect();
      return Math.max(
        0,
        Math.min(N - 1, Math.floor(((event.clientX - box.left) / box.width) * NP * per)),
      );
    },
  );
  if (probes.length && view.left) {
    const xa = slotX(view.left[0]),
      xb = slotX(view.left[1] + 1);
    g.append(
      svg('rect', {
        x: Math.min(xa, w - 3),
        y: sy,
        width: Math.max(3, xb - xa),
        height: sh,
        fill: color(col),
        opacity: 0.34,
        'pointer-events': 'none',
      }),
    );
  }
  for (const k of pages)
    g.append(
      svg('line', {
        x1: px(k + 0.5),
        x2: px(k + 0.5),
        y1: sy - 4,
        y2: sy + sh + 4,
        stroke: color('probe'),
        'stroke-width': now?.pages.includes(k) ? 2.6 : 1.4,
      }),
    );
  const pageNumbers =
    [...pages].slice(0, 13).map(groupDigits).join(', ') + (pages.size > 13 ? ' …' : '');
  g.append(
    svg(
      'text',
      { x: 0, y: sy + sh + 15 },
      pages.size
        ? countText(words, 'pages_touched', pages.size, { pages: pageNumbers })
        : words.no_page,
    ),
  );
  if (NP <= 14)
    for (let i = 0; i < NP; i++)
      g.append(
        svg(
          'text',
          { x: px(i) + 5, y: sy - 6, class: 'axt', style: 'font-size:11px' },
          fillTemplate(words.page, { n: i }),
        ),
      );
  if (foundSlot !== null) g.append(...tick(slotX(foundSlot + 0.5), sy + sh / 2, 8));
  const fw = w - 220;
  g.append(svg('text', { x: 0, y: y0 - 16, class: 'axt' }, words.magnifies));
  probes.forEach((p, i) => {
    const y = y0 + i * rowH,
      [a, b] = p.before,
      isCurrent = p === now,
      x = scale(a, b + 1, 0, fw),
      [lo, hi] = p.after ?? [b + 1, b],
      xa = x(lo),
      xb = x(hi + 1);
    if (lo > a)
      g.append(
        svg('rect', {
          x: 0,
          y,
          width: Math.max(0, xa),
          height: bar,
          rx: 2,
          fill: 'url(#hOut)',
          stroke: color('line'),
        }),
      );
    if (hi < b && p.after)
      g.append(
        svg('rect', {
          x: xb,
          y,
          width: Math.max(0, fw - xb),
          height: bar,
          rx: 2,
          fill: 'url(#hOut)',
          stroke: color('line'),
        }),
      );
    if (p.after) {
      g.append(
        svg('rect', {
          x: xa,
          y,
          width: Math.max(2, xb - xa),
          height: bar,
          rx: 2,
          fill: color(col),
          opacity: isCurrent ? 0.75 : 0.42,
        }),
      );
      if (i < probes.length - 1 || !view.over)
        g.append(
          svg('path', {
            d: `M${xa} ${y + bar}L0 ${y + rowH}H${fw}L${Math.max(xb, xa + 2)} ${y + bar}Z`,
            fill: color(col),
            opacity: 0.13,
          }),
        );
    }
    if (i === 0 && F > 0) {
      const xf = Math.min(x(F), fw - 4);
      g.append(
        svg('rect', {
          x: xf,
          y,
          width: fw - xf,
          height: bar,
          fill: fw - xf < 9 ? color('warm') : 'url(#hWarm)',
        }),
      );
    }
    g.append(
      svg('circle', {
        cx: x(p.slot + 0.5),
        cy: y + bar / 2,
        r: isCurrent ? 6.5 : 4.5,
        fill: color(isCurrent ? 'probe' : 'ink-2'),
        stroke: color('raised'),
        'stroke-width': 1.5,
      }),
      svg(
        'text',
        { x: fw + 14, y: y + bar / 2 + 4, class: isCurrent ? 'strong' : '' },
        String(i + 1),
      ),
      svg(
        'text',
        {
          x: fw + 34,
          y: y + bar / 2 + 4,
          class: `${isCurrent ? 'strong ' : ''}mono`,
          style: 'font-size:11.5px',
        },
        `${search.kind === 'time' ? p.key.slice(3) : p.key} ${p.compare}`,
      ),
      svg(
        'text',
        {
          x: w,
          y: y + bar / 2 + 4,
          'text-anchor': 'end',
          class: isCurrent ? '' : 'axt',
          style: 'font-size:11.5px',
        },
        p.after ? fillTemplate(words.left, { n: groupDigits(hi - lo + 1) }) : words.none_left,
      ),
    );
  });
  if (!probes.length)
    g.append(
      svg('rect', { x: 0, y: y0, width: fw, height: bar, rx: 2, fill: color(`${col}-soft`) }),
      svg(
        'text',
        { x: fw + 14, y: y0 + bar / 2 + 4, class: 'axt' },
        fillTemplate(words.n_slots, { n: groupDigits(N) }),
      ),
    );
  return g;
}

// ---- the log and the records

function drawLog(state, step, scan) {
  const {
      $,
      data: { words },
    } = state,
    w = state.width,
    y = 34,
    bh = 36,
    h = 112,
    g = canvas(w, h, $('f2t').textContent);
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
      svg('rect', {
        x: xa + 1,
        y,
        width: Math.max(1, xb - xa - 2),
        height: bh,
        rx: 3,
        fill: color(hit ? 'hit-soft' : rd ? 'scan-soft' : 'log-soft'),
        stroke: hit ? color('hit') : isCurrent ? color('scan') : 'none',
        'stroke-width': 2,
      }),
    );
    const head = rd
        ? Math.max(
            1,
            Math.min(
              xb - xa - 2,
              Math.max(5, x(pos + Math.min(61, Math.max(...rd.map(([bytes]) => bytes)))) - xa),
            ),
          )
        : 0,
      low = head > (xb - xa) * 0.3; // a wide read lies below the words
    if (rd)
      box.append(
        svg('rect', {
          x: xa + 1,
          y: low ? y + bh - 6 : y,
          width: head,
          height: low ? 6 : bh,
          rx: 2,
          fill: color('scan'),
          opacity: isCurrent ? 1 : 0.5,
        }),
      );
    const text = xb - xa > full.length * 7.4 + 14 ? full : groupDigits(base);
    if (xb - xa > text.length * 7.4 + 12)
      box.append(
        svg(
          'text',
          {
            x: (xa + xb) / 2 + (rd && !low ? 4 : 0),
            y: y + (low ? 14 : 16),
            'text-anchor': 'middle',
            class: 'mono',
            style: `font-size:12px;fill:${color('ink')};font-weight:${hit ? 650 : 500}`,
          },
          text,
        ),
        svg(
          'text',
          {
            x: (xa + xb) / 2 + (rd && !low ? 5 : 0),
            y: y + (low ? 26 : 30),
            'text-anchor': 'middle',
            style: 'font-size:11px',
            class: 'axt',
          },
          formatBytes(size),
        ),
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
  if (p0 > 0) g.append(svg('text', { x: 0, y: y - 10, class: 'axt' }, '…'));
  [...read.keys()].forEach((q, i, all) => {
    const a = x(all[i - 1]),
      b = x(q);
    if (i && b > a)
      g.append(
        svg('path', {
          d: `M${a + 4} ${y - 4}C${a + 8} ${y - 20} ${b - 6} ${y - 20} ${b + 2} ${y - 5}`,
          fill: 'none',
          stroke: color('scan'),
          'stroke-width': 1.6,
        }),
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
      svg('line', {
        x1: X,
        x2: X,
        y1: 8,
        y2: y + bh + 4,
        stroke: color('offset'),
        'stroke-width': 2,
      }),
      svg(
        'text',
        {
          x: X > w - 170 ? X - 6 : X + 6,
          y: 13,
          'text-anchor': X > w - 170 ? 'end' : 'start',
          style: `fill:${color('offset-text')};font-weight:600`,
        },
        scan.entry,
      ),
    );
  let right = -99;
  for (const p of [...list.map(([position]) => position), p1]) {
    const at = x(p),
      text = groupDigits(p);
    g.append(
      svg('line', { x1: at, x2: at, y1: y + bh + 3, y2: y + bh + 8, stroke: color('line-2') }),
    );
    if (at - right > text.length * 7 + 14) {
      g.append(
        svg(
          'text',
          {
            x: at,
            y: y + bh + 21,
            'text-anchor': at < 10 ? 'start' : at > w - 34 ? 'end' : 'middle',
            class: 'axt',
          },
          text,
        ),
      );
      right = at;
    }
  }
  g.append(svg('text', { x: w, y: h - 4, 'text-anchor': 'end', class: 'axt' }, words.byte_of_log));
  $('lg').replaceChildren(g);
}

// Few batches are all drawn; of many those around the read, which then stays near the left.
function batchesAround(rows, position) {
  if (rows.length <= BATCHES) return rows;
  const at = rows.findLastIndex(row => row[0] <= position),
    from = Math.max(0, Math.min(rows.length - BATCHES, at - 3));
  return rows.slice(from, from + BATCHES);
}

function drawRecords(state, step) {
  const { $, data } = state,
    on = step.phase === 'record',
    hit = data.records.findIndex(([offset]) => offset === data.hit);
  $('fr').hidden = !data.records.length;
  if (!data.records.length) return;
  const boxes = data.records.map(([_offset, text, label, when], i) =>
    state.hover(
      html(
        'div',
        { class: on && i === hit ? 'hit' : on && i < hit ? 'skip' : '' },
        html('b', {}, text),
        label,
      ),
      () => [fillTemplate(data.words.offset_n, { offset: text }), when],
    ),
  );
  $('rc').replaceChildren(
    html('div', { class: on ? 'rec' : 'rec off' }, boxes),
    ...(data.records_hint ? [html('div', { class: 'ty fnt more' }, data.records_hint)] : []),
  );
}
