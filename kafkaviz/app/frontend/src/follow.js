// Keeps two windows of a teacher at the same step: each sends its step, and the other goes there.
import { OPENED, teacherChannel } from './teacher_windows.js';

export default function ({ data, setTriggerValue }) {
  const own = (window.__kafkaviz_teacher ??= { channel: null, place: null, heard: null }),
    channel = teacherChannel();
  if (own.place !== null && own.place !== data.place && own.heard !== data.place)
    channel?.postMessage(data.place);
  if (own.heard === data.place) own.heard = null;
  own.place = data.place;
  // the button may open the channel after this component was drawn
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
