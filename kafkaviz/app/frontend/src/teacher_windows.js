// The windows of one teacher. They share a name in the session storage, which a window passes on to
// windows it opens, and a BroadcastChannel with that name. Neither the server nor windows of other
// readers receive its messages.
const NAME = 'kafkaviz_teacher';
// The event of a window that has just opened a second one.
export const OPENED = 'kafkaviz_teacher_opened';

// Returns the channel of this teacher's windows, or null if there is only one window.
export function teacherChannel() {
  const name = sessionStorage.getItem(NAME);
  if (!name) return null;
  const own = (window.__kafkaviz_teacher ??= { channel: null, place: null, heard: null });
  own.channel ??= new BroadcastChannel(`${NAME} ${name}`);
  return own.channel;
}

// Returns the name, and creates it if there is none.
export function teacherName() {
  const name = sessionStorage.getItem(NAME) ?? crypto.randomUUID?.() ?? String(Math.random());
  sessionStorage.setItem(NAME, name);
  return name;
}
