// The button that opens the teacher's notes at the current step in a separate window.
import { html, icon } from './dom.js';
import { OPENED, teacherChannel, teacherName } from './teacher_windows.js';

export default function ({ parentElement: root, data }) {
  const button = root.querySelector('button') ?? root.appendChild(html('button', 'btn q')),
    { words } = data;
  button.replaceChildren(icon('co_present'), words.notes_title);
  button.title = words.notes_help;
  button.onclick = () => {
    const address = new URL(location.href);
    for (const name of ['projector', 'step', 'given', 'answers']) address.searchParams.delete(name);
    address.searchParams.set('notes', '1');
    const other = window.open(address, `notes ${teacherName()}`, 'popup,width=760,height=820');
    teacherChannel();
    dispatchEvent(new Event(OPENED));
    button.title = other ? words.notes_help : words.blocked;
    if (!other) button.replaceChildren(icon('warning'), words.blocked);
  };
}
