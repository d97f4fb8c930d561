// The records of the batch that was found, up to the one that answers the lookup.
import { html } from '../dom.js';
import { fillTemplate } from '../text.js';

export function drawRecords(state, step) {
  const { $, data } = state,
    on = step.phase === 'record',
    hit = data.records.findIndex(([offset]) => offset === data.hit);
  $('records-figure').hidden = !data.records.length || !on;
  if (!data.records.length) return;
  const boxes = data.records.map(([_offset, text, label, when], i) =>
    state.hover(
      html(
        'div',
        on && i === hit ? 'hit' : on && i < hit ? 'skip' : '',
        html('b', {}, text),
        label,
      ),
      () => [fillTemplate(data.words.offset_n, { offset: text }), when],
    ),
  );
  $('rc').replaceChildren(
    html('div', on ? 'rec' : 'rec off', boxes),
    ...(data.records_hint ? [html('div', 'ty fnt more', data.records_hint)] : []),
  );
}
