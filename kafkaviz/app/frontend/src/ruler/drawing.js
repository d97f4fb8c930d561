// Draws the whole ruler and computes its layout.
import { color, svg, svgCircle } from '../dom.js';
import { drawDetail } from './lanes.js';
import { drawOverview } from './overview.js';
import { renderSentence } from './sentence.js';
import { renderFields } from './slots.js';
import { isLoaded } from './window.js';

export function render(state, withOverview = true) {
  if (withOverview) drawOverview(state);
  const stale = !isLoaded(state, state.window);
  state.$('detail').classList.toggle('stale', stale);
  if (!stale || !state.layout) drawDetail(state);
  renderSentence(state);
  renderFields(state);
}

export function patterns() {
  const pattern = (id, size, ...kids) =>
    svg('pattern', { id, width: size, height: size, patternUnits: 'userSpaceOnUse' }, ...kids);
  const dots = [
    svg('rect', { width: 5, height: 5, fill: color('unwritten-soft') }),
    svgCircle(1.2, 1.2, 0.8, { fill: color('unwritten') }),
  ];
  const cross = svg('path', {
    d: 'M0 0l6 6M6 0L0 6',
    stroke: color('torn'),
    'stroke-width': 0.9,
    opacity: 0.7,
  });
  return svg(
    'defs',
    {},
    pattern('unwritten', 5, ...dots),
    pattern('torn', 6, svg('rect', { width: 6, height: 6, fill: color('torn-soft') }), cross),
  );
}
