// Streamlit 1.67 has no call for the theme. It stores the choice per path and reads it at load
// time.
import { html, icon } from './dom.js';

export default function ({ parentElement: root, data }) {
  const dark = getComputedStyle(root.host).colorScheme === 'dark';
  const choose = theme => {
    const base = location.pathname.replace(/[^/]*$/, '');
    for (const path of data.paths)
      localStorage.setItem(`stActiveTheme-${base}${path}-v2`, JSON.stringify(theme));
    location.reload();
  };
  const title = data.words.light_or_dark,
    look = { class: 'btn q ico', type: 'button', title, 'aria-label': title },
    button = html('button', look, icon(dark ? 'light_mode' : 'dark_mode'));
  button.onclick = () => choose(dark ? 'Light' : 'Dark');
  root.querySelector('.btn')?.remove();
  root.append(button);
}
