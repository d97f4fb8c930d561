// The sentence below the figure: what is under the pointer, or pinned.

import { html, renderMarkup } from '../dom.js';
import { fillTemplate, groupDigits, pluralText } from '../text.js';
import { BEYOND, COARSE, INSIDE, PAST } from './constants.js';

import { num } from './message.js';
import { chain } from './selection.js';

const FAR_MS = 8640000000000000n; // as far as a Date goes

export const dated = ts => ts !== -1n && ts <= FAR_MS && ts >= -FAR_MS;

export const day = text => text.slice(0, -14); // of 2026-11-21T09:29:44.123Z

export const iso = ts => new Date(num(ts)).toISOString();

export const when = (ts, cut = [-13, -1]) =>
  dated(ts) ? iso(ts).slice(...cut) : ts === -1n ? '–' : `${groupDigits(ts)} ms`;

const moment = ts => (dated(ts) ? `${day(iso(ts))} ${when(ts)}` : when(ts));

const range = (state, b) =>
  b.first >= 0n
    ? `${groupDigits(b.first)}–${groupDigits(b.last)}`
    : fillTemplate(state.data.words.up_to, { last: groupDigits(b.last) });

// Two sentences of the words that were sent, or one of them.
function sentences(state, ...told) {
  const { gap } = state.data.words;
  return told.filter(one => one.length).flatMap((one, i) => (i ? [gap, ...one] : one));
}

// A sentence; of a number of things where there is one.
const tell = (state, key, values = {}, n = null) =>
  renderMarkup(
    pluralText(state.data.words, key, n),
    n === null ? values : { n: groupDigits(n), ...values },
  );

export const over = (state, key, n, values) =>
  n > 0 ? tell(state, `${key}_over`, values, n) : tell(state, key, values);

export const wrong = (state, key, values, n) => [
  html('span', { class: 'bad' }, ...tell(state, key, values, n)),
];

export function say(state) {
  const sel = state.hover ?? state.pin,
    l = chain(state, sel),
    b = l.batch;
  const ofBatch = () =>
    b
      ? sentences(
          state,
          tell(state, 'batch', {
            range: range(state, b),
            position: groupDigits(b.pos),
            size: groupDigits(b.size),
          }),
          how(state, l),
        )
      : [];
  state
    .$('say')
    .replaceChildren(
      html(
        'span',
        {},
        ...(sel.entry ? ofSlot(state, sel.entry) : sel.time ? ofTime(state, sel.time) : ofBatch()),
      ),
    );
}

// How a search for this batch finds it.
function how(state, { batch: b, entry: e, direct }) {
  if (direct) return own(state, b, e);
  if (state.data.lanes.index.missing) return over(state, 'missing_index', b.i);
  if (!state.batch(b.i) && b.via >= 0)
    return tell(state, b.slot >= 0 ? 'own_away' : 'lands_away', {
      slot: groupDigits(b.slot >= 0 ? b.slot : b.via),
    });
  if (!e && b.via >= 0) return tell(state, 'lands_before', { slot: groupDigits(b.via) });
  if (!e) return over(state, 'before_first', b.i);
  const slot = groupDigits(e.slot);
  if (e.batch > b.i) return tell(state, 'lands_past', { slot });
  if (e.batch < 0) return tell(state, e.aim === BEYOND ? 'lands_beyond' : 'lands_inside', { slot });
  return over(state, 'lands', b.i - e.batch, { slot });
}

export function own(state, b, e) {
  const at = { slot: groupDigits(e.slot), key: groupDigits(e.key) };
  if (e.aim === COARSE) return tell(state, 'own_append', at, e.home - b.i);
  if (e.key !== b.last) return tell(state, 'own_any', at);
  const others =
    b.n === 1
      ? []
      : e.slot > 0
        ? tell(state, 'others_slot', { slot: groupDigits(e.slot - 1) })
        : tell(state, 'others_start');
  return sentences(state, tell(state, 'own', at), others);
}

function ofSlot(state, e) {
  const told = tell(state, 'entry', {
    slot: groupDigits(e.slot),
    key: groupDigits(e.key),
    position: groupDigits(e.pos),
  });
  const fault =
    e.aim === PAST
      ? past(state, e)
      : ({ [INSIDE]: 'inside', [BEYOND]: e.home < 0 ? 'no_holder' : 'beyond' }[e.aim] ??
        (e.aim > BEYOND ? 'unordered' : ''));
  return sentences(
    state,
    told,
    typeof fault === 'string' ? (fault ? wrong(state, fault) : []) : fault,
  );
}

// How far an entry points behind the batch of its offset, and what a search from there passes over.
export function past(state, e) {
  const home = state.batch(e.home),
    target = state.batch(e.batch);
  const begins = target ? '_begins' : '',
    values = target ? { first: groupDigits(target.first), missed: missed(state, e, target) } : {};
  return home
    ? wrong(state, `past${begins}`, { range: range(state, home), ...values }, e.pos - home.pos)
    : wrong(state, `past_away${begins}`, values);
}

// The offsets from the key of an entry that points too far up to where a search from there begins, or to the next key.
function missed(state, e, target) {
  const next = state.entry(e.slot + 1)?.key,
    last = (next !== undefined && next < target.first ? next : target.first) - 1n;
  return last > e.key ? `${groupDigits(e.key)}–${groupDigits(last)}` : groupDigits(e.key);
}

function ofTime(state, t) {
  const b = state.batch(t.batch),
    told = tell(state, 'time_entry', {
      slot: groupDigits(t.slot),
      moment: moment(t.ts),
      offset: groupDigits(t.offset),
    });
  if (t.batch < 0) return sentences(state, told, wrong(state, 'no_holder'));
  if (!t.true)
    return sentences(
      state,
      told,
      b
        ? wrong(state, 'time_other', { range: range(state, b), moment: moment(b.ts) })
        : wrong(state, 'time_other_away'),
    );
  if (state.data.lanes.index.missing) return sentences(state, told, tell(state, 'time_scan'));
  return sentences(
    state,
    told,
    tell(state, state.data.closing ? `time_${state.data.closing}` : 'time_alone'),
  );
}
