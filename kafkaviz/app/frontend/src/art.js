// Draws one of the app's own SVG files. Never pass it text from a broker, because it is not
// escaped.
import { html } from './dom.js';

export default function ({ parentElement: root, data }) {
  const box = root.querySelector('.art') ?? root.appendChild(html('div', 'art'));
  box.innerHTML = data.svg;
}
