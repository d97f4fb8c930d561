// Draws the whole ruler and computes its layout.
import { color, pattern, svg, svgCircle, tornPattern } from '../dom.js';
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
  const dots = [
    svg('rect', { width: 5, height: 5, fill: color('unwritten-soft') }),
    svgCircle(1.2, 1.2, 0.8, { fill: color('unwritten') }),
  ];
  return svg('defs', {}, pattern('unwritten', 5, null, ...dots), tornPattern('torn'));
}
