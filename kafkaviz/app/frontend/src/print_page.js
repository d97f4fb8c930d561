// A button that prints the page.
import { html, icon } from './dom.js';

export default function ({ parentElement: root, data }) {
  const button = root.querySelector('button') ?? root.appendChild(html('button', 'btn pri'));
  button.replaceChildren(icon('print'), data.label);
  button.onclick = () => window.print();
}
