// Labels and frames, and whether text fits into them.
import { color, middleText, svgText } from '../dom.js';
import { textWidth } from '../text.js';

export const label = (x, y, words) =>
  svgText(x + 2, y, words, { class: 'axt', style: 'font-size:11px' });

const middleLabel = (X, y, style, words) => middleText(X, y, words, { class: 'mono', style });

export const twoLines = (X, y, upper, lower, colour, px = 12) => [
  middleLabel(X, y + 14, `font-size:${px}px;font-weight:600;fill:${color('ink')}`, upper),
  middleLabel(X, y + 28, `font-size:11px;fill:${color(`${colour}-text`)}`, lower),
];

// a character is 6.7 px wide in the code font, 5.7 px in the other
export const fitsCode = (cw, ...texts) => Math.max(...texts.map(t => t.length)) * 6.7 + 6 <= cw;

export const fitsText = (cw, words) => textWidth(words) + 4 <= cw;

export const ring = (on, wrong, colour) => ({
  stroke: on || wrong ? color(colour) : 'none',
  'stroke-width': on ? 2 : 1,
});
