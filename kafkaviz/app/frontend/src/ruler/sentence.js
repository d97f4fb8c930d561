// The sentence below the figure about the pointed or pinned item.

import { html, renderMarkup } from '../dom.js';
import { fillTemplate, groupDigits, pluralText } from '../text.js';
import { BEYOND, COARSE, INSIDE, NO_BATCH, PAST } from './constants.js';

import { toNumber } from './message.js';
import { chain } from './selection.js';

const FAR_MS = 8640000000000000n; // the range of Date

export const isDate = ts => ts !== -1n && ts <= FAR_MS && ts >= -FAR_MS;

// the date of a text such as 2026-11-21T09:29:44.123Z
export const dateText = text => text.slice(0, -14);

export const isoText = ts => new Date(toNumber(ts)).toISOString();

export const timeText = (ts, cut = [-13, -1]) =>
  isDate(ts) ? isoText(ts).slice(...cut) : ts === -1n ? '–' : `${groupDigits(ts)} ms`;

const dateTimeText = ts => (isDate(ts) ? `${dateText(isoText(ts))} ${timeText(ts)}` : timeText(ts));

export const range = (state, b) =>
  b.first >= 0n
    ? `${groupDigits(b.first)}–${groupDigits(b.last)}`
    : fillTemplate(state.data.words.up_to, { last: groupDigits(b.last) });

// Joins rendered sentences with the gap of the language.
function sentences(state, ...texts) {
  const { gap } = state.data.words;
  return texts.filter(text => text.length).flatMap((text, i) => (i ? [gap, ...text] : text));
}

// Renders a message, in its plural form if `n` is given.
const phrase = (state, key, values = {}, n = null) =>
  renderMarkup(
    pluralText(state.data.words, key, n),
    n === null ? values : { n: groupDigits(n), ...values },
  );

const countPhrase = (state, key, n, values) =>
  n > 0 ? phrase(state, `${key}_over`, values, n) : phrase(state, key, values);

const badPhrase = (state, key, values, n) => [
  html('span', 'bad', ...phrase(state, key, values, n)),
];

export function renderSentence(state) {
  const sel = state.hover ?? state.pin,
    l = chain(state, sel),
    b = l.batch;
  const ofBatch = () =>
    b
      ? sentences(
          state,
          phrase(state, 'batch', {
            range: range(state, b),
            position: groupDigits(b.pos),
            size: groupDigits(b.size),
          }),
          describeWay(state, l),
        )
      : [];
  const texts = sel.entry
    ? describeSlot(state, sel.entry)
    : sel.time
      ? describeTime(state, sel.time)
      : ofBatch();
  state.$('say').replaceChildren(html('span', {}, ...texts));
}

// Describes how a search finds this batch.
function describeWay(state, { batch: b, entry: e, direct }) {
  if (direct) return describeOwnEntry(state, b, e);
  if (state.data.lanes.index.missing) return countPhrase(state, 'missing_index', b.i);
  if (!state.batch(b.i) && b.via >= 0)
    return phrase(state, b.slot >= 0 ? 'own_away' : 'lands_away', {
      slot: groupDigits(b.slot >= 0 ? b.slot : b.via),
    });
  if (!e && b.via >= 0) return phrase(state, 'lands_before', { slot: groupDigits(b.via) });
  if (!e) return countPhrase(state, 'before_first', b.i);
  const slot = groupDigits(e.slot);
  if (e.batch > b.i) return phrase(state, 'lands_past', { slot });
  if (e.batch < 0)
    return phrase(state, e.aim === BEYOND ? 'lands_beyond' : 'lands_inside', { slot });
  return countPhrase(state, 'lands', b.i - e.batch, { slot });
}

function describeOwnEntry(state, b, e) {
  const at = { slot: groupDigits(e.slot), key: groupDigits(e.key) };
  if (e.home > b.i)
    return phrase(state, e.aim === COARSE ? 'own_append' : 'own_early', at, e.home - b.i);
  if (e.key !== b.last) return phrase(state, 'own_any', at);
  const others =
    b.n === 1
      ? []
      : e.slot > 0
        ? phrase(state, 'others_slot', { slot: groupDigits(e.slot - 1) })
        : phrase(state, 'others_start');
  return sentences(state, phrase(state, 'own', at), others);
}

function describeSlot(state, e) {
  const sentence = phrase(state, 'entry', {
    slot: groupDigits(e.slot),
    key: groupDigits(e.key),
    position: groupDigits(e.pos),
  });
  const fault =
    e.aim === PAST
      ? describePastEnd(state, e)
      : ({ [INSIDE]: 'inside', [BEYOND]: 'beyond', [NO_BATCH]: 'no_holder' }[e.aim] ??
        (e.aim > NO_BATCH ? 'unordered' : ''));
  return sentences(
    state,
    sentence,
    typeof fault === 'string' ? (fault ? badPhrase(state, fault) : []) : fault,
  );
}

// Describes how far an entry points past the batch of its offset, and the offsets that a search
// from there misses.
function describePastEnd(state, e) {
  const home = state.batch(e.home),
    target = state.batch(e.batch);
  const begins = target ? '_begins' : '',
    values = target
      ? { first: groupDigits(target.first), missed: describeMiss(state, e, target) }
      : {};
  return home
    ? badPhrase(state, `past${begins}`, { range: range(state, home), ...values }, e.pos - home.pos)
    : badPhrase(state, `past_away${begins}`, values);
}

// Returns the offsets that a search misses: from the entry's key to its target or to the next key.
function describeMiss(state, e, target) {
  const next = state.entry(e.slot + 1)?.key,
    last = (next !== undefined && next < target.first ? next : target.first) - 1n;
  return last > e.key ? `${groupDigits(e.key)}–${groupDigits(last)}` : groupDigits(e.key);
}

function describeTime(state, t) {
  const b = state.batch(t.batch),
    sentence = phrase(state, 'time_entry', {
      slot: groupDigits(t.slot),
      moment: dateTimeText(t.ts),
      offset: groupDigits(t.offset),
    });
  if (t.batch < 0) return sentences(state, sentence, badPhrase(state, 'no_holder'));
  if (!t.true)
    return sentences(
      state,
      sentence,
      b
        ? badPhrase(state, 'time_other', { range: range(state, b), moment: dateTimeText(b.ts) })
        : badPhrase(state, 'time_other_away'),
    );
  if (state.data.lanes.index.missing) return sentences(state, sentence, phrase(state, 'time_scan'));
  return sentences(
    state,
    sentence,
    phrase(state, state.data.closing ? `time_${state.data.closing}` : 'time_alone'),
  );
}
