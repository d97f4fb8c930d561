// The windows of one teacher: they share a name in the session storage, which a window takes along into those that it opens, and a channel of
// that name. Nothing of it reaches the server, and no other reader's window hears it.
const NAME = 'kafkaviz_teacher';
// What a window tells itself once it has opened a second one.
export const OPENED = 'kafkaviz_teacher_opened';

// The channel of this window's teacher, null where it has opened no second window and was not opened as one.
export function teacherChannel() {
  const name = sessionStorage.getItem(NAME);
  if (!name) return null;
  const own = (window.__kafkaviz_teacher ??= { channel: null, place: null, heard: null });
  own.channel ??= new BroadcastChannel(`${NAME} ${name}`);
  return own.channel;
}

// The name, which is made where there is none yet.
export function teacherName() {
  const name = sessionStorage.getItem(NAME) ?? crypto.randomUUID?.() ?? String(Math.random());
  sessionStorage.setItem(NAME, name);
  return name;
}
