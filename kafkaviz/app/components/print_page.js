// A button that asks the browser to print.
export default function ({ parentElement: root, data }) {
  const button = root.querySelector('button') ?? root.appendChild(H('button', { class: 'btn pri' }));
  button.replaceChildren(icon('print'), data.label);
  button.onclick = () => window.print();
}
