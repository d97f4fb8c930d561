// The clock of a session: minutes since the start, compared with the plan. The start survives a
// reload.
import { icon } from './dom.js';
import { fillTemplate } from './text.js';

const STARTED = 'kafkaviz_session_started',
  TICK_MS = 1000,
  MINUTE_MS = 60_000;

export default function ({ parentElement: root, data }) {
  const state = (root.host.__clock ??= {}),
    $ = name => root.querySelector(`.${name}`),
    { words, plan } = data,
    [first, last, total] = plan;
  state.release?.(); // Streamlit calls this again on each change without cleaning up first
  $('lab').textContent = words.clock;
  $('planned').textContent = fillTemplate(words.planned, { first, last, total });
  const show = () => {
    const started = Number(sessionStorage.getItem(STARTED)),
      minutes = started ? (Date.now() - started) / MINUTE_MS : 0;
    $('time').textContent = clockText(minutes);
    $('state').textContent = started ? planText(words, minutes, first, last) : words.stopped;
    $('state').classList.toggle('late', Boolean(started) && minutes >= last + 1);
    $('start').replaceChildren(
      icon(started ? 'restart_alt' : 'timer'),
      started ? words.again : words.start,
    );
  };
  $('start').onclick = () => {
    sessionStorage.setItem(STARTED, String(Date.now()));
    show();
  };
  show();
  const timer = setInterval(show, TICK_MS);
  return (state.release = () => clearInterval(timer));
}

export function clockText(minutes) {
  const seconds = Math.floor(minutes * 60);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

// Returns how the clock compares with the minutes of this step; a difference below one minute is on
// time.
export function planText(words, minutes, first, last) {
  const behind = Math.floor(minutes - last),
    ahead = Math.floor(first - minutes);
  if (behind >= 1) return fillTemplate(words.behind, { minutes: behind });
  if (ahead >= 1) return fillTemplate(words.ahead, { minutes: ahead });
  return words.on_time;
}
