// Draws one of our own SVG files; never hand it text from a broker.
import { html } from './dom.js';

export default function ({ parentElement: root, data }) {
  const box = root.querySelector('.art') ?? root.appendChild(html('div', { class: 'art' }));
  box.innerHTML = data.svg;
}
