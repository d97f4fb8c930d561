// Copies the page's address, with defaults filled in by Python and without private parameters.
import { html, icon } from './dom.js';

export default function ({ parentElement: root, data }) {
  const own = root.host,
    words = (own.__words = data.words);
  own.__data = data;
  own.title = data.about;
  if (own.__text?.isConnected) {
    own.__text.textContent = words.copy_link;
    return;
  }
  const text = (own.__text = html('span', {}, words.copy_link)),
    button = html('button', { class: 'btn q', type: 'button' }, icon('link'), text);
  const say = message => {
    text.textContent = message;
    setTimeout(() => {
      text.textContent = own.__words.copy_link;
    }, 1400);
  };
  button.onclick = async () => {
    const url = new URL(location.href);
    for (const [name, value] of Object.entries(own.__data.address))
      if (!url.searchParams.has(name)) url.searchParams.set(name, value);
    for (const name of own.__data.left_out) url.searchParams.delete(name);
    try {
      await navigator.clipboard.writeText(url.href);
      say(own.__words.copied);
    } catch {
      say(own.__words.not_allowed);
    }
  };
  root.append(button, html('span', { class: 'away', role: 'status' }));
}
