// A button that asks the browser to print.
import { html, icon } from './dom.js';

export default function ({ parentElement: root, data }) {
  const button =
    root.querySelector('button') ?? root.appendChild(html('button', { class: 'btn pri' }));
  button.replaceChildren(icon('print'), data.label);
  button.onclick = () => window.print();
}
