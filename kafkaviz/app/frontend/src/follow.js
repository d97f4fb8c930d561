// Two windows of a teacher at the same step: where one goes it tells the other, which then goes there by itself.
import { OPENED, teacherChannel } from './teacher_windows.js';

export default function ({ data, setTriggerValue }) {
  const own = (window.__kafkaviz_teacher ??= { channel: null, place: null, heard: null }),
    channel = teacherChannel();
  if (own.place !== null && own.place !== data.place && own.heard !== data.place)
    channel?.postMessage(data.place);
  if (own.heard === data.place) own.heard = null;
  own.place = data.place;
  // the button opens the channel later than this was drawn
  const listen = () => {
    const other = teacherChannel();
    if (!other) return;
    other.onmessage = ({ data: place }) => {
      if (place === own.place) return;
      own.heard = place;
      setTriggerValue('place', place);
    };
  };
  listen();
  addEventListener(OPENED, listen);
  return () => {
    removeEventListener(OPENED, listen);
    if (own.channel) own.channel.onmessage = null;
  };
}
